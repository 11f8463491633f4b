import { expect, test, vi } from "vitest";
import type { Database, Statement } from "../../src/platform/database.js";
import { follow, type Run } from "../conformance/changes/follow.js";
import { NotFollowedError } from "../support/copy.js";
import { rowsOf, run } from "../support/people.js";
import type { TestProject, TestServer } from "../support/server.js";
import { Random } from "./support/random.js";

/**
 * Faults that a server could have when it tells what has changed, put into its statements or triggers. Following random
 * histories has to find each of them. `SEED=…` repeats a run,
 * `FAULTS=all` tries each of them.
 */
const histories = Number(process.env.HISTORIES ?? 200);
vi.setConfig({ testTimeout: 900_000 + 10 * histories * 10_000 });

/** Rewrites the statements that tell what has changed: those between the two names, or all where they are not there. */
function rewritten(rewrite: (sql: string) => string): Partial<TestProject> {
  const each = (statement: Statement) =>
    statement.sql.includes("_p AS MATERIALIZED") ? { ...statement, sql: rewrite(statement.sql) } : statement;
  return {
    wrap: (database): Database => ({
      ...database,
      foreignKeysStayOn: database.foreignKeysStayOn,
      answerBytesMax: database.answerBytesMax,
      imageBytesMax: database.imageBytesMax,
      statementsMax: database.statementsMax,
      query: (statements, long) => database.query(statements.map(each), long),
      batch: (statements, long) => database.batch(statements, long),
      migrate: (statements, long) => database.migrate(statements, long),
      close: () => database.close(),
    }),
  };
}

/** Applies `change` to the part of a statement from the beginning of one common table expression to that of another. */
function within(sql: string, from: string, to: string, change: (part: string) => string): string {
  const [begin, end] = [sql.indexOf(`${from} AS MATERIALIZED`), sql.indexOf(`${to} AS MATERIALIZED`)];
  if (begin === -1) return sql;
  return sql.slice(0, begin) + change(sql.slice(begin, end)) + sql.slice(end);
}

/** Rewrites the condition by which only rows are looked at that a first copy has come to. */
function copiedPart(sql: string, change: (condition: string) => string): string {
  const end = sql.indexOf(" LIMIT 50001");
  const begin = sql.lastIndexOf(") WHERE ", end) + ") WHERE ".length;
  const condition = sql.slice(begin, end);
  return end === -1 || condition === "1" ? sql : sql.slice(0, begin) + change(condition) + sql.slice(end);
}

/** Makes the triggers of a table's log anew, with another text. */
const retriggered = (event: string, change: (sql: string) => string) => async (server: TestServer) => {
  const name = `_svc_log_messages_${event}`;
  const [[sql]] = (await rowsOf(server, "SELECT sql FROM sqlite_master WHERE name = ?", name)) as [[string]];
  expect(change(sql)).not.toBe(sql);
  await run(server, `DROP TRIGGER "${name}"`);
  await run(server, change(sql));
};

/** Mistakes in a first copy show only where a row changes while the copy is under way, so they take more tries. */
const inCopies = { scanLimit: 3, histories: 2 * histories };

const faults: Record<string, Partial<Run>> = {
  "rows are told as they are, and no removals": {
    project: rewritten((sql) => sql.replace("_a.row IS NOT _b.row", "_b.row IS NOT NULL")),
  },
  "removals alone are told": {
    project: rewritten((sql) => sql.replace("_a.row IS NOT _b.row", "_b.row IS NULL AND _a.row IS NOT NULL")),
  },
  "later pages are of now": {
    project: rewritten((sql) =>
      within(
        within(sql, '"_first_h"', '"_as_h0"', (part) => part.replace("seq > ?", "seq > ? + 1000000")),
        sql.includes("_b AS MATERIALIZED") ? "_b" : "_p",
        "_d",
        (part) => part.replaceAll("_l.seq > ?", "_l.seq > ? + 1000000"),
      ),
    ),
  },
  "the relations of before are those of now": {
    project: rewritten((sql) =>
      within(sql, "_a", "_b", (part) =>
        part.replaceAll(
          /OR EXISTS \(SELECT 1 FROM ("_as_c\d+") AS/g,
          "OR EXISTS (SELECT 1 FROM (SELECT * FROM $1 WHERE 0) AS",
        ),
      ),
    ),
  },
  "what changed in a relation leads to no rows": {
    project: rewritten((sql) =>
      within(sql, "_k", "_p", (part) => part.replaceAll(" AS _t WHERE ", " AS _t WHERE 0 AND ")),
    ),
  },
  "a row that was changed after the moment is left out": {
    project: rewritten((sql) => within(sql, "_b", "_d", (part) => part.replace("_l.old IS NOT NULL", "0"))),
  },
  "in a first copy, what was told before stays as it was": {
    project: rewritten((sql) => copiedPart(sql, (condition) => `(${condition}) AND 0`)),
    ...inCopies,
  },
  "in a first copy, what was not told yet is told as changed": {
    project: rewritten((sql) => copiedPart(sql, (condition) => `(${condition}) OR 1`)),
    ...inCopies,
  },
  "a changed key is no deletion": {
    before: retriggered("move", (sql) => sql.replace(/ {2}INSERT INTO _changes [^;]*'delete'[^;]*;\n/, "")),
  },
  "a change from NULL is no change": {
    before: retriggered("update", (sql) => sql.replace(") IS NOT (", ") <> (")),
  },
};

/** All of them with `FAULTS=all`, else two. */
const random = new Random(Random.seedOfRun());
const tried = random
  .shuffled(Object.keys(faults))
  .slice(0, process.env.FAULTS === "all" ? Number.POSITIVE_INFINITY : 2);

test.each(tried)("is found: %s", async (fault) => {
  const found = follow(random, { histories, pulls: 12, scanLimit: 100_000, ...faults[fault]! });
  await expect(found).rejects.toBeInstanceOf(NotFollowedError);
});
