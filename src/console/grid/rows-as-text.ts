import type { TableRow } from "../server/table-row.js";

/**
 * Writes rows as CSV (RFC 4180). NULL becomes an empty field, and a JSON value its JSON text. A text that a spreadsheet
 * would take for a formula gets an apostrophe in front of it. Otherwise anybody who may write a row could run a formula
 * on the computer of the person who opens the file.
 */
export function csvOf(columns: readonly string[], rows: readonly TableRow[]): string {
  const lines = [columns.map(quoted), ...rows.map((row) => columns.map((name) => field(row[name])))];
  return lines.map((fields) => `${fields.join(",")}\r\n`).join("");
}

function field(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return quoted(/^[=+\-@\t\r]/.test(value) && !isNumber(value) ? `'${value}` : value);
  return quoted(typeof value === "object" ? JSON.stringify(value) : String(value));
}

const isNumber = (text: string) => /^-?\d+(\.\d+)?$/.test(text);

function quoted(text: string): string {
  // Two quotes tell an empty text from NULL, an empty field.
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Each row on a line of its own. */
export function jsonOf(rows: readonly TableRow[]): string {
  return rows.length === 0 ? "[]\n" : `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`;
}
