import type { Row } from "../server/shapes.js";

/**
 * Rows as CSV (RFC 4180). NULL is empty, JSON is as in JSON. A text that a spreadsheet would take for a formula gets an
 * apostrophe before it, because anybody who may write a row could otherwise run one on the computer of whoever opens the file.
 */
export function csvOf(columns: readonly string[], rows: readonly Row[]): string {
  const lines = [columns.map(quoted), ...rows.map((row) => columns.map((name) => field(row[name])))];
  return lines.map((fields) => `${fields.join(",")}\r\n`).join("");
}

function field(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string")
    return quoted(/^[=+\-@\t\r]/.test(value) && !isNumber(value) ? `'${value}` : value);
  return quoted(typeof value === "object" ? JSON.stringify(value) : String(value));
}

const isNumber = (text: string) => /^-?\d+(\.\d+)?$/.test(text);

function quoted(text: string): string {
  // An empty text is told from NULL by its quotes.
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows as JSON, one row a line. */
export function jsonOf(rows: readonly Row[]): string {
  return rows.length === 0 ? "[]\n" : `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`;
}
