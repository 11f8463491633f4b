import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import type { Result } from "../../platform/database.js";
import { countedRead, type Duration, type Execution, read } from "../execution/execution.js";
import { constantColumn, isUnjudged } from "../plan/access-path.js";
import { stepsIn } from "../plan/expansion.js";
import type { ListPlan, PathChoice } from "../plan/list-plan.js";
import type { ListParameters, ListRequest } from "../request/list-request.js";
import { rowSeparator } from "../sql/expansions.js";
import { finishRows } from "../sql/finish-rows.js";
import { windowEndStatement } from "../sql/list.js";
import { bind } from "../sql-text/fragment.js";
import type { CursorState, WireWindow } from "./cursor.js";
import { type ExpandedStep, expandedRows, expandedSteps } from "./expanded-rows.js";
import {
  type BoundList,
  type ExpandedRequest,
  judgedMax,
  type ListAccess,
  type ListSource,
  type PlannedPage,
  type PreparedList,
  prepareList,
} from "./prepare-list.js";

/**
 * Reads one page of a list: the first, or the one that a cursor leads to. Where the best path does not serve the first
 * page, other paths are tried (`docs/reference/http.md#the-scan-limit`): ways (index walks from a known value), where
 * an index or the table offers more rows than the scan limit; an index or the table, where ways lead to more rows than
 * that; and a path that yields the order and so needs no sort, where there are too many rows to sort, or where the page
 * begins too deep in the list for a sort. If none of them serves the page, the request is refused.
 */
export async function listPage(
  request: ExpandedRequest,
  state: CursorState,
  source: ListSource,
  execution: Execution,
): Promise<ListPage | Refusal> {
  const attempt = (choice: PathChoice) => {
    const tried: CursorState = { ...state, choice };
    const bound = prepareList(request, tried, source, execution.values);
    if (isRefusal(bound)) return bound;
    return { plan: bound.list.plan, read: () => readPage(bound, request, tried, source, execution) };
  };
  const best = attempt(state.choice);
  if (isRefusal(best)) return best;
  let { plan } = best;
  let answer = await best.read();
  const isFirst = state.window.after === null && state.choice === "best";
  for (const choice of isFirst ? otherChoices : []) {
    if (!isWanted(choice, plan, answer)) continue;
    const other = attempt(choice);
    if (isRefusal(other) || !isServing(choice, other.plan)) continue;
    const next = await other.read();
    // Where the ways lead to too many rows as well, the answer before is kept: a page of a part of the list is better
    // than none.
    if (choice === "ways" && isUnserved(next)) continue;
    answer = next;
    if (choice === "search") plan = other.plan;
  }
  return isUnserved(answer) ? unserved(plan, source.access, answer) : answer;
}

const otherChoices = ["ways", "search", "ordered"] as const;
type OtherChoice = (typeof otherChoices)[number];

/** Whether a path of the given kind is to be tried after `answer`, which the path of the given plan has led to. */
function isWanted(
  choice: OtherChoice,
  { path, among }: ListPlan,
  answer: ListPage | Refusal | Unserved,
): boolean {
  switch (choice) {
    case "ways":
      return path.ways === null && (isUnserved(answer) || (!isRefusal(answer) && answer.truncated));
    case "search":
      return (path.ways !== null || among !== null) && isUnserved(answer);
    case "ordered":
      return isUnserved(answer);
  }
}

function isServing(choice: OtherChoice, { path }: ListPlan): boolean {
  return choice === "search" || (choice === "ways" ? path.ways !== null : path.ordered);
}

/** A page of a list, with the `meta` of its answer. */
export interface ListPage {
  /** The page's rows as a JSON array. */
  readonly data: string;
  readonly rowsReturned: number;
  readonly limit: number;
  readonly offset: number;
  /** How many rows the list has, as far as they were counted; null where the request asks not to count. */
  readonly total: number | null;
  readonly truncated: boolean;
  /** The state for the cursor of the next page; null where this page is known to be the last. */
  readonly next: CursorState | null;
  /** The plan by which the page was read. */
  readonly plan: ListPlan;
  /**
   * How many candidates (rows that the path offers) were counted for the page; null where it was read without counting.
   */
  readonly candidates: number | null;
}

/** Makes the state for the first page of a list, in the form in which cursors hold the state for later pages. */
export function firstState(parameters: ListParameters, request: ListRequest): CursorState {
  return {
    parameters,
    // With an offset, rows are counted even if `meta.total` is not asked for: only then is it known how many of them
    // the offset leaves out.
    window: {
      after: null,
      upTo: null,
      counted: !request.counts && request.offset === 0,
      skip: request.offset,
    },
    offset: request.offset,
    total: 0,
    choice: "best",
    order: [],
  };
}

/**
 * Why a page was not read: the candidates (rows that the path offers) would have to be sorted, and there are too many
 * of them, or the page begins too deep in the list; or the ways lead to more rows than the scan limit.
 */
type Unserved = "too_many_to_sort" | "too_deep_to_sort" | "too_many_by_ways";

function isUnserved(answer: ListPage | Refusal | Unserved): answer is Unserved {
  return typeof answer === "string";
}

/**
 * How deep into a list that has to be sorted a page may reach, as the sum of its offset and its limit: such a sort
 * holds that many rows.
 */
const sortedPlacesMax = 10_000;

/**
 * Reads a page by the path of the list, and adds the rows that it read to the tally, also where they turn out to be too
 * many to sort or to search, so that there is no page. Where the database runs long reads in a thread, a short page is
 * first tried in the event loop with low limits. Most pages do not reach the low limits, and are the same as with the
 * full ones.
 */
async function readPage(
  { list, values }: BoundList,
  request: ExpandedRequest,
  state: CursorState,
  { briefTries }: ListSource,
  execution: Execution,
): Promise<ListPage | Refusal | Unserved> {
  const isTooDeep = state.window.skip + request.limit > sortedPlacesMax;
  if (isTooDeep && !list.plan.path.ordered) return "too_deep_to_sort";
  const table = list.plan.table.name;
  const isTried = mayBeBrief(list, request, state, execution) && briefTries.may(table);
  const brief = isTried ? list.brief() : null;
  if (brief !== null) {
    const { report, isExact } = await briefTries.during(table, () =>
      readReport(brief, values, request, state, execution, "short"),
    );
    if (!isCutOff(brief.plan, list.plan, request, report)) {
      execution.tally.add(isExact ? rowsRead(brief.plan, report, false) : null);
      return answerOf(report, brief.plan, request, state, null);
    }
    list.isLong = list.plan.path.served.length === 0 && list.plan.path.ways === null;
  }
  const whole = list.whole();
  const { plan } = whole;
  const { report, isExact } = await readReport(whole, values, request, state, execution, "long");
  const why = tooMany(plan, report);
  execution.tally.add(isExact ? rowsRead(plan, report, why !== null) : null);
  if (rowsExamined(report) < judgedMax) list.isLong = false;
  if (report.searched?.fits === false) return tooMuchToSearch(plan);
  if (why !== null) return why;
  const tooFar = tooManyExpanded(plan, report);
  if (tooFar !== null) return tooFar;
  const end = mayEndInTable(plan, request.limit, report) ? await endOfWindow(plan, values, execution) : null;
  return answerOf(report, plan, request, state, end);
}

/** Up to which `limit` a page is tried in the event loop. `briefSkipMax` is up to which offset. */
const briefPageMax = 200;
const briefSkipMax = 2_000;

function mayBeBrief(
  list: PreparedList,
  { limit }: ListRequest,
  { window: { skip } }: CursorState,
  { database }: Execution,
): boolean {
  return database.runsBeside === true && !list.isLong && limit <= briefPageMax && skip <= briefSkipMax;
}

/**
 * Whether a page that was tried with low limits has reached one of them. With the full limits, another page may then be
 * the answer.
 */
function isCutOff(brief: ListPlan, whole: ListPlan, { limit }: ListRequest, report: PageReport): boolean {
  const { rows, found, counted, examined } = report;
  if (rows === null && found > 0) return true;
  if (tooMany(brief, report) !== null || tooManyExpanded(brief, report) !== null) return true;
  if (!brief.path.ordered) return false;
  const countMax = counted?.toTheEnd ? whole.scanLimit : brief.scanLimit;
  if (counted !== null && counted.candidates >= countMax) return true;
  return found <= limit && (examined?.candidates ?? 0) >= brief.scanLimit;
}

/**
 * Returns why a plan has read no page: it offers more candidates (rows to test) than it may; null where it does not.
 */
function tooMany(
  { path, scanLimit, among }: ListPlan,
  { links, counted, examined }: PageReport,
): Unserved | null {
  if (among !== null && links > scanLimit) return "too_many_by_ways";
  const sorted = path.ordered ? 0 : examined!.candidates;
  if (path.ways === null) return sorted > scanLimit ? "too_many_to_sort" : null;
  const reached = Math.max(sorted, counted?.toTheEnd === false ? counted.candidates : 0);
  return links + reached > scanLimit ? "too_many_by_ways" : null;
}

function rowsExamined({ counted, examined }: PageReport): number {
  return Math.max(counted?.candidates ?? 0, examined?.candidates ?? 0);
}

async function readReport(
  { plan, page }: PlannedPage,
  values: BoundList["values"],
  { limit }: ListRequest,
  { window: { skip } }: CursorState,
  execution: Execution,
  duration: Duration,
): Promise<{ readonly report: PageReport; readonly isExact: boolean }> {
  const counted = countedRead(execution, page, values);
  const results = await read(execution, counted.statements, duration);
  return { isExact: counted.isExact(results), report: reportOf(results[0]!, plan, limit, skip) };
}

/**
 * Makes the page that was read, or a refusal where it is too large for an answer. `end` is the key at which the
 * examined part of the table ends; null where that reaches the table's end.
 */
function answerOf(
  report: PageReport,
  plan: ListPlan,
  request: ExpandedRequest,
  state: CursorState,
  end: string | null,
): ListPage | Refusal {
  const data = report.rows === null && report.found > 0 ? null : dataOf(report, plan, request);
  return data === null ? tooLarge : pageOf(data, report, plan, request, state, state.window.upTo ?? end);
}

/**
 * Makes the page from the report of its statement, with the rows in `data`. `upTo` is the key at which the page's
 * window ends; null where the window reaches the table's end.
 */
function pageOf(
  data: string,
  report: PageReport,
  plan: ListPlan,
  request: ExpandedRequest,
  state: CursorState,
  upTo: string | null,
): ListPage {
  const { limit } = request;
  const returned = Math.min(report.found, limit);
  const next = windowAfter(state.window, plan, request, report, upTo);
  const total = state.total + (report.counted?.authorized ?? 0);
  return {
    data,
    rowsReturned: returned,
    limit,
    offset: state.offset,
    total: request.counts ? total : null,
    truncated: upTo !== null,
    next: next && {
      parameters: state.parameters,
      window: next,
      offset: state.offset + returned,
      total,
      choice: choiceAfter(state, plan),
      order: plan.path.order.map(({ column }) => column.name),
    },
    plan,
    candidates: report.counted?.candidates ?? null,
  };
}

/**
 * Returns the kinds of paths that the next page may take. The cursor's key has the columns of this page's order, which
 * depends on the path, so the next page takes a path of the same kind.
 */
function choiceAfter({ choice }: CursorState, { path, among }: ListPlan): PathChoice {
  if (choice !== "best") return choice;
  // A full-text search that looks for its rows among those of an index has the same order whatever the path. Its next
  // page chooses the path anew, and gets the same one.
  if (among !== null && among.path.ways === null) return "best";
  return path.ways === null && among === null ? "search" : "ways";
}

/** Returns the rows of the page without the one after it, which was read to learn whether there are more. */
function pageRows({ rows, found }: PageReport, limit: number): string {
  if (rows === null || found <= limit) return rows ?? "";
  return rows.slice(0, rows.lastIndexOf(rowSeparator));
}

/** Writes the rows of a page as a JSON array, each with its expansions; null where these make them too long. */
function dataOf(
  report: PageReport,
  { output }: ListPlan,
  { expansions, limit }: ExpandedRequest,
): string | null {
  const rows = pageRows(report, limit);
  if (expansions.length === 0) return finishRows(`[${rows}]`, output);
  const expanded = expandedRows(rows, output, expansions, report.expanded);
  return expanded === null ? null : `[${expanded}]`;
}

/** Refuses a page whose expansions would have to examine more rows than the scan limit; null where they do not. */
function tooManyExpanded({ expansions, scanLimit }: ListPlan, { expanded }: PageReport): Refusal | null {
  const step = stepsIn(expansions).find((_, i) => expanded[i]!.candidates > scanLimit);
  if (step === undefined) return null;
  const { access, to } = step;
  return badRequest(
    `expand: more than ${scanLimit} rows of ${access.table.name} would have to be examined by ${to.name}: a smaller limit or an index that yields the order would help`,
  );
}

const tooLarge = badRequest("the page is too large: a smaller limit or fewer columns would help");

/** Makes the refusal of a list or aggregate whose `contains` filters would search more text than the budget allows. */
export function tooMuchToSearch({ searches }: Pick<ListPlan, "searches">): Refusal {
  const columns = searches.map(({ column }) => column).join(", ");
  return badRequest(
    `${columns}: too much text to search: a filter that an index serves or a shorter text would help`,
  );
}

/** What the single row of the result of `listStatement` says about a page. */
interface PageReport {
  readonly rows: string | null;
  /** How many rows of the list were found for the page: at most one more than its limit. */
  readonly found: number;
  readonly lastKey: string | null;
  readonly counted: {
    readonly candidates: number;
    readonly authorized: number;
    readonly probed: number;
    /** Whether the count is known to have reached the end of the table. */
    readonly toTheEnd: boolean;
  } | null;
  readonly examined: { readonly candidates: number; readonly probed: number } | null;
  readonly gateVisits: number;
  /** How many rows the ways (index walks from a known value) have found on their way to the listed table. */
  readonly links: number;
  /**
   * What was measured for `contains` filters before any text was searched: how many candidates (rows that the path
   * offers) would be searched, and whether the search is within its budget (`fits`). Null where nothing was measured.
   */
  readonly searched: { readonly candidates: number; readonly fits: boolean } | null;
  /** What was found for each step of the expansions, in the order of `stepsIn`. */
  readonly expanded: readonly ExpandedStep[];
}

function reportOf(
  { rows: [row] }: Result,
  { path, scanLimit }: ListPlan,
  limit: number,
  skip: number,
): PageReport {
  const [found, rows, lastKey, counted, examined, gateVisits, searched, ...expanded] = row as PageReportRow;
  const [candidates, authorized = candidates, probed = 0, toTheEnd] = numbers(counted);
  // Where every candidate is in the list, the statement does not say how many were examined. They are those up to the
  // row after the page, or, where no row comes after the page, all that were counted.
  const reached = found > limit ? skip + limit + 1 : Math.min(candidates ?? 0, scanLimit);
  const [measured, fits] = numbers(searched);
  const [visits = 0, links = 0] = numbers(gateVisits);
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
    gateVisits: visits,
    links,
    searched: measured === undefined ? null : { candidates: measured, fits: fits === 1 },
    expanded: expandedSteps(expanded),
  };
}

/** The row that the statement of a page returns: the columns of `listStatement`, in their order. */
type PageReportRow = readonly [
  found: number,
  rows: string | null,
  lastKey: string | null,
  counted: string | number | null,
  examined: string | null,
  gateVisits: number | string,
  searched: string | null,
  ...expanded: readonly (string | null)[],
];

/**
 * Reads the numbers in a column of the statement's result, which is a number, a JSON array of numbers, or NULL for
 * none.
 */
function numbers(value: string | number | null): readonly number[] {
  if (typeof value === "string") return JSON.parse(value);
  return value === null ? [] : [value];
}

/** Makes the refusal of a list whose rows no path can find within the limits. `why` says which limit that is. */
function unserved(plan: ListPlan, access: ListAccess, why: Unserved): Refusal {
  return why === "too_many_by_ways" ? moreThanBefore : unservedSort(plan, access, why);
}

/**
 * The refusal of a later page of a list that is read by ways (index walks from a known value): since the first page,
 * the ways have come to lead to more rows than the scan limit.
 */
const moreThanBefore = new Refusal(
  "invalid_cursor",
  "since the cursor was made, the rows that lead to this list have become too many",
);

/**
 * Makes the refusal of a list that has to be sorted: because there are more candidates (rows that the path offers) than
 * the scan limit, or because the page begins too deep in the list. The message says what would help, such as an index.
 */
function unservedSort(
  { path, scanLimit, match }: ListPlan,
  { readable }: ListAccess,
  why: Unserved,
): Refusal {
  if (match !== null)
    return badRequest(
      why === "too_many_to_sort"
        ? `search: more than ${scanLimit} rows match, which are too many to sort: more words, or longer ones, would help`
        : `what a search finds is sorted, so offset and limit together are ${sortedPlacesMax} at most: a cursor would help`,
    );
  const held = path.served.flatMap((condition) => constantColumn(condition) ?? []);
  const columns = [
    ...held.map((name) => ({ name, descending: false })),
    ...path.order.map(({ column: { name }, descending }) => ({ name, descending })),
  ];
  // The message, which names an index that would help, leaves out columns that the caller may not read, and a rowid,
  // which a schema file cannot name in an index.
  const named = columns.filter(({ name }) => readable.has(name));
  const help = named.length === 0 ? "a narrower filter" : `an index on [${named.map(indexTerm).join(", ")}]`;
  return badRequest(
    why === "too_many_to_sort"
      ? `no index serves this sort and there are more than ${scanLimit} rows to sort: ${help} would help`
      : `no index serves this sort, so offset and limit together are ${sortedPlacesMax} at most: a cursor or ${help} would help`,
  );
}

function indexTerm({ name, descending }: { readonly name: string; readonly descending: boolean }): string {
  return `${descending ? "-" : ""}${name}`;
}

/**
 * `rows_read` of the answer (`docs/reference/metering.md#what-is-counted`): the candidates (rows that the path offers)
 * whose text was measured, those that were examined for the count and for the page, the rows that ways have passed, and
 * those that were examined for expansions; with all of them the rows that every `exists` looked up. `isTooMany` says
 * that there were too many rows, so that no page was read.
 */
function rowsRead(plan: ListPlan, report: PageReport, isTooMany: boolean): number {
  const { counted, examined, searched, gateVisits, links } = report;
  const pass = (part: { candidates: number; probed: number } | null) =>
    part === null ? 0 : part.candidates + part.probed;
  const expanded = report.expanded.reduce((sum, step) => sum + step.candidates + step.probed, 0);
  const once = gateVisits + links + (searched?.candidates ?? 0) + expanded;
  if (isTooMany) return pass(plan.path.ordered ? counted : examined) + once;
  // Where candidates (rows that the path offers) have to be sorted, every page first counts all of them and then reads
  // them again.
  if (!plan.path.ordered) return 2 * pass(examined) + once;
  return (plan.window.counted ? 0 : pass(counted)) + pass(examined) + once;
}

/**
 * Whether the window (the part of the list that is counted as one) may have ended at the scan limit, before the end of
 * the table.
 */
function mayEndInTable(plan: ListPlan, limit: number, { found, counted, examined }: PageReport): boolean {
  const { path, scanLimit, window } = plan;
  if (!path.ordered || window.upTo !== null || counted?.toTheEnd) return false;
  return found > limit
    ? counted !== null && !isUnconditional(plan) && counted.candidates >= scanLimit
    : (examined?.candidates ?? 0) >= scanLimit;
}

/**
 * Finds the key (place in the order) of the last candidate of the window, which is the part of the list that is counted
 * as one; null where the window reaches the end of the table.
 */
async function endOfWindow(
  plan: ListPlan,
  values: BoundList["values"],
  execution: Execution,
): Promise<string | null> {
  const { scanLimit } = plan;
  const [result] = await read(execution, [bind(windowEndStatement(plan), values)], "long");
  const [end, beyond] = result!.rows;
  // Added for metering: the statement has read the whole window, and the row after it if there is one.
  execution.tally.add(end === undefined ? null : scanLimit + (beyond === undefined ? 0 : 1));
  return beyond === undefined ? null : (end![0] as string);
}

/**
 * Whether a list has no condition on its rows. Its count is then not limited (`docs/reference/http.md#the-scan-limit`).
 */
function isUnconditional({ path }: ListPlan): boolean {
  return path.rest.length === 0 && path.served.length === 0 && path.ways === null;
}

/**
 * Returns the window (the part of the list that is counted as one) of the next page: the rest of this page's window, or
 * the one after it; null where nothing is left.
 */
function windowAfter(
  { skip }: WireWindow,
  plan: ListPlan,
  { limit, counts }: ListRequest,
  { found, lastKey, counted }: PageReport,
  upTo: string | null,
): WireWindow | null {
  if (found > limit) return { after: lastKey!, upTo, counted: true, skip: 0 };
  if (upTo === null) return null;
  const inWindow = isUnconditional(plan) ? plan.scanLimit : (counted?.authorized ?? found);
  const skipped = found > 0 ? 0 : Math.max(0, skip - inWindow);
  const isCounted = isUnconditional(plan) || (!counts && skipped === 0);
  return { after: upTo, upTo: null, counted: isCounted, skip: skipped };
}
