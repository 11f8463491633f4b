import { toBase64 } from "../encoding/base64.js";
import { fromHex } from "../encoding/hex.js";
import type { Column } from "../project/model.js";

type Row = Record<string, unknown>;

/**
 * JSON text of one row or of an array of rows as SQLite wrote it, in its final form: reals in JavaScript's shortest
 * spelling, blobs as base64. Most tables need nothing.
 */
export function finishRows(text: string, columns: readonly Column[]): string {
  const blobs = columns.filter(({ type }) => type === "blob");
  if (blobs.length === 0 && !columns.some(({ type }) => type === "real")) return text;
  const value: Row | Row[] = JSON.parse(text);
  for (const row of Array.isArray(value) ? value : [value]) finishBlobs(row, blobs);
  return JSON.stringify(value);
}

function finishBlobs(row: Row, columns: readonly Column[]): void {
  for (const { name } of columns) {
    const value = row[name];
    if (typeof value === "string") row[name] = toBase64(fromHex(value));
  }
}
