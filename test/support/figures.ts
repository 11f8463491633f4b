import { readFileSync, writeFileSync } from "node:fs";

const page = "docs/benchmarks.md";

/**
 * Prints one row of a table of docs/benchmarks.md, the one behind `<!-- figures: TABLE -->`. With FIGURES=1 the row is also
 * written there, in the place of the one that begins with the same cell.
 */
export function figure(table: string, name: string, ...cells: readonly (string | number)[]): void {
  const row = `| ${[name, ...cells.map(shown)].join(" | ")} |`;
  process.stdout.write(`${row}\n`);
  if (process.env.FIGURES === "1") writeFileSync(page, withRow(readFileSync(page, "utf8"), table, name, row));
}

function shown(cell: string | number): string {
  return typeof cell === "number" ? String(Number(cell.toPrecision(3))) : cell;
}

/** The text with the row in its table. Throws where there is no such table. */
export function withRow(text: string, table: string, name: string, row: string): string {
  const lines = text.split("\n");
  const marker = lines.indexOf(`<!-- figures: ${table} -->`);
  if (marker === -1) throw new Error(`${page} has no table of the figures "${table}"`);
  const begin = lines.findIndex((line, i) => i > marker && line.startsWith("|"));
  const size = lines.slice(begin).findIndex((line) => !line.startsWith("|"));
  const there = lines.slice(begin, begin + size).findIndex((line) => line.startsWith(`| ${name} |`));
  const [at, replaced] = there === -1 ? [begin + size, 0] : [begin + there, 1];
  return [...lines.slice(0, at), row, ...lines.slice(at + replaced)].join("\n");
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that a share of the others is not above; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Milliseconds that a piece of work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
