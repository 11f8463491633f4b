import { isRefusal, Refusal } from "../../http/refusal.js";
import type { SqlValue } from "../../platform/database.js";
import type { Memo } from "../../platform/memo.js";
import type { Expression } from "../../rules/ast.js";
import { leavesOf } from "../../rules/walk.js";
import type { Access } from "../access.js";
import { asShown } from "../as-shown.js";
import {
  type Expansion,
  type ExpansionStep,
  firstSteps,
  type ReadableTables,
  stepsIn,
} from "../expansion/expansion.js";
import type { Counted } from "../plan-check.js";
import { name, Slot, type SlotValues, type Sql } from "../sql/fragment.js";
import { listStatement, pageValues } from "../sql/list.js";
import { noNames, predicate } from "../sql/predicate.js";
import { storedOf } from "../sql/wire.js";
import type { BriefTries } from "./brief-tries.js";
import type { CursorState } from "./cursor.js";
import { type ListPlan, openRuleBeside, planList, ruleBeside } from "./list-plan.js";
import type { ListRequest } from "./list-request.js";
import { type Match, matchOf, matchValues } from "./match.js";
import { type Key, type OrderTerm, rank } from "./order.js";

/**
 * What lists of one caller and one table have in common: what the caller may see, and how many rows a request may
 * examine.
 */
export interface ListSource {
  readonly access: ListAccess;
  /** In rows. */
  readonly scanLimit: number;
  readonly metered: boolean;
  /** Prepared lists by the shape of the request; null where requests of that shape cannot share one. */
  readonly prepared: Memo<PreparedList | Refusal | null>;
  readonly briefTries: BriefTries;
  /** The tables that expansions may lead to. */
  readonly tables: ReadableTables;
}

/** A list request whose expansions were found. */
export interface ExpandedRequest extends ListRequest {
  readonly expansions: readonly Expansion[];
}

/** The parts of an `Access` that lists use. */
export type ListAccess = Pick<Access, "key" | "table" | "catalog" | "rule" | "readable" | "preview">;

/** The plan of a page and its statement, without values. */
export interface PlannedPage {
  readonly plan: ListPlan;
  readonly page: Counted<Sql>;
}

/** The plan and the statements of a list, which requests share that differ only in values. */
export interface PreparedList {
  readonly plan: ListPlan;
  readonly whole: () => PlannedPage;
  /**
   * The page with a scan limit so low that it takes some milliseconds at most; null where it may take longer all the
   * same.
   */
  readonly brief: () => PlannedPage | null;
  /** Whether `brief` was too low for the last page, whatever its values, so that it is for the next one too. */
  isLong: boolean;
}

/** A prepared list with the values of one request. */
export interface BoundList {
  readonly list: PreparedList;
  readonly values: readonly SlotValues[];
}

/**
 * Plans a page and makes its statement. Requests of the same shape share both, unless the values of their filters
 * decide a part of the rule. `callerValues` are `auth.id`, `auth.email` and `now()`.
 */
export function prepareList(
  request: ExpandedRequest,
  state: CursorState,
  source: ListSource,
  callerValues: SlotValues,
): BoundList | Refusal {
  const { access, prepared } = source;
  const { table, catalog } = access;
  const rowid = catalog.tables.get(table.name)?.rowid;
  const isOrdering = (column: string) => table.columns.has(column) || column === rowid || column === rank;
  if (!state.order.every(isOrdering)) return outOfDate;
  const match = matchOf(request, access);
  if (isRefusal(match)) return match;
  const keys = { after: keyOf(state.window.after), upTo: keyOf(state.window.upTo) };
  const filters = request.filters.map((filter) => asShown(filter, table.name, catalog, request.filterValues));
  const make = (rule: Expression) => preparedBy(rule, { ...request, filters }, match, state, keys, source);
  const expanded = shapeOfSteps(firstSteps(request.expansions));
  const shape =
    access.key &&
    (expanded === null ? null : `${access.key}\n${shapeOf(filters, request, state, keys)}\n${expanded}`);
  const shared = prepared.get(shape, () => {
    const rule = openRuleBeside(request, access);
    return rule && make(rule);
  });
  const list = shared ?? make(ruleBeside(request, access, callerValues));
  if (isRefusal(list)) return list;
  const values = [
    callerValues,
    request.filterValues,
    pageValues(request.limit, state.window.skip),
    keyValues("after", keys.after),
    keyValues("upTo", keys.upTo),
    ...(match === null ? [] : [matchValues(match, request.search!)]),
  ];
  return { list, values };
}

interface WindowKeys {
  readonly after: readonly SqlValue[] | null;
  readonly upTo: readonly SqlValue[] | null;
}

function preparedBy(
  rule: Expression,
  { filters, select, sort, expansions }: ExpandedRequest,
  match: Match | null,
  { window, order, choice }: CursorState,
  { after, upTo }: WindowKeys,
  { access, scanLimit, metered }: ListSource,
): PreparedList | Refusal {
  const { table, catalog } = access;
  const plan = planList(table, rule, filters, sort, {
    catalog,
    scanLimit,
    briefTableMax: null,
    metered,
    preview: access.preview,
    choice,
    match,
    output: select ?? [...access.readable.values()],
    expansions: firstSteps(expansions),
    window: { after: slotsOf("after", after), upTo: slotsOf("upTo", upTo), counted: window.counted },
  });
  // The columns of a key depend on the path, and the path on the rules, which may have changed since the cursor was
  // made.
  if (after !== null && !isSameOrder(order, plan.path.order)) return outOfDate;
  return { plan, whole: once(() => pageOf(plan)), brief: once(() => briefOf(plan)), isLong: false };
}

function pageOf(plan: ListPlan): PlannedPage {
  const page = listStatement(plan);
  // To ask for its plan, SQLite would prepare the statement once more, and in the event loop.
  return { plan, page: isLongToPrepare(plan) ? { ...page, exact: false } : page };
}

/** How many candidates take some milliseconds at most, where each is tested by a few comparisons. */
export const judgedMax = 500;
/** How many comparisons those are. Each may have to read the whole of a long text. */
const comparisonsMax = 10;
/** How many candidates take that long where they are only counted: one by one, or all of an index's at once. */
const unjudgedMax = 10_000;
const unlimitedMax = 100_000;
/** How many keys take that long, each of which is looked up in an index by itself. */
const soughtMax = 2_000;
/** How many bytes of stored values a page may have that is read in the event loop. */
export const briefBytesMax = 1_048_576;

function briefOf(plan: ListPlan): PlannedPage | null {
  // How long FTS5 takes does not hang on how many rows it finds.
  if (plan.searches.length > 0 || plan.match !== null || isLongToPrepare(plan)) return null;
  const scanLimit = Math.min(plan.scanLimit, briefScanLimit(plan));
  const briefTableMax = Math.min(plan.scanLimit, countsInIndex(plan) ? unlimitedMax : unjudgedMax);
  const answerBytesMax = Math.min(plan.catalog.answerBytesMax, briefBytesMax);
  const brief = pageOf({ ...plan, scanLimit, briefTableMax, catalog: { ...plan.catalog, answerBytesMax } });
  // No brief page where an `exists` of the rule may have to read a whole table for each row.
  return brief.page.exact ? brief : null;
}

/** How many ways, times the steps of expansions, a statement may have that takes some ten milliseconds to prepare. */
const waysAndStepsMax = 40;

/** Whether SQLite takes long to prepare a list: it goes through the ways to the page's rows for every step anew. */
function isLongToPrepare({ path, expansions }: ListPlan): boolean {
  return (path.ways?.length ?? 0) * stepsIn(expansions).length > waysAndStepsMax;
}

/** Whether any number of rows may have to be examined for a step or for one inside of it. */
function leadsBackward({ rows, inner }: ExpansionStep): boolean {
  return rows !== null || inner.some(leadsBackward);
}

/** How many candidates take that long that all these conditions test. */
export function briefJudgedMax(conditions: readonly Expression[]): number {
  const comparisons = conditions.flatMap(leavesOf).length;
  return Math.floor(judgedMax / Math.max(1, Math.ceil(comparisons / comparisonsMax)));
}

function briefScanLimit({ path, expansions }: ListPlan): number {
  if (path.rest.length > 0 || !path.ordered || expansions.some(leadsBackward))
    return briefJudgedMax(path.rest);
  return path.ways === null ? unjudgedMax : soughtMax;
}

/** Whether a whole table is counted in an index. In the table itself, SQLite would read all rows with all columns. */
function countsInIndex({ path, table, catalog }: ListPlan): boolean {
  if (path.served.length > 0) return path.index !== null;
  return catalog.tables.get(table.name)?.indexes.some(({ isTable }) => !isTable) ?? false;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * A text that is the same for requests that differ only in values. It is the key under which a prepared list is kept.
 */
function shapeOf(
  filters: readonly Expression[],
  { select, sort, search }: ListRequest,
  { window, order, choice }: CursorState,
  keys: WindowKeys,
): string {
  return [
    `${window.counted} ${choice} ${writtenOut(keys.after)} ${writtenOut(keys.upTo)}`,
    select === null ? "*" : select.map(({ name }) => name).join(),
    sort.map(({ column, descending }) => `${column.name} ${descending}`).join(),
    order.join(),
    search === null ? "" : "search",
    ...filters.map((filter) => predicate(filter, columnNames).text),
  ].join("\n");
}

/**
 * As `shapeOf`, for expansions. Null where their rules hold values of this request, so that nothing can be shared.
 */
function shapeOfSteps(steps: readonly ExpansionStep[]): string | null {
  if (steps.length === 0) return "";
  const texts = stepsIn(steps).map(({ from, to, access, output, rows, inner }) => {
    const order = rows?.order.map(({ column, descending }) => `${column.name} ${descending}`);
    const shown = output.map(({ name }) => name).join();
    const inside = `${inner.length} ${rows?.limit} ${rows?.counts} ${order}`;
    return access.key && `${access.key}: ${from.name} ${to.name} (${shown}) ${inside}`;
  });
  return texts.includes(null) ? null : texts.join("\n");
}

/** For the text of a shape: writes columns without their table, which is enough to tell filters apart. */
export const columnNames = { ...noNames, row: name };

/**
 * Whether a value of a key has to be written into the SQL text itself: NULL, and infinities, which not every database
 * takes as a parameter.
 */
const isWrittenOut = (value: SqlValue) =>
  value === null || (typeof value === "number" && !Number.isFinite(value));
/** For the text of a shape: which values of a key are written into the SQL text, and which of these they are. */
export const writtenOut = (key: readonly SqlValue[] | null) =>
  key?.map((value) => isWrittenOut(value) && String(value));

type WindowEnd = keyof WindowKeys;
const keySlot = (end: WindowEnd, i: number) => `${end}.${i}`;

/** The key with a slot for each value that is given when the statement is sent. */
export function slotsOf(end: WindowEnd, key: readonly SqlValue[] | null): Key | null {
  return key === null
    ? null
    : key.map((value, i) => (isWrittenOut(value) ? value : new Slot(keySlot(end, i))));
}

/** The values for the slots that `slotsOf` makes. */
export function keyValues(end: WindowEnd, key: readonly SqlValue[] | null): SlotValues {
  return new Map((key ?? []).map((value, i) => [keySlot(end, i), value]));
}

const outOfDate = new Refusal("invalid_cursor", "the rules have changed since the cursor was made");

function isSameOrder(names: readonly string[], order: readonly OrderTerm[]): boolean {
  return names.length === order.length && order.every(({ column }, i) => column.name === names[i]);
}

/** The key that a cursor holds as JSON text. It needs no checks, because only the server can have sealed it. */
export function keyOf(text: string | null): readonly SqlValue[] | null {
  return text === null ? null : (JSON.parse(text) as unknown[]).map(storedOf);
}
