import { isRefusal, type Refusal } from "../../http/refusal.js";
import { countedRead, type Duration, type Execution, read } from "../execution/execution.js";
import type { ListPlan, PathChoice } from "../plan/list-plan.js";
import type { ListParameters, ListRequest } from "../request/list-request.js";
import type { CursorState } from "./cursor.js";
import { answerOf, endOfWindow, type ListPage, mayEndInTable } from "./page.js";
import { type PageReport, reportOf, rowsRead } from "./page-report.js";
import {
  type BoundList,
  type ExpandedRequest,
  judgedMax,
  type ListSource,
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
 * than the scan limit; an index or the table, where ways lead to more rows than that; and a path that yields the order
 * and so needs no sort, where there are too many rows to sort, or where the page begins too deep in the list for a sort.
 * If none of them serves the page, the request is refused.
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
function isWanted(choice: OtherChoice, { path, among }: ListPlan, answer: ListPage | Refusal | Unserved): boolean {
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
  const examined = Math.max(report.counted?.candidates ?? 0, report.examined?.candidates ?? 0);
  if (examined < judgedMax) list.isLong = false;
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
  return database.hasReadThread === true && !list.isLong && limit <= briefPageMax && skip <= briefSkipMax;
}

/** Whether a page that was tried with low limits has reached one: with the full ones, another page may be the answer. */
function isCutOff(brief: ListPlan, whole: ListPlan, { limit }: ListRequest, report: PageReport): boolean {
  const { rows, found, counted, examined } = report;
  if (rows === null && found > 0) return true;
  if (tooMany(brief, report) !== null || tooManyExpanded(brief, report) !== null) return true;
  if (!brief.path.ordered) return false;
  const countMax = counted?.toTheEnd ? whole.scanLimit : brief.scanLimit;
  if (counted !== null && counted.candidates >= countMax) return true;
  return found <= limit && (examined?.candidates ?? 0) >= brief.scanLimit;
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
