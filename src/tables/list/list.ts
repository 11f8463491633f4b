import type { QueryParameter } from "../../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import type { Tally } from "../../metering/tally.js";
import type { Result, Statement, Statements } from "../../platform/database.js";
import type { Column } from "../../project/model.js";
import type { Access } from "../access.js";
import { bindCounted, type PlanChecks } from "../plan-check.js";
import { finishRows } from "../sql/finish-rows.js";
import { bind, bindSingle } from "../sql/fragment.js";
import { candidateBytesStatement, rowSeparator, windowEndStatement } from "../sql/list.js";
import { equality, isUnjudged } from "./access-path.js";
import type { CursorState, WireWindow } from "./cursor.js";
import type { ListPlan } from "./list-plan.js";
import type { ListRequest } from "./list-request.js";
import { type BoundList, type PrepareContext, prepareList } from "./prepare-list.js";

export interface Page {
  /** A JSON array. */
  readonly data: string;
  readonly rowsReturned: number;
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
  readonly truncated: boolean;
  /** Where the next page begins, if there may be one. */
  readonly next: CursorState | null;
}

export interface ListContext extends PrepareContext {
  readonly database: Statements;
  readonly tally: Tally;
  readonly plans: Pick<PlanChecks, "questionOf">;
  readonly nowMs: number;
}

/** The first page of a list. */
export function firstState(parameters: readonly QueryParameter[], request: ListRequest): CursorState {
  return {
    parameters,
    window: { after: null, upTo: null, counted: false, skip: request.offset },
    offset: request.offset,
    total: 0,
    orderedOnly: false,
    order: [],
  };
}

/** One page: the first, or one that a cursor continues (interface, section 4). */
export async function listPage(
  request: ListRequest,
  state: CursorState,
  context: ListContext,
): Promise<Page | Refusal> {
  const list = prepareList(request, state, context);
  if (isRefusal(list)) return list;
  const { given } = list;
  const { plan, page } = list.list;
  const { limit } = request;
  for (const filter of request.filters) {
    if (filter.operator !== "contains") continue;
    const refusal = await searchTooLong(filter.column, filter.value, list, context);
    if (refusal !== null) return refusal;
  }
  const bound = bindCounted(page, given, bindSingle);
  const question = context.plans.questionOf(bound, context.nowMs);
  const results = await ask(context, [bound.statement, ...question.statements]);
  const exact = question.isExact(results);
  const report = reportOf(results[0]!, plan, limit, state.window.skip);
  const isTooMany = !plan.path.ordered && report.examined!.candidates > plan.scanLimit;
  context.tally.add(exact ? rowsRead(plan, report, isTooMany) : null);
  if (isTooMany) return tooManyToSort(state, request, plan, context);
  if (report.rows === null && report.found > 0) return tooLarge;
  const returned = Math.min(report.found, limit);
  const end = mayEndInTable(plan, limit, report) ? await endOfWindow(list, context) : null;
  const upTo = state.window.upTo ?? end;
  const next = windowAfter(state.window, plan, limit, report, upTo);
  const total = state.total + (report.counted?.authorized ?? 0);
  return {
    data: finishRows(`[${pageRows(report, limit)}]`, plan.output),
    rowsReturned: returned,
    limit,
    offset: state.offset,
    total,
    truncated: upTo !== null,
    next: next && {
      parameters: state.parameters,
      window: next,
      offset: state.offset + returned,
      total,
      orderedOnly: state.orderedOnly,
      order: plan.path.order.map(({ column }) => column.name),
    },
  };
}

/** Without the one beyond them. */
function pageRows({ rows, found }: Report, limit: number): string {
  if (rows === null || found <= limit) return rows ?? "";
  return rows.slice(0, rows.lastIndexOf(rowSeparator));
}

function ask({ database, tally }: ListContext, statements: readonly Statement[]) {
  return tally.during(database.query(statements));
}

/** Bytes: below it `contains` costs little more than reading the text. */
const shortSearchBytes = 64;
/** Comparisons of single bytes that `contains` may make in the worst case, about a second of them. */
const searchWorkMax = 20_000_000_000;

/** SQLite compares a text of `contains` at every place anew, so long texts in long texts would block the server. */
async function searchTooLong(
  column: Column,
  text: string,
  { list: { plan }, given }: BoundList,
  context: ListContext,
): Promise<Refusal | null> {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= shortSearchBytes) return null;
  const [result] = await ask(context, [bindSingle(candidateBytesStatement(plan, column), given)]);
  const [held, candidates] = result!.rows[0] as [number, number];
  context.tally.add(candidates);
  return held * bytes > searchWorkMax
    ? badRequest(`${column.name}: too much text to look for so long a value in`)
    : null;
}

const tooLarge = badRequest("the page is too large: a smaller limit or fewer columns would help");

/**
 * The path that serves most has to sort more candidates than may be examined. Where another one yields the order, it
 * takes over, in windows; otherwise the request is refused.
 */
async function tooManyToSort(
  state: CursorState,
  request: ListRequest,
  plan: ListPlan,
  context: ListContext,
): Promise<Page | Refusal> {
  const isFirst = state.window.after === null && !state.orderedOnly;
  const inOrder: CursorState = { ...state, orderedOnly: true };
  const other = isFirst ? prepareList(request, inOrder, context) : null;
  if (other === null || isRefusal(other) || !other.list.plan.path.ordered)
    return unservedSort(plan, context.access);
  const page = await listPage(request, inOrder, context);
  return isRefusal(page) ? unservedSort(plan, context.access) : page;
}

/** What the statement said. */
interface Report {
  readonly rows: string | null;
  /** Authorized rows of the page, at most one beyond its limit. */
  readonly found: number;
  readonly lastKey: string | null;
  readonly counted: {
    readonly candidates: number;
    readonly authorized: number;
    readonly probed: number;
    /** Whether it is known that no window ends in the table. */
    readonly toTheEnd: boolean;
  } | null;
  readonly examined: { readonly candidates: number; readonly probed: number } | null;
  readonly gateVisits: number;
}

function reportOf(
  { rows: [row] }: Result,
  { path, scanLimit }: ListPlan,
  limit: number,
  skip: number,
): Report {
  const [found, rows, lastKey, counted, examined, gateVisits] = row as ReportRow;
  const [candidates, authorized = candidates, probed = 0, toTheEnd] = numbers(counted);
  // Where each candidate is authorized, a page examines those up to the row behind it, or all that were counted.
  const reached = found > limit ? skip + limit + 1 : Math.min(candidates ?? 0, scanLimit);
  const [walked = isUnjudged(path) ? reached : undefined, walkedProbed = 0] = numbers(examined);
  return {
    rows,
    found,
    lastKey,
    counted:
      candidates === undefined
        ? null
        : { candidates, authorized: authorized!, probed, toTheEnd: toTheEnd === 1 },
    examined: walked === undefined ? null : { candidates: walked, probed: walkedProbed },
    gateVisits,
  };
}

/** In the order of `listStatement`. */
type ReportRow = readonly [
  found: number,
  rows: string | null,
  lastKey: string | null,
  counted: string | number | null,
  examined: string | null,
  gateVisits: number,
];

/** One number, an array of them, or none at all. */
function numbers(value: string | number | null): readonly number[] {
  if (typeof value === "string") return JSON.parse(value);
  return value === null ? [] : [value];
}

/** Candidates that only a sort can order are all examined, so there may be no more of them than the scan limit. */
function unservedSort({ path, scanLimit }: ListPlan, { readable }: Access): Refusal {
  const held = path.served.flatMap((condition) => equality(condition)?.column ?? []);
  const columns = [
    ...held.map((name) => ({ name, descending: false })),
    ...path.order.map(({ column: { name }, descending }) => ({ name, descending })),
  ];
  // What SQLite appends by itself cannot be declared, and what the caller may not know is not told.
  const named = columns.filter(({ name }) => readable.has(name));
  const help = named.length === 0 ? "a narrower filter" : `an index on [${named.map(indexTerm).join(", ")}]`;
  return badRequest(
    `no index serves this sort and there are more than ${scanLimit} rows to sort: ${help} would help`,
  );
}

function indexTerm({ name, descending }: { readonly name: string; readonly descending: boolean }): string {
  return `${descending ? "-" : ""}${name}`;
}

/**
 * Logical source rows: those that were counted, those that the page walked, and those that probes looked up. Where they were
 * too many to sort, no page was walked.
 */
function rowsRead(plan: ListPlan, { counted, examined, gateVisits }: Report, isTooMany: boolean): number {
  const pass = (part: { candidates: number; probed: number } | null) =>
    part === null ? 0 : part.candidates + part.probed;
  // Where candidates have to be sorted, they are counted for every page before, and then read again.
  if (!plan.path.ordered) return pass(examined) * (isTooMany ? 1 : 2) + gateVisits;
  return (plan.window.counted ? 0 : pass(counted)) + pass(examined) + gateVisits;
}

/** Whether the scan may have met its limit. */
function mayEndInTable(plan: ListPlan, limit: number, { found, counted, examined }: Report): boolean {
  const { path, scanLimit, window } = plan;
  if (!path.ordered || window.upTo !== null || counted?.toTheEnd) return false;
  return found > limit
    ? counted !== null && !isUnconditional(plan) && counted.candidates >= scanLimit
    : (examined?.candidates ?? 0) >= scanLimit;
}

/** The key where the counted window ends. Null: with the table. */
async function endOfWindow(
  { list: { plan }, given }: BoundList,
  context: ListContext,
): Promise<string | null> {
  const { scanLimit } = plan;
  const [result] = await ask(context, [bind(windowEndStatement(plan), given)]);
  const [end, beyond] = result!.rows;
  // It walks up to the row behind the window, if there is one.
  context.tally.add(end === undefined ? null : scanLimit + (beyond === undefined ? 0 : 1));
  return beyond === undefined ? null : (end![0] as string);
}

/** A count without any condition is not limited (interface, section 4). */
function isUnconditional({ path }: ListPlan): boolean {
  return path.rest.length === 0 && path.served.length === 0;
}

/** What the next page looks at: the rest of the window that ends at `upTo`, or what is behind it. */
function windowAfter(
  { skip }: WireWindow,
  plan: ListPlan,
  limit: number,
  { found, lastKey, counted }: Report,
  upTo: string | null,
): WireWindow | null {
  if (found > limit) return { after: lastKey!, upTo, counted: true, skip: 0 };
  if (upTo === null) return null;
  const inWindow = isUnconditional(plan) ? plan.scanLimit : (counted?.authorized ?? found);
  return {
    after: upTo,
    upTo: null,
    counted: isUnconditional(plan),
    skip: found > 0 ? 0 : Math.max(0, skip - inWindow),
  };
}
