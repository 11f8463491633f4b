import type { Result } from "../../platform/database.js";
import { isUnjudged } from "../plan/access-path.js";
import type { ListPlan } from "../plan/list-plan.js";
import { type ExpandedStep, expandedSteps } from "./expanded-rows.js";

/** What the single row of the result of `listStatement` says about a page. */
export interface PageReport {
  readonly rows: string | null;
  /** How many rows of the list were found for the page: at most one more than its limit. */
  readonly found: number;
  /** How many of them the page has: its limit, or fewer where the rows are large. */
  readonly fitting: number;
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
  /** How many rows the ways have found on their way to the listed table. */
  readonly links: number;
  /**
   * What was measured for `contains` filters before any text was searched: how many candidates would be searched, and
   * whether the search is within its budget (`fits`). Null where nothing was measured.
   */
  readonly searched: { readonly candidates: number; readonly fits: boolean } | null;
  /** What was found for each step of the expansions, in the order of `stepsIn`. */
  readonly expanded: readonly ExpandedStep[];
  /** The place of the page in the log of changes; null unless the page is for a client's copy. */
  readonly position: LogPosition | null;
}

/** A place in the log of changes: the number of the newest entry, and its witness; 0 and null for the empty log. */
export interface LogPosition {
  readonly seq: number;
  readonly witness: string | null;
}

/** Reads the row that `listStatement` returns. `skip` is how many rows the page leaves out before it. */
export function reportOf(
  { rows: [row] }: Result,
  { path, scanLimit, copies }: ListPlan,
  limit: number,
  skip: number,
): PageReport {
  const [found, fitting, rows, lastKey, counted, examined, gateVisits, searched, ...expanded] = row as PageReportRow;
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
    fitting,
    lastKey,
    counted:
      candidates === undefined ? null : { candidates, authorized: authorized!, probed, toTheEnd: toTheEnd === 1 },
    examined: walked === undefined ? null : { candidates: walked, probed: walkedProbed },
    gateVisits: visits,
    links,
    searched: measured === undefined ? null : { candidates: measured, fits: fits === 1 },
    expanded: copies ? [] : expandedSteps(expanded),
    position: copies ? positionOf(expanded[0]!) : null,
  };
}

function positionOf(text: string): LogPosition {
  const [seq, witness] = JSON.parse(text);
  return { seq, witness };
}

/** The row that the statement of a page returns: the columns of `listStatement`, in their order. */
type PageReportRow = readonly [
  found: number,
  fitting: number,
  rows: string | null,
  lastKey: string | null,
  counted: string | number | null,
  examined: string | null,
  gateVisits: number | string,
  searched: string | null,
  ...expanded: readonly (string | null)[],
];

/** Reads the numbers in a column, which is a number, a JSON array of numbers, or NULL for none. */
function numbers(value: string | number | null): readonly number[] {
  if (typeof value === "string") return JSON.parse(value);
  return value === null ? [] : [value];
}

/**
 * `rows_read` of the answer (`docs/reference/metering.md#what-is-counted`): the candidates whose text was measured,
 * those that were examined for the count and for the page, the rows that ways have passed, and those that were examined
 * for expansions; with all of them the rows that every `exists` looked up. `isTooMany`: no page was read.
 */
export function rowsRead(plan: ListPlan, report: PageReport, isTooMany: boolean): number {
  const { counted, examined, searched, gateVisits, links } = report;
  const pass = (part: { candidates: number; probed: number } | null) =>
    part === null ? 0 : part.candidates + part.probed;
  const expanded = report.expanded.reduce((sum, step) => sum + step.candidates + step.probed, 0);
  const once = gateVisits + links + (searched?.candidates ?? 0) + expanded;
  if (isTooMany) return pass(plan.path.ordered ? counted : examined) + once;
  // Where candidates have to be sorted, every page first counts all of them and then reads them again.
  if (!plan.path.ordered) return 2 * pass(examined) + once;
  return (plan.window.counted ? 0 : pass(counted)) + pass(examined) + once;
}
