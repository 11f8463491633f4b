import { expect, test, vi } from "vitest";
import { countingSteps } from "../support/steps.js";

const namesOf = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);
const columns = (count: number, column: string) =>
  `t:\n  columns:\n${namesOf(count)
    .map((name) => `    ${name}: ${column}\n`)
    .join("")}`;
const referring = (name: string) => `${name}: { columns: { r: { type: integer, references: { table: x${name} } } } }\n`;

/** More columns than a table may have. */
const manyColumns = 2_500;

test.each([
  [
    "references to unknown tables",
    500,
    (count: number) => namesOf(count).map(referring).join(""),
    (count: number) => count,
  ],
  // One problem is that there are too many columns.
  ["checks", manyColumns, (count: number) => columns(count, '{ type: text, check: "n1 > 0" }'), () => 1],
  [
    "unknown columns",
    manyColumns,
    (count: number) => `${columns(count, "{ type: text }")}  unique: [[${namesOf(count).map((name) => `x${name}`)}]]\n`,
    (count: number) => count + 1,
  ],
])("a file of four times as many %s takes four times as many steps to check", async (_, few, text, problemsOf) => {
  vi.resetModules();
  await countingSteps(
    () => import("../../src/project/parse-schema.js"),
    async ({ parseSchema }, stepsOf) => {
      const checked = async (count: number) => {
        const read = text(count);
        let found = -1;
        const steps = await stepsOf(() => {
          found = parseSchema(read).problems.length;
        });
        expect(found).toBe(problemsOf(count));
        return steps;
      };
      const [some, many] = [await checked(few), await checked(4 * few)];
      // Four times four, if they grew with the square.
      expect(many).toBeLessThan(5 * some);
    },
  );
});
