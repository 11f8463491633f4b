import { toBase64 } from "../../encoding/base64.js";
import { fromHex } from "../../encoding/hex.js";
import { badRequest, type Refusal } from "../../http/refusal.js";
import type { Result } from "../../platform/database.js";
import { isSafe } from "../access/values.js";
import { countedRead, type Duration, type Execution, read } from "../execution/execution.js";
import type { CursorState } from "../list/cursor.js";
import { judgedMax } from "../list/prepare-list.js";
import { tooMuchToSearch } from "../list/unserved.js";
import type { PathChoice } from "../plan/list-plan.js";
import type { Counted } from "../plan/plan-check.js";
import type { AggregateRequest } from "../request/aggregate-request.js";
import { type AggregatePlan, fitted } from "../sql/aggregate.js";
import { isLongValue } from "../sql/wide-values.js";
import { realOf } from "../sql/wire.js";
import type { Sql } from "../sql-text/fragment.js";
import { type AggregateSource, type BoundAggregate, prepareAggregate } from "./prepare-aggregate.js";

/** A page of an aggregate's groups, with the `meta` of its answer. */
export interface AggregatePage {
  /** The groups as a JSON array of objects. */
  readonly data: string;
  readonly rowsReturned: number;
  readonly limit: number;
  /** How many groups the pages before this one had in all. */
  readonly offset: number;
  /** How many groups there were when the first page was read; null where the request asks not to count them. */
  readonly total: number | null;
  /** The cursor of the next page; null where this page is the last. */
  readonly next: CursorState | null;
}

/**
 * Computes one page of an aggregate's groups: the first, or the one that a cursor leads to. Refuses where more rows
 * than the scan limit would have to be examined, because results for a part of the rows would be wrong.
 */
export async function aggregatePage(
  request: AggregateRequest,
  state: CursorState,
  source: AggregateSource,
  execution: Execution,
): Promise<AggregatePage | Refusal> {
  const attempt = (choice: PathChoice) => prepareAggregate(request, state, choice, source, execution.values);
  let bound = attempt("best");
  let report = await readReport(bound, source, execution);
  if (report.examined > source.scanLimit) {
    // Candidate rows come from one index, or from ways (index walks that begin with a known value, such as the caller's
    // id). Where one of the two leads to too many rows, the other may lead to fewer, so it is tried.
    const { ways } = bound.aggregate.plan.rows.path;
    const other = attempt(ways === null ? "ways" : "search");
    if (ways !== null || other.aggregate.plan.rows.path.ways !== null) {
      bound = other;
      report = await readReport(bound, source, execution);
    }
  }
  const { plan } = bound.aggregate;
  const { rows } = plan;
  if (report.searched?.fits === false) return tooMuchToSearch(rows);
  if (report.examined > rows.scanLimit) return tooManyRows(rows.scanLimit);
  const misfit = fitted(plan).find((_, i) => report.misfits[i]! > 0);
  if (misfit !== undefined) return notNumbers(misfit.column);
  if (report.rows === null && report.found > 0) return tooLarge;
  return pageOf(report, request, state);
}

/**
 * Runs an aggregate's statement and adds the rows that it read to the request's count. Where the database runs long
 * reads in a thread, the aggregate is first tried in the event loop with low limits. If it stays below them, the result
 * is the same as with the full limits.
 */
async function readReport(
  { aggregate, values }: BoundAggregate,
  { access, briefTries }: AggregateSource,
  execution: Execution,
): Promise<AggregateReport> {
  const readAs = async (page: Counted<Sql>, duration: Duration) => {
    const counted = countedRead(execution, page, values);
    const results = await read(execution, counted.statements, duration);
    const report = reportOf(results[0]!);
    const rowsRead = counted.isExact(results) ? report.rowsRead : null;
    return { report, count: () => execution.tally.add(rowsRead) };
  };
  const { brief } = aggregate;
  const { name } = access.table;
  const mayTry =
    execution.database.hasReadThread === true && !aggregate.isLong && briefTries.may(execution.longWork, name);
  if (brief !== null && mayTry) {
    const tried = await briefTries
      .during(execution.longWork, name, () => readAs(brief.page, "short"))
      .catch((error: unknown) => {
        if (isLongValue(error)) return null;
        throw error;
      });
    if (tried !== null && !isCutOff(tried.report, brief.plan)) {
      tried.count();
      return tried.report;
    }
    const { served, ways } = aggregate.plan.rows.path;
    aggregate.isLong = served.length === 0 && ways === null;
  }
  const { report, count } = await readAs(aggregate.whole, "long");
  count();
  if (report.examined < judgedMax) aggregate.isLong = false;
  return report;
}

/** Whether an aggregate that was tried with low limits has reached one of them. */
function isCutOff({ examined, rows, found }: AggregateReport, { rows: { scanLimit } }: AggregatePlan): boolean {
  return examined > scanLimit || (rows === null && found > 0);
}

/** What the single row contains that the statement of `aggregateStatement` returns. */
interface AggregateReport {
  readonly rows: readonly (readonly unknown[])[] | null;
  /** How many groups were found for the page: at most one more than its limit. */
  readonly found: number;
  readonly lastKey: string | null;
  /**
   * How many candidates were read, together with the rows that led to them. More than the scan limit where that was
   * reached.
   */
  readonly examined: number;
  readonly total: number;
  /** For each column that `fitted` gives, how many rows have a value that is no number of its type. */
  readonly misfits: readonly number[];
  /**
   * The `rows_read` of the answer: the candidates, the rows whose text was measured beforehand, the rows that led to
   * the candidates, and the rows that the rule's `exists` looked up (`docs/reference/metering.md#what-is-counted`).
   */
  readonly rowsRead: number;
  /** Whether what `contains` filters would search is within its budget; null where there are no such filters. */
  readonly searched: { readonly fits: boolean } | null;
}

function reportOf({ rows: [row] }: Result): AggregateReport {
  const [found, rows, lastKey, counts, total, misfits, links, gateVisits, searched] = row as AggregateReportRow;
  const [candidates, probed] = JSON.parse(counts) as [number, number];
  const [measured, fits] = (searched === null ? [0] : JSON.parse(searched)) as [number, number?];
  return {
    rows: rows === null ? null : JSON.parse(rows),
    found,
    lastKey,
    examined: links + candidates,
    total,
    misfits: JSON.parse(misfits),
    rowsRead: measured + links + candidates + probed + gateVisits,
    searched: fits === undefined ? null : { fits: fits === 1 },
  };
}

/** The row that an aggregate's statement returns: the columns of `aggregateStatement`, in their order. */
type AggregateReportRow = readonly [
  found: number,
  rows: string | null,
  lastKey: string | null,
  counts: string,
  total: number,
  misfits: string,
  links: number,
  gateVisits: number,
  searched: string | null,
];

function pageOf(report: AggregateReport, request: AggregateRequest, state: CursorState): AggregatePage {
  const { groups, results, limit, counts } = request;
  const found = report.rows ?? [];
  // Without `group_by` there is always one group, whose counts are 0 and other results null where no row is read.
  const isOne = groups.length === 0;
  const shown = found.length === 0 && isOne ? [results.map(emptyResult)] : found.slice(0, limit);
  const total = isOne ? 1 : state.window.after === null ? report.total : state.total;
  const isMore = report.found > limit;
  return {
    data: JSON.stringify(shown.map((values) => groupObject(values, request))),
    rowsReturned: shown.length,
    limit,
    offset: state.offset,
    total: counts ? total : null,
    next: isMore
      ? {
          ...state,
          window: { after: report.lastKey, upTo: null, counted: true, skip: 0 },
          offset: state.offset + limit,
          total,
        }
      : null,
  };
}

const emptyResult = ({ compute }: AggregateRequest["results"][number]) =>
  compute === "count" || compute === "count_distinct" ? 0 : null;

/** Makes the object by which the answer shows a group, from its values and results as the statement returns them. */
function groupObject(values: readonly unknown[], { groups, results }: AggregateRequest): object {
  return Object.fromEntries([
    ...groups.map(({ name, type }, i) => [name, finished(values[i], type)] as const),
    ...results.map((result, i) => [result.name, finishedResult(values[groups.length + i], result)] as const),
  ]);
}

function finishedResult(value: unknown, { compute, column }: AggregateRequest["results"][number]): unknown {
  switch (compute) {
    case "count":
    case "count_distinct":
      return value;
    case "avg":
      return finished(value, "real");
    case "sum":
      return column!.type === "integer" ? integerOf(value) : finished(value, "real");
    case "min":
    case "max":
      return finished(value, column!.type);
  }
}

function finished(value: unknown, type: string): unknown {
  if (type === "real") return realOf(value);
  return type === "blob" && typeof value === "string" ? toBase64(fromHex(value)) : value;
}

/**
 * Returns a sum of integers as the answer shows it: a number where a JavaScript number is exact, or else its decimal
 * digits as text; null where there was nothing to sum.
 */
function integerOf(value: unknown): number | string | null {
  if (value === null) return null;
  const [high, low] = value as [string, number];
  const sum = BigInt(high) * 4_294_967_296n + BigInt(low);
  return isSafe(sum) ? Number(sum) : String(sum);
}

function tooManyRows(scanLimit: number): Refusal {
  return badRequest(`there are more than ${scanLimit} rows to aggregate: a filter that an index serves would help`);
}

function notNumbers({ name, type }: { readonly name: string; readonly type: string }): Refusal {
  return badRequest(`${name}: a value is stored that is no ${type === "real" ? "number" : "integer"}`);
}

const tooLarge = badRequest("the page is too large: a smaller limit would help");
