import { bytesOver } from "../../http/body.js";
import { isRefusal, type Refusal } from "../../http/refusal.js";
import type { SqlValue } from "../../platform/database.js";
import type { Memo } from "../../platform/memo.js";
import type { Column } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { existsIn } from "../../rules/walk.js";
import { sqlTableName } from "../../sqlite/names.js";
import { type Access, deniedBy } from "../access/access.js";
import type { WriteExecution } from "../execution/execution.js";
import { bindCounted } from "../plan/plan-check.js";
import type { RowValues } from "../request/row-request.js";
import { withManaged } from "../row/managed-values.js";
import { ignored } from "../row/refused-write.js";
import { asSent, insertOf, type RowWrite, returnedOf, type WriteTarget } from "../row/row-write.js";
import { triggersOf } from "../row/sent-write.js";
import { type BulkStatement, bulkInsertStatement, rowsText, scaledIn } from "../sql/bulk.js";
import { returnedRow } from "../sql/returning.js";
import { bind, bindValue } from "../sql-text/fragment.js";
import type { WriteStep } from "./step.js";

/** Up to how many bytes of JSON rows are sent as one parameter, of which D1 takes 2 MB, and not one by one. */
const textBytesMax = 1_900_000;
/** With more rows than this, the statement that creates them counts as long work (`Duration`). */
const shortRowsMax = 64;

/**
 * Makes the step that creates several rows by one statement, or returns the refusal of a row. Returns null where the
 * rows have to be written one by one. That is so, for example, where a rule looks into the table that is written, or
 * where a row lacks a column that others give and whose default is an SQL expression.
 */
export function bulkStep(
  target: WriteTarget,
  bulk: Memo<BulkStatement>,
  sent: readonly RowValues[],
  execution: WriteExecution,
): WriteStep | Refusal | null {
  const { access } = target;
  if (!access.table.strict || access.callerOrNull.size > 0 || !isJudgedAlone(access)) return null;
  const columns = [...new Set(sent.flatMap((row) => [...row.keys()]))].map((each) => access.table.columns.get(each)!);
  const rows = sent.map((row) => filled(row, columns));
  if (rows.some((row) => row === null)) return null;
  // Each row is read as if it were created by itself, so that a row that would be refused is refused before anything is
  // sent.
  const write = (index: number) => insertOf(target, sent[index]!, execution);
  for (const index of sent.keys()) {
    const single = write(index);
    if (isRefusal(single)) return single.of(`row ${index}`);
  }
  const managed = rows.map((row) => withManaged("insert", access.managed, row!, execution));
  const given = [...(managed[0]?.keys() ?? [])].map((each) => access.table.columns.get(each)!);
  if (given.length === 0) return null;
  const step = stepOf(managed, given, {
    target,
    bulk,
    returned: returnedOf(access, new Map(columns.map((column) => [column.name, null]))),
    execution,
    write: (index) => write(index) as RowWrite,
  });
  return step;
}

/**
 * Whether what the rules decide about a row cannot depend on the rows that the same request creates before it. Where a
 * trigger may ignore a row, false is returned too: a single statement would not tell which row was ignored.
 */
function isJudgedAlone({ table, catalog, rule, readRule }: Access): boolean {
  const looked = [rule, readRule].flatMap((each: Expression) => existsIn(each)).map((node) => sqlTableName(node.table));
  const triggers = catalog.tables.get(table.name)!.triggers.insert;
  if (triggers.ignore) return false;
  return looked.length === 0 || (!triggers.run && !looked.includes(table.name));
}

/**
 * Returns the row with a value for each of these columns: its own, else the column's default. Returns null where such a
 * default is an SQL expression: a statement that creates several rows cannot leave a column to its default in some of
 * them alone.
 */
function filled(row: RowValues, columns: readonly Column[]): RowValues | null {
  const values = new Map<string, SqlValue>();
  for (const column of columns) {
    const value = row.get(column.name);
    const fallback = column.default;
    if (value !== undefined) values.set(column.name, value);
    else if (fallback === null) values.set(column.name, null);
    else if (fallback.kind === "sql") return null;
    else values.set(column.name, typeof fallback.value === "boolean" ? BigInt(fallback.value) : fallback.value);
  }
  return values;
}

/**
 * What `stepOf` needs, beside the rows, to make the step that creates several rows, and to make it again for only the
 * first of them, when the row is looked for that the database refuses.
 */
interface Making {
  readonly target: WriteTarget;
  readonly bulk: Memo<BulkStatement>;
  readonly returned: ReturnType<typeof returnedOf>;
  readonly execution: WriteExecution;
  readonly write: (index: number) => RowWrite;
}

function stepOf(rows: readonly RowValues[], given: readonly Column[], making: Making): WriteStep | null {
  const { target, bulk, returned, execution, write } = making;
  const { table, catalog, rule, key, writeOnlyKey } = target.access;
  const scaled = scaledIn(rows);
  const text = rowsText(rows, given);
  if (bytesOver(text, textBytesMax)) return null;
  const shape = key && `${key}\n${given.map((column) => column.name).join()}\n${[...scaled].join()}`;
  const statement = bulk.get(shape, () => bulkInsertStatement(table, given, scaled, rule, returned, catalog));
  const own = new Map<string, SqlValue>([
    ["rows", text],
    ["count", BigInt(rows.length)],
  ]);
  const values = [own, execution.values];
  const bound = bindCounted(statement, values);
  const probes = statement.probes === null ? [] : [bindValue(statement.probes, values)];
  const first = write(0);
  return {
    statements: (abort) => [
      ...probes,
      bound.statement,
      bind(statement.guard, [new Map([["abort", abort]]), ...values]),
    ],
    read: (results) => {
      const probed = probes.length === 0 ? 0 : (results[0]!.rows[0]![0] as number);
      const { rows: written, rowsWritten } = results[probes.length]!;
      const shown = written.map(([row]) => returnedRow(row as string));
      return {
        rows: shown.map(({ json }, index) => ({
          json: writeOnlyKey ? asSent(json, write(index)) : json,
          isNew: true,
        })),
        write: first,
        asked: [bound],
        rowsRead: triggersOf(first).read ? null : shown.reduce((sum, row) => sum + row.probed, probed),
        rowsWritten,
      };
    },
    refused: (reason) => {
      const [, index, why] = /^(\d+):(.*)$/.exec(reason)!;
      const refusal = why === "ignored" ? ignored : deniedBy(table, "create");
      return { refusal, differing: null, part: Number(index) };
    },
    writes: [first],
    duration: statement.exact && rows.length <= shortRowsMax ? "short" : "long",
    answer: { source: statement.answer, isBefore: false, values },
    asked: [bound],
    parts: {
      count: rows.length,
      first: (count) => stepOf(rows.slice(0, count), given, making)!,
      write,
    },
  };
}
