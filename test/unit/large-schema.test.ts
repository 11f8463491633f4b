import { expect, test } from "vitest";
import { parseSchema } from "../../src/project/parse-schema.js";

/** So many that time which grows with their square would exceed the test's. */
const names = Array.from({ length: 20_000 }, (_, i) => `n${i}`);
const columns = (column: string) =>
  `t:\n  columns:\n${names.map((name) => `    ${name}: ${column}\n`).join("")}`;
const referring = (name: string) =>
  `${name}: { columns: { r: { type: integer, references: { table: x${name} } } } }\n`;

test.each([
  ["references to unknown tables", names.slice(0, 8000).map(referring).join(""), 8000],
  // One problem is that there are too many columns.
  ["checks", columns('{ type: integer, check: "n1 > 0" }'), 1],
  [
    "unknown columns",
    `${columns("{ type: text }")}  unique: [[${names.map((name) => `x${name}`)}]]\n`,
    20_001,
  ],
])("a file of thousands of %s is checked in time", { timeout: 30_000 }, (_, text, count) => {
  expect(parseSchema(text).problems).toHaveLength(count);
});
