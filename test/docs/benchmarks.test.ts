import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const page = readFileSync("docs/benchmarks.md", "utf8");

const sources = ["test/bench", "test/faults"]
  .flatMap((directory) => readdirSync(directory).map((file) => join(directory, file)))
  .filter((path) => path.endsWith(".ts"))
  .map((path) => readFileSync(path, "utf8"));

test("every table of figures is one that a benchmark or a test of faults writes", () => {
  const tables = [...page.matchAll(/^<!-- figures: (.*) -->$/gm)].map(([, name]) => name!);
  expect(tables.length).toBeGreaterThan(0);
  for (const table of tables)
    expect(
      sources.filter((source) => source.includes(`"${table}"`)),
      table,
    ).not.toEqual([]);
  const written = sources.flatMap((source) => [...source.matchAll(/\bfigure\(\s*"([^"]+)"/g)]);
  expect(tables).toEqual(expect.arrayContaining(written.map(([, name]) => name)));
});
