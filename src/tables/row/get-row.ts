import { badRequest, type Refusal } from "../../http/refusal.js";
import type { Memo } from "../../platform/memo.js";
import { deniedBy } from "../access/access.js";
import { countedRead, type Execution, read } from "../execution/execution.js";
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

/** Reads a row by its key: its JSON text, or the refusal 403, 404, or 400 where it is too large for an answer. */
export async function getRow(
  { access, reads }: RowTarget,
  execution: Execution,
  key: RowValues,
): Promise<string | Refusal> {
  const { table, catalog, rule, preview } = access;
  const output = [...access.readable.values()];
  const get = reads.get(access.key, () => getStatement(table, slots(key, access), rule, output, catalog, preview));
  const counted = countedRead(execution, get, [execution.values, key]);
  const results = await read(execution, counted.statements, get.exact ? "short" : "long");
  const isExact = counted.isExact(results);
  const row = results[0]!.rows[0];
  if (row === undefined) {
    execution.tally.add(0);
    return notFound;
  }
  const [admitted, json, probed] = row;
  execution.tally.add(isExact ? 1 + (probed as number) : null);
  if (admitted !== 1) return deniedBy(table, "read");
  return json === null ? tooLarge : finishRows(json as string, output);
}
