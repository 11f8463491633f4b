/**
 * The text by which a cell is copied: a text as it is, any other value as JSON. As in spreadsheets, a text that would
 * be read as several cells, or that begins with a quote, stands between quotes, and its own quotes are doubled.
 */
export function copiedCell(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value ?? null);
  return /^"|[\t\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

// A cell and what ends it. A quote that no quote closes before the end of a cell belongs to its text: `"so-called`.
const cell = /(?:"([^"]*(?:""[^"]*)*)"(?=[\t\r\n]|$)|([^\t\r\n]*))(\t|\r\n?|\n|$)/g;

/**
 * Reads what was copied in a spreadsheet or a grid: tabs between cells, and a line for each row. A cell with tabs, line
 * breaks or quotes stands between quotes, and its own quotes are doubled.
 */
export function pastedCells(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [[]];
  for (const { 1: quoted, 2: plain, 3: end } of text.matchAll(cell)) {
    rows.at(-1)!.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    if (end === "") break;
    if (end !== "\t") rows.push([]);
  }
  // The line break after the last row begins no further row.
  const isLastEmpty = rows.length > 1 && rows.at(-1)!.length === 1 && rows.at(-1)![0] === "";
  return isLastEmpty ? rows.slice(0, -1) : rows;
}
