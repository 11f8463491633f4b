import { expect, it } from "vitest";
import { type Database, DeadlineError, QueueFullError, type Statement } from "../../../src/platform/database.js";
import type { Explanation } from "../../../src/wire/explanation.js";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { serve } from "../../support/server.js";

const schema = `
posts:
  columns: { id: { type: integer, primary_key: true }, owner: { type: text }, tag: { type: text } }
tags:
  columns: { id: { type: integer, primary_key: true }, name: { type: text }, by: { type: text } }
`;
// No index serves the exists, so that each may read all of its table.
const config = `
[rules.posts]
read = "row.owner = auth.id and (exists(tags t where t.name = row.tag) or exists(tags u where u.by = auth.id))"
`;

/** A database in which statements that `isSlow` of do not end in time. */
function slowed(isSlow: (statement: Statement) => boolean, error: () => Error) {
  return (database: Database): Database => ({
    foreignKeysStayOn: database.foreignKeysStayOn,
    answerBytesMax: database.answerBytesMax,
    imageBytesMax: database.imageBytesMax,
    statementsMax: database.statementsMax,
    query: async (statements, long) => {
      if (statements.some((each) => !each.sql.startsWith("EXPLAIN ") && isSlow(each))) throw error();
      return database.query(statements, long);
    },
    batch: (...args) => database.batch(...args),
    migrate: (...args) => database.migrate(...args),
    close: () => database.close(),
  });
}

async function explained(
  isSlow: (statement: Statement) => boolean,
  error: () => Error = () => new DeadlineError("too long"),
  question: object = { key: { id: 1 } },
): Promise<Explanation> {
  const server = await serve({ schema, config, wrap: slowed(isSlow, error) });
  const root = client(server, (await member(server, "root", "admin")).bearer);
  await member(server, "ada");
  await run(server, "INSERT INTO posts VALUES (1, 'ada', 'a')");
  await run(server, "INSERT INTO tags VALUES (1, 'a', 'bob')");
  const asked = { as: { user: "ada" }, action: "read", table: "posts", ...question };
  return dataOf(await root.post("/admin/api/explain", asked));
}

const truths = ({ terms }: Explanation) => terms.map(({ truth, unfinished }) => (unfinished ? "…" : truth));
const asksTerm = (alias: string) => (statement: Statement) =>
  /^SELECT NULL AS admitted/.test(statement.sql) && statement.sql.includes(`"_x_${alias}"`);

it("a term that does not end in time is unfinished, and the others are not", async () => {
  const explanation = await explained(asksTerm("t"));
  expect(truths(explanation)).toEqual([true, "…", false]);
  expect(explanation).toMatchObject({ allowed: true, reason: "the rule is TRUE" });
  expect(explanation.indexes).toEqual([
    { table: "tags", columns: ["name"] },
    { table: "tags", columns: ["by"] },
  ]);
  expect(explanation.rows_read).toBeNull();
});

it("a rule that does not end in time is neither allowed nor denied", async () => {
  const explanation = await explained(({ sql }) => sql.includes("SELECT admitted FROM"));
  expect(explanation).toMatchObject({
    allowed: null,
    reason: "whether the rule is TRUE was not found out",
    refusal: null,
  });
  expect(truths(explanation)).toEqual([true, true, false]);
});

it("what the queue has no room for is unfinished, too", async () => {
  const explanation = await explained(asksTerm("u"), () => new QueueFullError("too much waits"));
  expect(truths(explanation)).toEqual([true, true, "…"]);
});

it("a list that does not end in time still tells of its terms", async () => {
  const isList = ({ sql }: Statement) => sql.startsWith("WITH ") && sql.includes("_page");
  const explanation = await explained(isList, () => new DeadlineError("too long"), {});
  expect(explanation).toMatchObject({ allowed: null, reason: "the list was not read in time" });
  expect(explanation).not.toHaveProperty("counts");
  expect(explanation.terms.map(({ counts }) => counts)).toEqual([
    { true: 1, false: 0, null: 0 },
    { true: 1, false: 0, null: 0 },
    undefined,
  ]);
});

it("nothing is sent that writes", async () => {
  const batches: string[] = [];
  let isWatched = false;
  const server = await serve({
    schema,
    config: `${config}create = "new.owner = auth.id"\nupdate = "row.owner = auth.id"\ndelete = "row.owner = auth.id"\n`,
    wrap: (database) => ({
      ...slowed(
        () => false,
        () => new Error(),
      )(database),
      batch: (statements, long) => {
        if (isWatched) batches.push(...statements.map(({ sql }) => sql));
        return database.batch(statements, long);
      },
    }),
  });
  const root = client(server, (await member(server, "root", "admin")).bearer);
  await member(server, "ada");
  await run(server, "INSERT INTO posts VALUES (1, 'ada', 'a')");
  isWatched = true;
  for (const question of [
    { action: "create", values: { owner: "ada" } },
    { action: "update", key: "1", values: { tag: "b" } },
    { action: "delete", key: "1" },
    { action: "read" },
  ]) {
    const asked = { as: { user: "ada" }, table: "posts", ...question };
    expect(dataOf<Explanation>(await root.post("/admin/api/explain", asked)).allowed).toBe(true);
  }
  expect(batches).toEqual([]);
  expectRefusal(await root.post("/admin/api/explain", {}), 400, "bad_request");
});
