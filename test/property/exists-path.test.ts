import { expect, test } from "vitest";
import { openLibsql } from "../../src/node/database/libsql.js";
import type { Database } from "../../src/platform/database.js";
import { parseSchema } from "../../src/project/parse-schema.js";
import { ruleScope } from "../../src/project/rule-scope.js";
import type { Exists } from "../../src/rules/ast.js";
import { isTrue } from "../../src/rules/fold.js";
import { parseRule } from "../../src/rules/parse-rule.js";
import { specialiseForRole } from "../../src/rules/specialise.js";
import { type Leaf, leavesOf, outermostExists } from "../../src/rules/walk.js";
import { applySafe } from "../../src/schema/apply.js";
import { loadCatalog } from "../../src/schema/catalog.js";
import { existsPath } from "../../src/tables/plan/exists-path.js";
import { existsSql, noNames, type SqlNames } from "../../src/tables/sql/predicate.js";
import { aliasName, name, type Sql, sql } from "../../src/tables/sql-text/fragment.js";
import { print } from "./support/print.js";
import { Random } from "./support/random.js";
import { randomRule, type Shape } from "./support/random-rule.js";

const shape: Shape = { id: "integer", a: "text", b: "text", n: "integer", x: "real", flag: "boolean" };
const columns =
  "id: { type: integer, primary_key: true }, a: { type: text }, b: { type: text }, n: { type: integer }, x: { type: real }, flag: { type: boolean }";
const schemaText = `
items: { columns: { ${columns} } }
one: { columns: { ${columns} }, indexes: [{ columns: [a, -n] }, { columns: [x], where: "length(b) > 1" }] }
two: { columns: { ${columns} }, unique: [[b, a]], indexes: [{ columns: [-flag] }, { columns: [n] }] }
`;

/** The outermost `exists` nodes of a random rule as statements for a user have them. */
function randomExists(random: Random): { text: string; found: readonly Exists[] } {
  const text = print(
    randomRule(random, {
      sources: { row: shape },
      tables: { one: shape, two: shape },
      literals: { number: [0n, 1n], text: ["a", "b"], boolean: [true, false] },
    }),
  );
  const { schema } = parsed;
  const { expression, problems } = parseRule(text, ruleScope(schema!, schema!.tables.get("items")!, "read"));
  expect(problems).toEqual([]);
  const special = specialiseForRole(expression, "user");
  return { text, found: special === null ? [] : outermostExists(special) };
}

/**
 * Where SQLite does more than is counted on: it walks an index for `is not null` where that spares it the table, and concludes
 * from `a = 1 and a = id` that `id = 1`.
 */
function isMoreThanAsked(leaf: Leaf): boolean {
  if (leaf.kind === "is_null") return leaf.negated;
  if (leaf.kind !== "compare") return false;
  const [left, right] = [leaf.left, leaf.right].map((operand) =>
    operand.kind === "column" && typeof operand.source === "object" ? operand.source.alias : null,
  );
  return left !== null && left === right;
}

const parsed = parseSchema(schemaText);

/** How SQLite goes about it: a line such as `SCAN a1` or `SEARCH a1 USING INDEX …` for each branch. */
async function waysOf(database: Database, exists: Exists): Promise<readonly string[]> {
  const scope: SqlNames = {
    ...noNames,
    row: (column) => sql`_t.${name(column)}`,
    exists: (inner) => existsSql(inner, scope),
  };
  const asked: Sql = sql`EXPLAIN QUERY PLAN SELECT 1 FROM items AS _t WHERE ${existsSql(exists, scope)}`;
  const [plan] = await database.query([{ sql: asked.text, params: asked.params.map(() => null) }]);
  const alias = aliasName(exists.alias).text.replaceAll('"', "");
  return plan!.rows
    .map((row) => String(row[3]))
    .filter((detail) => new RegExp(`^(SCAN|SEARCH) ${alias}\\b`).test(detail));
}

test("an exists is said to read a whole table where SQLite scans it, and nowhere else", async () => {
  const random = new Random(Random.seedOfRun());
  const database = openLibsql({ path: ":memory:", synchronous: "normal" });
  await applySafe(database, schemaText, { now: 0 });
  const catalog = await loadCatalog(database);
  const seen = { seek: 0, narrowed: 0, all: 0 };
  for (let i = 0; i < Number(process.env.QUERIES ?? 80); i++) {
    const { text, found } = randomExists(random.fork(i));
    for (const exists of found) {
      // The first row decides it.
      if (isTrue(exists.where)) continue;
      const { kind } = existsPath(exists, catalog, noNames);
      const ways = await waysOf(database, exists);
      seen[kind]++;
      const scans = ways.some((way) => way.startsWith("SCAN"));
      const isFoundOut = kind === "all" && !scans && leavesOf(exists.where).some(isMoreThanAsked);
      expect(scans || isFoundOut, `${kind}: ${text}: ${ways.join(", ")}`).toBe(kind === "all");
    }
  }
  await database.close();
  expect(Object.values(seen).every((count) => count > 0)).toBe(true);
});
