import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import type { Memo } from "../../platform/memo.js";
import type { Catalog } from "../../schema/catalog.js";
import { type Access, deniedBy } from "../access/access.js";
import { countedRead, type Duration, type Execution, read } from "../execution/execution.js";
import type { Counted } from "../plan/plan-check.js";
import { notFound, type RowValues } from "../request/row-request.js";
import { finishRows } from "../sql/finish-rows.js";
import { getStatement } from "../sql/row.js";
import type { Sql } from "../sql-text/fragment.js";
import { slots, type WriteTarget } from "./row-write.js";

/** What requests for single rows use: the caller's access, and the statements of earlier requests. */
export interface RowTarget extends WriteTarget {
  readonly reads: Memo<Counted<Sql>>;
}

const tooLarge = badRequest("the row is too large for an answer: list it with fewer columns");

/** How many bytes of stored values a row may have that is read in the event loop. */
const briefBytesMax = 1_048_576;

/** Reads a row by its key: its JSON text, or the refusal 403, 404, or 400 where it is too large for an answer. */
export async function getRow(target: RowTarget, execution: Execution, key: RowValues): Promise<string | Refusal> {
  const { access, reads } = target;
  const { catalog } = access;
  const answerBytesMax = execution.database.hasReadThread
    ? Math.min(catalog.answerBytesMax, briefBytesMax)
    : catalog.answerBytesMax;
  const statement = (within: Catalog) => {
    const output = [...access.readable.values()];
    return getStatement(access.table, slots(key, access), access.rule, output, within, access.preview, true);
  };
  const get = reads.get(access.key, () => statement({ ...catalog, answerBytesMax }));
  const found = await readRow(get, access, execution, key, get.exact ? "short" : "long");
  if (!isLarge(found)) return found;
  const refuse = (row: LargeRow, refusal: Refusal) => {
    execution.tally.add(row.rowsRead);
    return refusal;
  };
  if (found.bytes > catalog.answerBytesMax) return refuse(found, tooLarge);
  // Many such rows at once would take much memory before any of them is an answer.
  const busy = execution.takeRoom?.(found.bytes);
  if (busy) return refuse(found, busy);
  const whole = await readRow(statement(catalog), access, execution, key, "long");
  return isLarge(whole) ? refuse(whole, tooLarge) : whole;
}

/** A row that is too large for a statement: how many bytes it has, and how many rows were read for that. */
interface LargeRow {
  readonly bytes: number;
  readonly rowsRead: number | null;
}

function isLarge(found: string | LargeRow | Refusal): found is LargeRow {
  return typeof found === "object" && !isRefusal(found);
}

/** Reads a row by a statement of `getStatement`, and counts it unless it is too large. */
async function readRow(
  get: Counted<Sql>,
  { table, readable }: Access,
  execution: Execution,
  key: RowValues,
  duration: Duration,
): Promise<string | LargeRow | Refusal> {
  const counted = countedRead(execution, get, [execution.values, key]);
  const results = await read(execution, counted.statements, duration);
  const isExact = counted.isExact(results);
  const row = results[0]!.rows[0];
  if (row === undefined) {
    execution.tally.add(0);
    return notFound;
  }
  const [admitted, json, probed] = row;
  const rowsRead = isExact ? 1 + (probed as number) : null;
  if (admitted === 1 && typeof json === "number") return { bytes: json, rowsRead };
  execution.tally.add(rowsRead);
  if (admitted !== 1) return deniedBy(table, "read");
  return finishRows(json as string, [...readable.values()]);
}
