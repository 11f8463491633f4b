import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { openLibsql } from "../../src/node/database/libsql.js";
import { parseSchema } from "../../src/project/parse-schema.js";
import { type ApplyOutcome, applyChange } from "../../src/schema/apply.js";
import { blocksOf } from "./pages.js";

const page = readFileSync("docs/reference/schema.md", "utf8");
const between = (marker: string) => page.split(`<!-- ${marker} -->\n`)[1]!.split("<!-- end -->")[0]!;

const examples = blocksOf("docs/reference/schema.md").filter(({ language }) => language === "yaml");

it.each(examples)("the example under $heading is a schema", ({ text }) => {
  expect(parseSchema(text).problems).toEqual([]);
});

it("the functions that the page lists can be called", () => {
  for (const [, name] of between("functions").matchAll(/`(\w+)`/g)) {
    const text = `t: { columns: { a: { type: text, primary_key: true, check: "${name}(a) is not null" } } }`;
    expect(parseSchema(text).problems, name).toEqual([]);
  }
});

/** What becomes of a change of the schema, over a database that holds what `sql` writes. */
async function changed(before: string, after: string, ...sql: string[]): Promise<string> {
  const database = openLibsql({ path: ":memory:", synchronous: "normal" });
  onTestFinished(() => database.close());
  const options = { allowDestructive: false, now: 0 };
  await applyChange(database, before, options);
  await database.batch(sql.map((text) => ({ sql: text, params: [] })));
  const outcome: ApplyOutcome = await applyChange(database, after, options);
  return outcome.outcome === "refused" ? outcome.reason : outcome.outcome;
}

const table = (more: string) => `t:\n  columns:\n    id: { type: integer, primary_key: true }\n${more}`;
const column = (text: string) => table(`    a: { ${text} }\n`);

describe("the page's table of conversions", () => {
  const [head = [], , ...rows] = between("conversions")
    .trim()
    .split("\n")
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const pairs = rows.flatMap(([from, ...cells]) => cells.map((said, i) => ({ from, to: head[i + 1], said })));
  const said: Record<string, string> = {
    applied: "safe",
    destructive: "asks",
    constraint: "no",
    unchanged: "",
  };

  it.each(pairs)("$from to $to: $said", async (pair) => {
    const outcome = await changed(column(`type: ${pair.from}`), column(`type: ${pair.to}`));
    expect(said[outcome]).toBe(pair.said);
  });
});

describe("the page's table of hazards", () => {
  const row = "INSERT INTO t (id) VALUES (1)";
  const a = "type: integer";

  it.each([
    ["a new column that may be NULL", table(""), column(a), "applied"],
    ["a new column with a default", table(""), column(`${a}, not_null: true, default: 0`), "applied"],
    ["a new column without one", table(""), column(`${a}, not_null: true`), "constraint"],
    ["a column dropped", column(a), table(""), "destructive"],
    ["a new check that rows break", column(a), column(`${a}, check: "id > 1"`), "constraint"],
    ["a new check that holds", column(a), column(`${a}, check: "id = 1"`), "applied"],
    ["a new index", column(a), `${column(a)}  indexes: [{ columns: [a] }]\n`, "applied"],
    ["a column renamed", column(a), table("    b: { type: integer, renamed_from: a }\n"), "applied"],
    [
      "another key",
      column(a),
      "t: { columns: { id: { type: integer }, a: { type: integer, primary_key: true } } }",
      "constraint",
    ],
  ])("%s", async (_, before, after, outcome) => {
    expect(await changed(before, after, row)).toBe(outcome);
  });
});
