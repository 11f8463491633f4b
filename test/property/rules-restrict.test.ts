import { expect, test, vi } from "vitest";
import type { Expression } from "../../src/rules/ast.js";
import { member } from "../support/people.js";
import { serve } from "../support/server.js";
import { type RuledTable, randomRow, randomValue, schemaText, vocabulary } from "./rules/tables.js";
import { insertRows } from "./support/insert-rows.js";
import { print } from "./support/print.js";
import { Random } from "./support/random.js";
import { randomRule } from "./support/random-rule.js";
import { toWire } from "./support/values.js";

/**
 * A term more never makes an update rule weaker: whatever `R and T` admits, `R` admits. By requests alone: each rule R guards
 * one table, and R with a further term another one that holds the same rows. `SEED=… RULES=… npx vitest run
 * test/property/rules-restrict.test.ts` repeats or prolongs a run.
 */
const seed = Random.seedOfRun();
const ruleCount = Number(process.env.RULES ?? 80);
const rulesPerServer = 100;
const patchesEach = 4;
vi.setConfig({ testTimeout: 900_000 + 10 * ruleCount * 60 });

const people = ["ada", "bob"];
const patchable = ["owner", "grp", "level", "score", "flag", "note"] as const;

interface Pair {
  readonly rule: Expression;
  readonly restricted: Expression;
  /** The names of their tables. */
  readonly tables: readonly [string, string];
}

function randomPair(random: Random, i: number): Pair {
  const tables = [`r${i}`, `s${i}`] as const;
  const term = (sources: readonly ("row" | "old" | "new")[]) =>
    randomRule(random, vocabulary(null, sources), random.int(0, 2));
  const rule = term(random.chance(0.7) ? ["row"] : ["row", "old", "new"]);
  const more = term(random.pick([["new"], ["old", "new"], ["row", "new"], ["row"]] as const));
  const terms = random.chance(0.5) ? [rule, more] : [more, rule];
  return { rule, restricted: { kind: "and", terms }, tables };
}

const guarded = (name: string): RuledTable => {
  const none: Expression = { kind: "literal", value: false };
  return { name, rules: { read: none, create: none, update: none, delete: none }, columnRules: new Map() };
};

/** How often both rules admitted a change, the one without the further term alone, and neither. */
type Seen = Record<"both" | "ruleAlone" | "neither", number>;

test("a term more never makes an update rule weaker", async () => {
  const random = new Random(seed);
  const seen: Seen = { both: 0, ruleAlone: 0, neither: 0 };
  for (let left = ruleCount; left > 0; left -= rulesPerServer)
    await compare(
      random,
      random.times(Math.min(left, rulesPerServer), (i) => randomPair(random, i)),
      seen,
    );
  console.log(`SEED=${seed}: ${ruleCount} rules with a term more, ${JSON.stringify(seen)}`);
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(ruleCount / 50);
});

async function compare(random: Random, pairs: readonly Pair[], seen: Seen): Promise<void> {
  const server = await serve({
    schema: schemaText(pairs.flatMap(({ tables }) => tables.map(guarded))),
    config: pairs
      .flatMap(({ rule, restricted, tables }) =>
        [rule, restricted].map(
          (each, i) => `[rules.${tables[i]}]\nread = "public"\nupdate = ${JSON.stringify(print(each))}\n`,
        ),
      )
      .join(""),
  });
  const ada = (await member(server, "ada")).bearer;
  const rows = pairs.map(() => random.times(patchesEach, (i) => randomRow(random, i + 1, people)));
  for (const [at, { tables }] of pairs.entries())
    for (const table of tables) await insertRows(server.database, table, rows[at]!);
  for (const [at, { rule, restricted, tables }] of pairs.entries())
    for (const row of rows[at]!) {
      const columns = random.some([...patchable], random.int(1, 3));
      const patch = Object.fromEntries(
        columns.map((column) => [
          column,
          toWire(column === "score" ? "real" : "text", randomValue(random, column, people)),
        ]),
      );
      const admitted = await Promise.all(
        tables.map(async (table) => {
          const response = await server.request(`/api/${table}/${row.id}`, {
            method: "PATCH",
            headers: { "Content-Type": "application/json", ...ada },
            body: JSON.stringify(patch),
          });
          expect([200, 403], server.log.lines.join("\n").slice(0, 3000)).toContain(response.status);
          return response.status === 200;
        }),
      );
      const [byRule, byRestricted] = admitted;
      if (byRestricted && !byRule)
        throw new Error(
          `SEED=${seed}: ${JSON.stringify(patch)} of ${JSON.stringify(row, (_, value) => (typeof value === "bigint" ? Number(value) : value))}: admitted by ${print(restricted)}, not by ${print(rule)}`,
        );
      seen[byRestricted ? "both" : byRule ? "ruleAlone" : "neither"]++;
    }
}
