import { expect, it } from "vitest";
import type { Statement } from "../../src/platform/database.js";
import { followsPlan, PlanChecks } from "../../src/tables/plan/plan-check.js";
import { MemoryLog } from "../support/server.js";

const seeks = [
  { alias: "_t", columns: ["author", "n"] },
  { alias: "_x_m", columns: ["room", "user"] },
];

it.each([
  [true, "SEARCH _t USING INDEX messages(author,n) (author=? AND n>?)"],
  [true, "SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)"],
  [true, "SCAN other"],
  [true, "SCAN _page"],
  [false, "SCAN _t"],
  [false, "SCAN _t USING INDEX messages(author,n)"],
  [false, "SEARCH _t USING INDEX messages(author,n) (author=?)"],
  [false, "SEARCH _t USING INDEX messages(author,n) (ANY(author) AND n>?)"],
  [false, "SEARCH _x_m USING AUTOMATIC COVERING INDEX (room=? AND user=?)"],
  [false, "SEARCH _x_m USING INDEX members(user) (user=?)"],
])("%s for %s", (follows, detail) => {
  expect(followsPlan(["SCAN CONSTANT ROW", detail], seeks)).toBe(follows);
});

it("asks for a plan once in a minute, along with the statement, and takes back what is not so any more", async () => {
  const log = new MemoryLog();
  const plans = new PlanChecks(log);
  const statement = { sql: "SELECT 1", params: [] };
  let detail = "SEARCH _t USING INDEX a (author=? AND n>?)";
  const sent: string[][] = [];
  const send = async (statements: readonly Statement[]) => {
    sent.push(statements.map(({ sql }) => sql));
    return statements.map(({ sql }) => ({
      rows: sql.startsWith("EXPLAIN") ? [[1, 0, 0, detail]] : [],
      rowsWritten: 0,
    }));
  };
  const run = async (nowMs: number) => {
    const question = plans.questionOf({ statement, asked: statement, exact: true, seeks }, nowMs);
    return question.isExact(await send([statement, ...question.statements]));
  };
  expect(await run(0)).toBe(true);
  detail = "SCAN _t";
  expect(await run(59_999)).toBe(true);
  expect(await run(60_000)).toBe(false);
  expect(await run(60_001)).toBe(false);
  expect(sent).toEqual([
    ["SELECT 1", "EXPLAIN QUERY PLAN SELECT 1"],
    ["SELECT 1"],
    ["SELECT 1", "EXPLAIN QUERY PLAN SELECT 1"],
    ["SELECT 1"],
  ]);
  expect(log.lines).toHaveLength(1);
});
