import type { ResultValue } from "../../platform/database.js";

/** A row as libsql returns it, with all integers as bigint. */
export type NativeRow = (null | bigint | number | string | Buffer)[];

/**
 * Turns bigint into number, and Buffer into Uint8Array. The rows are changed in place, because copying them would take
 * a third of the time that reading the list takes.
 */
export function fromNative(rows: NativeRow[]): readonly (readonly ResultValue[])[] {
  for (const row of rows) {
    for (let index = 0; index < row.length; index++) {
      const value = row[index]!;
      if (typeof value === "bigint") row[index] = Number(value);
      else if (value instanceof Uint8Array) (row as ResultValue[])[index] = new Uint8Array(value);
    }
  }
  return rows as ResultValue[][];
}
