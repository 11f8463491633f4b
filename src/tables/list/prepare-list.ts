import { isRefusal, Refusal } from "../../http/refusal.js";
import type { SqlValue } from "../../platform/database.js";
import type { Memo } from "../../platform/memo.js";
import type { Expression } from "../../rules/ast.js";
import { leavesOf } from "../../rules/walk.js";
import type { Access } from "../access/access.js";
import { asShown } from "../access/as-shown.js";
import type { BriefTries } from "../execution/brief-tries.js";
import { rowKeyOf } from "../plan/access-path.js";
import { type Expansion, type ExpansionStep, firstSteps, type ReadableTables, stepsIn } from "../plan/expansion.js";
import { closedListRule, type ListPlan, openListRule, planList, type WideValues } from "../plan/list-plan.js";
import { type Match, matchOf, matchValues } from "../plan/match.js";
import { type Key, type OrderTerm, rank } from "../plan/order.js";
import type { Counted } from "../plan/plan-check.js";
import type { ListRequest } from "../request/list-request.js";
import { listStatement } from "../sql/list.js";
import { noNames, predicate } from "../sql/predicate.js";
import { storedOf } from "../sql/wire.js";
import { name, Slot, type SlotValues, type Sql } from "../sql-text/fragment.js";
import type { CursorState } from "./cursor.js";

/**
 * What all lists use that one caller requests of one table: what the caller may see, how many rows a request may
 * examine, and the lists that were prepared before.
 */
export interface ListSource {
  readonly access: ListAccess;
  /** How many rows a request may examine (docs/reference/http.md#the-scan-limit). */
  readonly scanLimit: number;
  readonly metered: boolean;
  /**
   * The prepared lists that requests share, by the shape of the request (what requests have in common that differ only
   * in values). The value is null for a shape whose requests cannot share one, and a refusal for a shape whose requests
   * are all refused.
   */
  readonly prepared: Memo<PreparedList | Refusal | null>;
  readonly briefTries: BriefTries;
  /** The tables that the list's expansions may lead to. */
  readonly tables: ReadableTables;
}

/** A list request with its expansions resolved. */
export interface ExpandedRequest extends ListRequest {
  readonly expansions: readonly Expansion[];
}

/** The parts of an `Access` that lists use. */
export type ListAccess = Pick<Access, "key" | "table" | "catalog" | "rule" | "readable" | "preview">;

/** The plan of a page and its SQL statement, without values. */
export interface PlannedPage {
  readonly plan: ListPlan;
  readonly page: Counted<Sql>;
}

/** A page in one of the forms of its statement (`WideValues`), which are made when they are first used. */
export type PageForms = (wide: WideValues) => PlannedPage;

/** The plans and the SQL statements of a list, without values. Requests that differ only in values share them. */
export interface PreparedList {
  readonly plan: ListPlan;
  readonly whole: PageForms;
  /** The page with limits so low that it takes some milliseconds at most; null where it may take longer. */
  readonly brief: () => PageForms | null;
  /**
   * Whether pages are read without trying `brief` first. Set when a page has reached the limits of `brief` and no index
   * or way narrows its rows down, because requests with other values would then reach them, too. Cleared when a page
   * turns out to examine few rows.
   */
  isLong: boolean;
  /** Whether values that may be long can be read after the rows of the page are known. */
  readonly canSeek: boolean;
  /** For how many further pages they are, because a page has come upon a long value. */
  seeking: number;
}

/** A prepared list together with the values of one request, which fill the placeholders of its statement. */
export interface BoundList {
  readonly list: PreparedList;
  readonly values: readonly SlotValues[];
}

/**
 * Plans a page and makes its SQL statement, or takes both from an earlier request that differs only in values. They
 * cannot be shared where the values of the filters decide a part of the read rule. `callerValues` has the values of
 * `auth.id`, `auth.email`, `auth.email_verified` and `now()`. Returns a refusal where the cursor is outdated, or the
 * table has no such search.
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
  const keys = { after: parseCursorKey(state.window.after), upTo: parseCursorKey(state.window.upTo) };
  const filters = request.filters.map((filter) => asShown(filter, table.name, catalog, request.filterValues));
  const make = (rule: Expression) => preparedBy(rule, { ...request, filters }, match, state, keys, source);
  const expanded = shapeOfSteps(firstSteps(request.expansions));
  const shape =
    access.key && (expanded === null ? null : `${access.key}\n${shapeOf(filters, request, state, keys)}\n${expanded}`);
  const shared = prepared.get(shape, () => {
    const rule = openListRule(request, access);
    return rule && make(rule);
  });
  const list = shared ?? make(closedListRule(request, access, callerValues));
  if (isRefusal(list)) return list;
  const values = [
    callerValues,
    request.filterValues,
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
  { filters, select, sort, expansions, copiedAs }: ExpandedRequest,
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
    wide: "carried",
    copies: copiedAs !== null,
    comparedBytesMax: null,
    choice,
    match,
    output: select ?? [...access.readable.values()],
    expansions: firstSteps(expansions),
    window: { after: slotsOf("after", after), upTo: slotsOf("upTo", upTo), counted: window.counted },
  });
  // Refuses an outdated cursor: the columns of its key depend on the path, and the path on the rules, which may have
  // changed since the cursor was made.
  if (after !== null && !isSameOrder(order, plan.path.order)) return outOfDate;
  const canSeek = access.preview === null && rowKeyOf(table, catalog.tables.get(table.name)) !== null;
  return {
    plan,
    whole: formsOf(plan),
    brief: once(() => briefOf(plan)),
    isLong: false,
    canSeek,
    seeking: 0,
  };
}

function formsOf(plan: ListPlan): PageForms {
  const made = new Map<WideValues, PlannedPage>();
  return (wide) => {
    const page = made.get(wide) ?? pageOf({ ...plan, wide });
    made.set(wide, page);
    return page;
  };
}

function pageOf(plan: ListPlan): PlannedPage {
  const page = listStatement(plan);
  // For a statement that SQLite takes long to prepare, the number of examined rows counts as unknown. To find it out,
  // SQLite would have to prepare the statement once more for its query plan, in the event loop.
  return { plan, page: isLongToPrepare(plan) ? { ...page, exact: false } : page };
}

/** How many candidates can be tested in some milliseconds, where each is tested by a few comparisons. */
export const judgedMax = 500;
/**
 * How many comparisons are still a few, so that `judgedMax` candidates can be tested in some milliseconds. Each
 * comparison may have to read the whole of a long text.
 */
const comparisonsMax = 10;
/**
 * How many candidates can be counted one by one in some milliseconds, without a test. `unlimitedMax` is how many
 * entries of an index SQLite can count in that time without a limit to the count.
 */
const unjudgedMax = 10_000;
const unlimitedMax = 100_000;
/** How many keys that ways have found can be looked up in an index, each by itself, in some milliseconds. */
const soughtMax = 2_000;
/** How many bytes of stored values a page that is read in the event loop may have. */
export const briefBytesMax = 1_048_576;
/** How many bytes a value may have that is compared or sorted by in the event loop. */
export const briefComparedMax = 65_536;

function briefOf(plan: ListPlan): PageForms | null {
  // No brief page for a full-text search, because FTS5 may take long however few rows it finds. Nor for `contains`
  // filters, or for a statement that takes long to prepare.
  if (plan.searches.length > 0 || plan.match !== null || isLongToPrepare(plan)) return null;
  const scanLimit = Math.min(plan.scanLimit, briefScanLimit(plan));
  const briefTableMax = Math.min(plan.scanLimit, countsInIndex(plan) ? unlimitedMax : unjudgedMax);
  const pageBytesMax = Math.min(plan.catalog.pageBytesMax, briefBytesMax);
  const brief = formsOf({
    ...plan,
    scanLimit,
    briefTableMax,
    comparedBytesMax: briefComparedMax,
    catalog: { ...plan.catalog, pageBytesMax },
  });
  // No brief page where it is not known how many rows an `exists` of the rule looks up: it may have to read a whole
  // table for each row.
  return brief("short").page.exact ? brief : null;
}

/**
 * How high the number of ways times the number of expansion steps may be before a list's statement counts as one that
 * takes long to prepare, which is some ten milliseconds.
 */
const waysAndStepsMax = 40;

/**
 * Whether SQLite takes long to prepare a list's statement. For every step of the expansions it goes through all ways to
 * the page's rows once more.
 */
function isLongToPrepare({ path, expansions }: ListPlan): boolean {
  return (path.ways?.length ?? 0) * stepsIn(expansions).length > waysAndStepsMax;
}

/** Whether a step, or one inside of it, is followed backward, where any number of rows may be examined. */
function leadsBackward({ rows, inner }: ExpansionStep): boolean {
  return rows !== null || inner.some(leadsBackward);
}

/** How many candidates can be tested by all of these conditions in some milliseconds. */
export function briefJudgedMax(conditions: readonly Expression[]): number {
  const comparisons = conditions.flatMap(leavesOf).length;
  return Math.floor(judgedMax / Math.max(1, Math.ceil(comparisons / comparisonsMax)));
}

function briefScanLimit({ path, expansions }: ListPlan): number {
  if (path.rest.length > 0 || !path.ordered || expansions.some(leadsBackward)) return briefJudgedMax(path.rest);
  return path.ways === null ? unjudgedMax : soughtMax;
}

/** Whether SQLite counts the rows of a list in an index, and not in the table with all columns of its rows. */
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
 * What each member of a request is to its statement: a part of the shape, or null. A new member does not compile until it
 * is decided: a plan that reads a member which is missing here is shared by requests that need another one.
 */
const membersOfShape: Readonly<
  Record<keyof ListRequest, ((request: ListRequest, filters: readonly Expression[]) => string) | null>
> = {
  select: ({ select }) => (select === null ? "*" : select.map(({ name }) => name).join()),
  sort: ({ sort }) => sort.map(({ column, descending }) => `${column.name} ${descending}`).join(),
  search: ({ search }) => (search === null ? "" : "search"),
  filters: (_, filters) => shapeOfFilters(filters),
  // Bound when the statement is sent.
  filterValues: null,
  limit: null,
  // Part of the state, which is in the shape as a whole.
  offset: null,
  counts: null,
  // `shapeOfSteps`.
  expand: null,
  copiedAs: ({ copiedAs }) => (copiedAs === null ? "" : "copies"),
};
const shapeParts = Object.values(membersOfShape).filter((part) => part !== null);

/** The shape of a request, by which prepared lists are kept: requests that differ only in values share it. */
function shapeOf(
  filters: readonly Expression[],
  request: ListRequest,
  { window, order, choice }: CursorState,
  keys: WindowKeys,
): string {
  const state = `${window.counted} ${choice} ${writtenOut(keys.after)} ${writtenOut(keys.upTo)} ${order.join()}`;
  return [state, ...shapeParts.map((part) => part(request, filters))].join("\n");
}

/**
 * The shape of a request's expansions as text: expansions that differ only in values have the same. Null where their
 * rules hold values of this request, so that nothing can be shared.
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

/**
 * The shape of filters as text. It has the names of their values, because a filter of one column may compare with a text
 * or with the number that it is written as.
 */
export function shapeOfFilters(filters: readonly Expression[]): string {
  const parts = filters.map((filter) => predicate(filter, columnNames));
  const names = parts.flatMap(({ params }) => params.map((value) => (value instanceof Slot ? value.name : "")));
  return [...parts.map(({ text }) => text), names.join()].join("\n");
}

/** Names for `predicate` where its SQL only tells shapes of requests apart: columns without their table. */
const columnNames = { ...noNames, row: name };

/** Whether a value of a key is written into the SQL: NULL, and infinities, which not every database takes. */
const isWrittenOut = (value: SqlValue) => value === null || (typeof value === "number" && !Number.isFinite(value));
/**
 * The part of a request's shape that tells which values of a cursor's key are written into the SQL text: each is there
 * with its value, and `false` stands for each other one.
 */
export const writtenOut = (key: readonly SqlValue[] | null) =>
  key?.map((value) => isWrittenOut(value) && String(value));

type WindowEnd = keyof WindowKeys;
const keySlot = (end: WindowEnd, i: number) => `${end}.${i}`;

/** A cursor's key in which a slot stands for each value that is given when the statement is sent. */
export function slotsOf(end: WindowEnd, key: readonly SqlValue[] | null): Key | null {
  return key === null ? null : key.map((value, i) => (isWrittenOut(value) ? value : new Slot(keySlot(end, i))));
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
export function parseCursorKey(text: string | null): readonly SqlValue[] | null {
  return text === null ? null : (JSON.parse(text) as unknown[]).map(storedOf);
}
