import { isRefusal, type Refusal } from "../../http/refusal.js";
import { countedRead, type Duration, type Execution, read } from "../execution/execution.js";
import type { ListPlan, PathChoice } from "../plan/list-plan.js";
import type { ListParameters, ListRequest } from "../request/list-request.js";
import { pageValues } from "../sql/page-slots.js";
import { isLongValue } from "../sql/wide-values.js";
import type { CursorState } from "./cursor.js";
import { answerOf, endOfWindow, type ListPage, mayEndInTable, TooWide } from "./page.js";
import { type PageReport, reportOf, rowsRead } from "./page-report.js";
import {
  type BoundList,
  type ExpandedRequest,
  judgedMax,
  type ListSource,
  type PageForms,
  type PlannedPage,
  type PreparedList,
  prepareList,
} from "./prepare-list.js";
import {
  isUnserved,
  sortedPlacesMax,
  tooMany,
  tooManyExpanded,
  tooMuchToSearch,
  type Unserved,
  unserved,
} from "./unserved.js";

/**
 * Reads one page of a list: the first, or the one that a cursor leads to. Where the best path does not serve the first
 * page, other paths are tried (`docs/reference/http.md#the-scan-limit`): ways, where an index or the table offers more rows
 * than the scan limit; where ways lead to more rows than that, the same ways in windows, or else an index or the table;
 * and a path that yields the order and so needs no sort, where there are too many rows to sort, or where the page begins
 * too deep in the list for a sort. If none of them serves the page, the request is refused.
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

const otherChoices = ["ways", "windows", "search", "ordered"] as const;
type OtherChoice = (typeof otherChoices)[number];

/** Whether a path of the given kind is to be tried after `answer`, which the path of the given plan has led to. */
function isWanted(choice: OtherChoice, { path, among }: ListPlan, answer: ListPage | Refusal | Unserved): boolean {
  switch (choice) {
    case "ways":
      return path.ways === null && (isUnserved(answer) || (!isRefusal(answer) && answer.truncated));
    case "windows":
      return path.ways !== null && path.ordered && answer === "too_many_by_ways";
    case "search":
      return (path.ways !== null || among !== null) && isUnserved(answer);
    case "ordered":
      return isUnserved(answer);
  }
}

function isServing(choice: OtherChoice, { path }: ListPlan): boolean {
  if (choice === "search") return true;
  return choice === "ordered" ? path.ordered : path.ways !== null;
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
 * Reads a page by the path of the list, and adds the rows that it read to the tally, also where they turn out to be too
 * many to sort or to search, so that there is no page. Where the database runs long reads in a thread, a short page is
 * first tried in the event loop with low limits. Most pages do not reach the low limits, and are the same as with the
 * full ones.
 */
async function readPage(
  bound: BoundList,
  request: ExpandedRequest,
  state: CursorState,
  source: ListSource,
  execution: Execution,
): Promise<ListPage | Refusal | Unserved> {
  const { list } = bound;
  const isTooDeep = state.window.skip + request.limit > sortedPlacesMax;
  if (isTooDeep && !list.plan.path.ordered) return "too_deep_to_sort";
  const brief = await tryBriefly(bound, request, state, source, execution);
  if (brief !== null) return brief;
  return readWhole(bound, request.limit, request, state, execution);
}

/** Tries to read a page in the event loop with low limits. Null where it has to be read with the full ones. */
async function tryBriefly(
  bound: BoundList,
  request: ExpandedRequest,
  state: CursorState,
  { briefTries }: ListSource,
  execution: Execution,
): Promise<ListPage | Refusal | null> {
  const { list } = bound;
  const table = list.plan.table.name;
  if (!mayBeBrief(list, request, state, execution)) return null;
  if (!briefTries.may(execution.longWork, table)) return null;
  const forms = list.brief();
  if (forms === null) return null;
  const found = await shortFirst(list, forms, (page) =>
    briefTries.during(execution.longWork, table, () =>
      readReport(page, bound, request.limit, state, execution, "short"),
    ),
  );
  if (found === null) return null;
  const { report, isExact, plan } = found;
  if (!isCutOff(plan, list.plan, request, report)) {
    const page = await answerOf(report, plan, request, state, null);
    if (page instanceof TooWide) return null;
    execution.tally.add(isExact ? rowsRead(plan, report, false) : null);
    return page;
  }
  list.isLong = list.plan.path.served.length === 0 && list.plan.path.ways === null;
  return null;
}

/** After a page has come upon a long value, so many pages are read without carrying values along. */
const seekingPages = 100;

/**
 * Reads a page in the form that is the quickest where all values are short, or else in the one that reads long values
 * afterwards. Null where that is not possible either, because a value that is compared is too long for a try.
 */
async function shortFirst<R extends ReadReport | Refusal>(
  list: PreparedList,
  forms: PageForms,
  readAs: (page: PlannedPage) => Promise<R>,
): Promise<R | null> {
  const isSeeking = list.seeking > 0;
  const first = forms(!list.canSeek ? "carried" : isSeeking ? "sought" : "short");
  try {
    const report = await readAs(first);
    if (isSeeking) list.seeking--;
    return report;
  } catch (error) {
    if (!isLongValue(error)) throw error;
  }
  if (!list.canSeek || isSeeking) return null;
  list.seeking = seekingPages;
  return shortFirst(list, forms, readAs);
}

/** Reads a page of `limit` rows with the full limits. It is read again where its rows are too large for a page. */
async function readWhole(
  bound: BoundList,
  limit: number,
  request: ExpandedRequest,
  state: CursorState,
  execution: Execution,
): Promise<ListPage | Refusal | Unserved> {
  const { list, values } = bound;
  const read = (await shortFirst<ReadReport | Refusal>(list, list.whole, async (page) => {
    // Many such pages at once would take much memory before any of them is an answer.
    const refusal = page.plan.wide === "sought" ? execution.takeRoom?.(page.plan.catalog.pageBytesMax) : null;
    return refusal ?? readReport(page, bound, limit, state, execution, "long");
  }))!;
  if (isRefusal(read)) return read;
  const { report, isExact, plan } = read;
  const why = tooMany(plan, report);
  execution.tally.add(isExact ? rowsRead(plan, report, why !== null) : null);
  const examined = Math.max(report.counted?.candidates ?? 0, report.examined?.candidates ?? 0);
  if (examined < judgedMax) list.isLong = false;
  if (report.searched?.fits === false) return tooMuchToSearch(plan);
  if (why !== null) return why;
  const tooFar = tooManyExpanded(plan, report);
  if (tooFar !== null) return tooFar;
  const end = mayEndInTable(plan, report) ? await endOfWindow(plan, report, values, execution) : null;
  const page = await answerOf(report, plan, request, state, end);
  return page instanceof TooWide ? readWhole(bound, page.rows, request, state, execution) : page;
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
  return database.hasReadThread === true && !list.isLong && limit <= briefPageMax && skip <= briefSkipMax;
}

/** Whether a page that was tried with low limits has reached one: with the full ones, another page may be the answer. */
function isCutOff(brief: ListPlan, whole: ListPlan, { limit }: ListRequest, report: PageReport): boolean {
  const { rows, found, fitting, counted, examined } = report;
  if ((rows === null && found > 0) || fitting < Math.min(found, limit)) return true;
  if (tooMany(brief, report) !== null || tooManyExpanded(brief, report) !== null) return true;
  if (!brief.path.ordered) return false;
  const countMax = counted?.toTheEnd ? whole.scanLimit : brief.scanLimit;
  if (counted !== null && counted.candidates >= countMax) return true;
  return found <= limit && (examined?.candidates ?? 0) >= brief.scanLimit;
}

/** What a page's statement has reported, and whether the number of rows that it has examined is known. */
interface ReadReport {
  readonly plan: ListPlan;
  readonly report: PageReport;
  readonly isExact: boolean;
}

async function readReport(
  { plan, page }: PlannedPage,
  { values }: BoundList,
  limit: number,
  { window: { skip } }: CursorState,
  execution: Execution,
  duration: Duration,
): Promise<ReadReport> {
  const counted = countedRead(execution, page, [pageValues(limit, skip), ...values]);
  const results = await read(execution, counted.statements, duration);
  return { plan, isExact: counted.isExact(results), report: reportOf(results[0]!, plan, limit, skip) };
}
