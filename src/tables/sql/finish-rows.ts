import { toBase64 } from "../../encoding/base64.js";
import { fromHex } from "../../encoding/hex.js";
import { realOf, type ShownColumn } from "./wire.js";

type WireRow = Record<string, unknown>;

/**
 * Turns the JSON text of a row or of an array of rows, which SQL has made by `jsonObject`, into the form that is
 * answered: reals in JavaScript's shortest spelling, blobs in base64. Without columns of these types the text is
 * returned unchanged.
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

/** Whether the JSON of a blob is a preview (`Cut`): an object with the first bytes of a long value. */
function isPreview(value: unknown): value is { readonly $preview: string } {
  return typeof value === "object" && value !== null && "$preview" in value;
}
