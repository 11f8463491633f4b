import { toBase64 } from "../../encoding/base64.js";
import { fromHex } from "../../encoding/hex.js";
import { realOf, type ShownColumn } from "./wire.js";

type WireRow = Record<string, unknown>;

/**
 * Turns JSON text of a row or an array of rows, as `jsonObject` wrote it, into the form that is answered: reals in
 * JavaScript's shortest spelling, blobs as base64. Text of columns of other types is returned as it is.
 */
export function finishRows(text: string, columns: readonly ShownColumn[]): string {
  const finished = columns.filter(({ type }) => type === "blob" || type === "real");
  if (finished.length === 0) return text;
  const value: WireRow | WireRow[] = JSON.parse(text);
  for (const row of Array.isArray(value) ? value : [value]) finishRow(row, finished);
  return JSON.stringify(value);
}

function finishRow(row: WireRow, columns: readonly ShownColumn[]): void {
  for (const { name, type } of columns) {
    const value = row[name];
    if (type === "real") row[name] = realOf(value);
    else if (typeof value === "string") row[name] = toBase64(fromHex(value));
    else if (isPreview(value)) row[name] = { ...value, $preview: toBase64(fromHex(value.$preview)) };
  }
}

/** Whether a blob comes as its beginning (`Cut`). */
function isPreview(value: unknown): value is { readonly $preview: string } {
  return typeof value === "object" && value !== null && "$preview" in value;
}
