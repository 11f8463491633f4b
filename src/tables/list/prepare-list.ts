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
  /** How many rows a request may examine (docs/reference/http.md#the-scan-limit). */
  readonly scanLimit: number;
  readonly metered: boolean;
  /** Prepared lists by the shape of the request; null for shapes whose requests cannot share one. */
  readonly prepared: Memo<PreparedList | Refusal | null>;
  readonly briefTries: BriefTries;
  /** The tables that the list's expansions may lead to. */
  readonly tables: ReadableTables;
}

/** A list request with its expansions (related rows) resolved. */
export interface ExpandedRequest extends ListRequest {
  readonly expansions: readonly Expansion[];
}

/** The parts of an `Access` (what a caller may do with a table) that lists use. */
export type ListAccess = Pick<Access, "key" | "table" | "catalog" | "rule" | "readable" | "preview">;

/** The plan of a page and its SQL statement, without values. */
export interface PlannedPage {
  readonly plan: ListPlan;
  readonly page: Counted<Sql>;
}

/** The plan and the statements of a list. Requests that differ only in values share them. */
export interface PreparedList {
  readonly plan: ListPlan;
  readonly whole: () => PlannedPage;
  /**
   * The page with a scan limit so low that it takes some milliseconds at most; null where it may take longer even so.
   */
  readonly brief: () => PlannedPage | null;
  /**
   * Whether the limits of `brief` were too low for the last page. They are then taken to be too low for the next one
   * too, whatever its values.
   */
  isLong: boolean;
}

/** A prepared list together with the values of one request. */
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
  // Refuses an outdated cursor: the columns of its key depend on the path, and the path on the rules, which may have
  // changed since the cursor was made.
  if (after !== null && !isSameOrder(order, plan.path.order)) return outOfDate;
  return { plan, whole: once(() => pageOf(plan)), brief: once(() => briefOf(plan)), isLong: false };
}

function pageOf(plan: ListPlan): PlannedPage {
  const page = listStatement(plan);
  // The number of examined rows then counts as unknown: to check the plan, SQLite would have to prepare the large
  // statement once more, in the event loop.
  return { plan, page: isLongToPrepare(plan) ? { ...page, exact: false } : page };
}

/** How many candidates can be tested in some milliseconds, where each is tested by a few comparisons. */
export const judgedMax = 500;
/** How many comparisons count as a few. Each may have to read the whole of a long text. */
const comparisonsMax = 10;
/**
 * How many candidates can be counted in some milliseconds without a test: one by one, or (`unlimitedMax`) all of an
 * index's at once.
 */
const unjudgedMax = 10_000;
const unlimitedMax = 100_000;
/** How many keys can be looked up in an index, each by itself, in some milliseconds. */
const soughtMax = 2_000;
/** How many bytes of stored values a page that is read in the event loop may have. */
export const briefBytesMax = 1_048_576;

function briefOf(plan: ListPlan): PlannedPage | null {
  // No brief page of a full-text search: how long FTS5 takes does not depend on how many rows it finds.
  if (plan.searches.length > 0 || plan.match !== null || isLongToPrepare(plan)) return null;
  const scanLimit = Math.min(plan.scanLimit, briefScanLimit(plan));
  const briefTableMax = Math.min(plan.scanLimit, countsInIndex(plan) ? unlimitedMax : unjudgedMax);
  const answerBytesMax = Math.min(plan.catalog.answerBytesMax, briefBytesMax);
  const brief = pageOf({ ...plan, scanLimit, briefTableMax, catalog: { ...plan.catalog, answerBytesMax } });
  // No brief page where an `exists` of the rule may have to read a whole table for each row.
  return brief.page.exact ? brief : null;
}

/**
 * How many ways, times the steps of expansions, a statement may have before it counts as long to prepare, some ten
 * milliseconds.
 */
const waysAndStepsMax = 40;

/**
 * Whether SQLite takes long to prepare a list's statement: it goes through the ways to the page's rows for every step
 * of the expansions anew.
 */
function isLongToPrepare({ path, expansions }: ListPlan): boolean {
  return (path.ways?.length ?? 0) * stepsIn(expansions).length > waysAndStepsMax;
}

/** Whether any number of rows may have to be examined for a step of an expansion or for one inside of it. */
function leadsBackward({ rows, inner }: ExpansionStep): boolean {
  return rows !== null || inner.some(leadsBackward);
}

/** How many candidates can be tested by all of these conditions in some milliseconds. */
export function briefJudgedMax(conditions: readonly Expression[]): number {
  const comparisons = conditions.flatMap(leavesOf).length;
  return Math.floor(judgedMax / Math.max(1, Math.ceil(comparisons / comparisonsMax)));
}

function briefScanLimit({ path, expansions }: ListPlan): number {
  if (path.rest.length > 0 || !path.ordered || expansions.some(leadsBackward))
    return briefJudgedMax(path.rest);
  return path.ways === null ? unjudgedMax : soughtMax;
}

/**
 * Whether a whole table is counted by reading an index. In the table itself, SQLite would read all rows with all
 * columns.
 */
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

/** A text that is the same for list requests that differ only in values. A prepared list is kept under this key. */
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
 * A text that is the same for expansions that differ only in values. Null where their rules hold values of this
 * request, so that nothing can be shared.
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

/** For the text of a request's shape: writes columns without their table, which is enough to tell filters apart. */
export const columnNames = { ...noNames, row: name };

/**
 * Whether a value of a cursor's key has to be written into the SQL text itself: NULL, and infinities, which not every
 * database takes as a parameter.
 */
const isWrittenOut = (value: SqlValue) =>
  value === null || (typeof value === "number" && !Number.isFinite(value));
/**
 * For the text of a request's shape: for each value of a cursor's key, the value if it is written into the SQL text,
 * else false.
 */
export const writtenOut = (key: readonly SqlValue[] | null) =>
  key?.map((value) => isWrittenOut(value) && String(value));

type WindowEnd = keyof WindowKeys;
const keySlot = (end: WindowEnd, i: number) => `${end}.${i}`;

/** A cursor's key with a slot for each value that is given when the statement is sent. */
export function slotsOf(end: WindowEnd, key: readonly SqlValue[] | null): Key | null {
  return key === null
    ? null
    : key.map((value, i) => (isWrittenOut(value) ? value : new Slot(keySlot(end, i))));
}

/** The values for the slots that `slotsOf` makes of a cursor's key. */
export function keyValues(end: WindowEnd, key: readonly SqlValue[] | null): SlotValues {
  return new Map((key ?? []).map((value, i) => [keySlot(end, i), value]));
}

const outOfDate = new Refusal("invalid_cursor", "the rules have changed since the cursor was made");

function isSameOrder(names: readonly string[], order: readonly OrderTerm[]): boolean {
  return names.length === order.length && order.every(({ column }, i) => column.name === names[i]);
}

/** Parses a key that a cursor holds as JSON text. It needs no checks, because only the server can have sealed it. */
export function keyOf(text: string | null): readonly SqlValue[] | null {
  return text === null ? null : (JSON.parse(text) as unknown[]).map(storedOf);
}
