/** Prints one row of a benchmark's table. */
export function row(...cells: readonly (string | number)[]): void {
  const text = cells.map((cell) => (typeof cell === "number" ? cell.toFixed(3) : cell));
  process.stdout.write(`| ${text.join(" | ")} |\n`);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}

/** Milliseconds that a piece of work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
