import { describe, expect, it } from "vitest";
import { applySafe } from "../../../src/schema/apply.js";
import { planChange } from "../../../src/schema/plan/plan.js";
import { client } from "../../support/client.js";
import { apiKey, serve } from "../../support/server.js";
import { applied, apply, emptyDatabase, rows, run } from "./support.js";

const column = "    a: { type: text }\n";
const table = (strict: boolean, more = "", rest = "") =>
  `t:\n  strict: ${strict}\n  columns:\n    id: { type: integer, primary_key: true }\n${column}${more}${rest}`;
const other = "    b: { type: text }\n";

/** The rows and the milliseconds of the steps that make writes wait, by their kinds. */
async function waits(from: string, to: string) {
  const database = emptyDatabase();
  await applied(database, from);
  await run(
    database,
    "INSERT INTO t (id) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n",
  );
  const planned = await planChange(database, to);
  if (planned.outcome !== "planned") throw new Error(JSON.stringify(planned));
  const { steps } = planned.plan;
  expect(steps.every((step) => Number.isInteger(step.rows) && Number.isInteger(step.writes_wait_ms))).toBe(true);
  return steps.filter((step) => step.writes_wait_ms > 0).map((step) => [step.kind, step.rows]);
}

describe("a step says how many rows it passes over while writes wait", () => {
  const history = "  history: forever\n";
  it.each([
    ["a column of a STRICT table", table(true), table(true, other), [["add_column", 1000]]],
    ["a column of another table", table(false), table(false, other), []],
    [
      "one with a check",
      table(false),
      table(false, `    b: { type: text, check: "b > ''" }\n`),
      [["add_column", 1000]],
    ],
    ["an index", table(true), table(true, "", "  indexes: [{ columns: [a] }]\n"), [["create_index", 1000]]],
    ["a search", table(true), table(true, "", "  search: [a]\n"), [["create_search", 1000]]],
    ["a dropped column", table(true, other), table(true), [["drop_column", 1000]]],
    [
      "a dropped table",
      `${table(true)}u:\n  columns: { id: { type: text, primary_key: true } }\n`,
      `u:\n  columns: { id: { type: text, primary_key: true } }\n`,
      [["drop_table", 1000]],
    ],
    ["a rebuild", table(true), table(true).replace("type: text", "type: text, default: x"), [["rebuild_table", 1000]]],
    ["a history", table(true), table(true, "", history), []],
    [
      "the history of a renamed column",
      table(true, "", history),
      table(true, "", history).replace("a: { ", "b: { renamed_from: a, "),
      [["create_history", 1000]],
    ],
    ["a renamed column", table(true), table(true).replace("a: { ", "b: { renamed_from: a, "), []],
    [
      "a new table and its index",
      table(true),
      `${table(true)}u:\n  columns: { id: { type: text, primary_key: true }, b: { type: text } }\n  indexes: [{ columns: [b] }]\n`,
      [],
    ],
  ])("%s", async (_, from, to, expected) => {
    expect(await waits(from, to)).toEqual(expected);
  });
});

it("at a start, a step that passes over more rows is left for a person, if writes wait for it", async () => {
  const database = emptyDatabase();
  await applied(database, table(true));
  await run(database, "INSERT INTO t (a) VALUES ('x'), ('y'), ('z')");
  const indexed = table(true, "", "  indexes: [{ columns: [a] }]\n");
  const atStart = (text: string, rowsMax: number) => applySafe(database, text, { now: 1, rowsMax });
  const refused = await atStart(indexed, 2);
  expect(refused).toMatchObject({
    outcome: "refused",
    reason: "destructive",
    steps: [{ kind: "create_index", safe: true, rows: 3 }],
  });
  expect(await rows(database, "SELECT count(*) FROM _schema")).toEqual([[1]]);
  // Nothing waits for a rename.
  expect(await atStart(table(true).replace("a: { ", "b: { renamed_from: a, "), 0)).toMatchObject({
    outcome: "applied",
  });
  expect(await atStart(indexed.replace("a: { ", "b: { renamed_from: a, ").replace("[a]", "[b]"), 3)).toMatchObject({
    outcome: "applied",
  });
  // A person's command is not bounded.
  expect(await apply(database, table(true).replace("a: { ", "b: { default: x, "))).toMatchObject({
    outcome: "applied",
  });
});

it("a plan over HTTP has the rows and the time of each step", async () => {
  const server = await serve({ schema: table(true) });
  const key = client(server, await apiKey(server, "project:backend"));
  await key.post("/api/t", { a: "x" });
  const headers = { "Content-Type": "application/yaml" };
  const answer = await key.send("POST", "/admin/api/schema/plan", { body: table(true, other), headers });
  expect(answer.body).toMatchObject({
    data: { steps: [{ kind: "add_column", rows: 1, writes_wait_ms: 1 }] },
  });
});
