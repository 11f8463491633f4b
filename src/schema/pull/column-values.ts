import type { Database } from "../../platform/database.js";
import { type ColumnValues, exactIntegerMax } from "../../sqlite/column-type.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import type { PhysicalTable } from "../physical/physical.js";

/** Counts how many values of each kind each of the given columns holds, in one pass over the table. */
export async function columnValues(
  database: Database,
  table: PhysicalTable,
  columns: readonly string[],
): Promise<ReadonlyMap<string, ColumnValues>> {
  const counts = columns.flatMap((name) =>
    conditions(quoteName(name)).map((each) => `count(*) FILTER (WHERE ${each})`),
  );
  const sql = `SELECT ${counts.join(", ")} FROM ${quoteName(table.name)}`;
  const [result] = await database.query([{ sql, params: [] }]);
  const numbers = result!.rows[0]!.map(Number);
  const width = conditions("").length;
  return new Map(columns.map((name, at) => [name, valuesFrom(numbers.slice(at * width, (at + 1) * width))]));
}

function conditions(column: string): string[] {
  const is = (type: string) => `typeof(${column}) = '${type}'`;
  // The column may have a collation that this database engine does not have: comparing would fail without COLLATE
  // BINARY.
  const binary = `(${column} COLLATE BINARY)`;
  return [
    is("integer"),
    `${is("integer")} AND ${binary} IN (0, 1)`,
    `${is("integer")} AND ${binary} NOT BETWEEN -${exactIntegerMax} AND ${exactIntegerMax}`,
    is("real"),
    is("text"),
    `${is("text")} AND json_valid(${column})`,
    is("blob"),
  ];
}

function valuesFrom(counts: readonly number[]): ColumnValues {
  const [integers = 0, zeroOrOne = 0, beyondReal = 0, reals = 0, texts = 0, jsons = 0, blobs = 0] = counts;
  return { integers, zeroOrOne, beyondReal, reals, texts, jsons, blobs };
}
