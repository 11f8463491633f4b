import { badRequest, type Refusal } from "../../http/refusal.js";
import type { AtOnce } from "../../platform/at-once.js";
import { type Execution, read } from "../execution/execution.js";
import type { ListPlan, PathChoice } from "../plan/list-plan.js";
import type { ListRequest } from "../request/list-request.js";
import { rowSeparator } from "../sql/expansions.js";
import { finishRows } from "../sql/finish-rows.js";
import { windowEndStatement } from "../sql/list.js";
import { bind } from "../sql-text/fragment.js";
import { copiedRows } from "./copied-rows.js";
import type { CursorState, WireWindow } from "./cursor.js";
import { expandedRows } from "./expanded-rows.js";
import type { LogPosition, PageReport } from "./page-report.js";
import type { BoundList, ExpandedRequest } from "./prepare-list.js";

/** A page of a list, with the `meta` of its answer. */
export interface ListPage {
  /** The page's rows as JSON with commas between them; for a client's copy as the changes by which it gets them. */
  readonly rows: string;
  readonly rowsReturned: number;
  readonly limit: number;
  readonly offset: number;
  /** How many rows the list has, as far as they were counted; null where the request asks not to count. */
  readonly total: number | null;
  readonly truncated: boolean;
  /** The state for the cursor of the next page; null where this page is known to be the last. */
  readonly next: CursorState | null;
  readonly plan: ListPlan;
  /** How many candidates were counted for the page; null where it was read without counting. */
  readonly candidates: number | null;
  /** As in `PageReport`. */
  readonly position: LogPosition | null;
}

/** A page that has to be read again with fewer rows, because these are too large together with their expansions. */
export class TooWide {
  /** `rows` is how many rows to try. */
  constructor(readonly rows: number) {}
}

/**
 * Makes the page that was read, or a refusal where a row is too large for an answer. `end` is the key at which the
 * examined part of the table ends; null where that reaches the table's end.
 */
export async function answerOf(
  report: PageReport,
  plan: ListPlan,
  request: ExpandedRequest,
  state: CursorState,
  end: string | null,
): Promise<ListPage | Refusal | TooWide> {
  const made = rowsOf(report, plan, request);
  const rows = made instanceof Promise ? await made : made;
  if (typeof rows !== "string") return rows;
  const upTo = state.window.upTo ?? end;
  const { limit } = request;
  const returned = report.fitting;
  const next = windowAfter(state.window, plan, request, report, upTo);
  const total = state.total + (report.counted?.authorized ?? 0);
  return {
    rows,
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
    position: report.position,
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

/** Writes the rows of a page as JSON, each with its expansions. */
function rowsOf(
  { rows: read, found, fitting, expanded: related }: PageReport,
  { table, output, catalog, wide }: ListPlan,
  { expansions, copiedAs }: ExpandedRequest,
): AtOnce<string | Refusal | TooWide> {
  const isExpanded = expansions.length > 0;
  if (read === null && fitting > 0) return !isExpanded ? tooLarge : fewer(Math.floor(fitting / 2));
  // The row after the page, which was read to learn whether there are more, is left out.
  const isCut = wide === "short" && found > fitting;
  const rows = isCut ? read!.slice(0, read!.lastIndexOf(rowSeparator)) : (read ?? "");
  if (copiedAs !== null) return copiedRows(rows, copiedAs, table, output).then((changes) => changes.join());
  if (!isExpanded) return finishRows(rows, output);
  return expandedRows(rows, output, expansions, related, catalog.pageBytesMax).then(({ text, count }) =>
    count < fitting ? fewer(count) : text,
  );
}

const fewer = (rows: number) => (rows === 0 ? tooLargeExpanded : new TooWide(rows));

const tooLarge = badRequest("a row is too large for an answer: fewer columns would help");
const tooLargeExpanded = badRequest(
  "expand: a row is larger than a page together with the rows that it is expanded by: fewer of them or fewer columns would help",
);

/** Whether the page's window may have ended at the scan limit, before the end of the table. */
export function mayEndInTable(plan: ListPlan, { found, fitting, counted, examined }: PageReport): boolean {
  const { path, scanLimit, window } = plan;
  if (!path.ordered || window.upTo !== null || counted?.toTheEnd) return false;
  return found > fitting
    ? counted !== null && !isUnconditional(plan) && counted.candidates >= scanLimit
    : (examined?.candidates ?? 0) >= scanLimit;
}

/** Finds the key of the last candidate of the window; null where the window reaches the end of the table. */
export async function endOfWindow(
  plan: ListPlan,
  { links }: PageReport,
  values: BoundList["values"],
  execution: Execution,
): Promise<string | null> {
  const { scanLimit } = plan;
  const [result] = await read(execution, [bind(windowEndStatement(plan), values)], "long");
  const [end, beyond] = result!.rows;
  // Added for metering: the statement has read the whole window, the row after it if there is one, and what is on the
  // ways to them.
  execution.tally.add(end === undefined ? null : links + scanLimit + (beyond === undefined ? 0 : 1));
  return beyond === undefined ? null : (end![0] as string);
}

/** Whether a list has no condition on its rows: its count is then unlimited (docs/reference/http.md#the-scan-limit). */
function isUnconditional({ path }: ListPlan): boolean {
  return path.rest.length === 0 && path.served.length === 0 && path.ways === null;
}

/** The window of the next page: the rest of this page's window, or the one after it; null where nothing is left. */
function windowAfter(
  { skip }: WireWindow,
  plan: ListPlan,
  { counts }: ListRequest,
  { found, fitting, lastKey, counted }: PageReport,
  upTo: string | null,
): WireWindow | null {
  if (found > fitting) return { after: lastKey!, upTo, counted: true, skip: 0 };
  if (upTo === null) return null;
  const inWindow = isUnconditional(plan) ? plan.scanLimit : (counted?.authorized ?? found);
  const skipped = found > 0 ? 0 : Math.max(0, skip - inWindow);
  const isCounted = isUnconditional(plan) || (!counts && skipped === 0);
  return { after: upTo, upTo: null, counted: isCounted, skip: skipped };
}
