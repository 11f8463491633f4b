import fc from "fast-check";
import Database from "libsql";
import { expect, test, vi } from "vitest";
import { ruleScope } from "../../src/project/rule-scope.js";
import type { AuthValues, CompareOperator, Expression, Literal, Operand } from "../../src/rules/ast.js";
import { compareValues } from "../../src/rules/compare-values.js";
import { alwaysTrue, neverTrue } from "../../src/rules/fold.js";
import { parseRule } from "../../src/rules/parse-rule.js";
import { admitsAnonymous, specialise, specialiseForRole } from "../../src/rules/specialise.js";
import { mapOperands } from "../../src/rules/walk.js";
import { countingSteps } from "../support/steps.js";
import { schemaOf, table } from "../unit/rules/fixture.js";
import { admits, evaluate, nobody, type World } from "./support/evaluate.js";
import { columnOf, exists, print } from "./support/print.js";
import type { Row } from "./support/values.js";

/** `SEED=… npx vitest run test/property/rules-fold.test.ts` repeats a run. */
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
fc.configureGlobal({ seed, numRuns: 5_000 });
console.log(`SEED=${seed}`);

const schema = schemaOf([table("items", { number: "integer", real: "real", text: "text", flag: "boolean" })]);
const scope = ruleScope(schema, schema.tables.get("items")!, "update");

type Value = Literal["value"];
type ComparedType = "number" | "text" | "boolean";

// Few values, so that they often meet.
const numbers = fc.constantFrom<Value>(0n, 1n, 2n, 1, 1.5, null);
const texts = fc.constantFrom<Value>("", "a", "b'", "\uffff", "🙂", null);
const flags = fc.constantFrom<Value>(true, false, null);
const valuesOf = { number: numbers, text: texts, boolean: flags };
const columnsOfType = { number: ["number", "real"], text: ["text"], boolean: ["flag"] };
const equalities: readonly CompareOperator[] = ["=", "!="];
const operators: readonly CompareOperator[] = [...equalities, "<", "<=", ">", ">="];

const row: fc.Arbitrary<Row> = fc.record({ number: numbers, real: numbers, text: texts, flag: flags });
const name = fc.constantFrom("", "a", "b'", null);
const flag = fc.constantFrom(true, false, null);
const auth: fc.Arbitrary<AuthValues> = fc.record({ id: name, email: name, email_verified: flag, role: name });

const world: fc.Arbitrary<World> = fc
  .record({
    rows: fc.record({ row, new: row }),
    auth,
    nowSeconds: fc.constantFrom(0n, 1n, 2n),
    items: fc.array(row, { maxLength: 3 }),
  })
  .map(({ items, ...rest }) => ({ ...rest, tables: new Map([["items", items]]) }));

function operandOf(type: ComparedType, sources: readonly string[]): fc.Arbitrary<Operand> {
  const literal = valuesOf[type].map((value): Operand => ({ kind: "literal", value }));
  const column = fc
    .record({ source: fc.constantFrom(...sources), column: fc.constantFrom(...columnsOfType[type]) })
    .map((reference): Operand => columnOf(reference.source, reference.column));
  const now = fc.constant<Operand>({ kind: "now" });
  const field = fc
    .constantFrom("id" as const, "email" as const, "role" as const)
    .map((name): Operand => ({ kind: "auth", field: name }));
  if (type === "number") return fc.oneof(literal, column, now);
  const verified = fc.constant<Operand>({ kind: "auth", field: "email_verified" });
  return type === "text" ? fc.oneof(literal, column, field) : fc.oneof(literal, column, verified);
}

function leaf(sources: readonly string[]): fc.Arbitrary<Expression> {
  return fc.constantFrom<ComparedType>("number", "text", "boolean").chain((type) => {
    const operand = operandOf(type, sources);
    const operator = fc.constantFrom(...(type === "boolean" ? equalities : operators));
    return fc.oneof(
      fc.record({ kind: fc.constant("compare" as const), operator, left: operand, right: operand }),
      fc.record({
        kind: fc.constant("in" as const),
        value: operand,
        list: fc.array(operand, { minLength: 1, maxLength: 3 }),
      }),
      fc.record({ kind: fc.constant("is_null" as const), value: operand, negated: fc.boolean() }),
      flags.map((value) => ({ kind: "literal" as const, value })),
    );
  });
}

function expressionOver(sources: readonly string[], depth: number): fc.Arbitrary<Expression> {
  if (depth === 0) return leaf(sources);
  const inner = expressionOver(sources, depth - 1);
  const alias = `a${depth}`;
  return fc.oneof(
    leaf(sources),
    fc.record({
      kind: fc.constantFrom("and" as const, "or" as const),
      terms: fc.array(inner, { minLength: 2, maxLength: 3 }),
    }),
    inner.map((term) => ({ kind: "not" as const, term })),
    expressionOver([...sources, alias], depth - 1).map((where) => exists("items", alias, where)),
  );
}

const expression = expressionOver(["row", "new"], 3);

/** Which kinds of operand are left. */
function operandKinds(node: Expression): ReadonlySet<string> {
  const kinds = new Set<string>();
  mapOperands(node, (operand) => {
    kinds.add(operand.kind);
    return operand;
  });
  return kinds;
}

test("a specialised rule admits what the rule admits", () => {
  let admitted = 0;
  fc.assert(
    fc.property(expression, world, (rule, at) => {
      const special = specialise(rule, at.auth, Number(at.nowSeconds));
      const isAdmitted = admits(rule, at);
      admitted += Number(isAdmitted);
      expect(admits(special, at)).toBe(isAdmitted);
    }),
  );
  // Neither outcome is rare, or the agreement would say little.
  expect(admitted).toBeGreaterThan(1_000);
  expect(admitted).toBeLessThan(4_000);
});

test("a specialised rule names neither auth nor now, and specialising again changes nothing", () => {
  fc.assert(
    fc.property(expression, world, (rule, at) => {
      const special = specialise(rule, at.auth, Number(at.nowSeconds));
      expect([...operandKinds(special)].filter((kind) => kind === "auth" || kind === "now")).toEqual([]);
      expect(specialise(special, nobody, 0)).toEqual(special);
    }),
  );
});

test("a rule that is specialised for a role admits what the rule admits, whoever has the role", () => {
  let shared = 0;
  fc.assert(
    fc.property(expression, world, (rule, at) => {
      const { role } = at.auth;
      const auth =
        role === null
          ? nobody
          : {
              role,
              id: at.auth.id ?? "u1",
              email: at.auth.email ?? "a@b.c",
              email_verified: at.auth.email_verified ?? false,
            };
      const special = specialiseForRole(rule, role) ?? specialiseForRole(rule, role, auth.email_verified ?? undefined);
      if (special === null) return;
      shared++;
      expect(admits(special, { ...at, auth })).toBe(admits(rule, { ...at, auth }));
      expect([...operandKinds(special)].filter((kind) => kind === "auth" || kind === "now")).toEqual([]);
    }),
  );
  expect(shared).toBeGreaterThan(1_000);
});

test("never true and always true hold for every row", () => {
  fc.assert(
    fc.property(expression, world, (rule, at) => {
      const outcome = evaluate(rule, at);
      if (neverTrue(rule)) expect(outcome).not.toBe(true);
      if (alwaysTrue(rule)) expect(outcome).toBe(true);
    }),
  );
});

test("whatever admits an anonymous caller is said to", () => {
  fc.assert(
    fc.property(expression, world, (rule, at) => {
      if (admits(rule, { ...at, auth: nobody })) expect(admitsAnonymous(rule)).toBe(true);
    }),
  );
});

test("what is printed is read back", () => {
  fc.assert(
    fc.property(expression, (rule) => {
      expect(parseRule(print(rule), scope)).toEqual({ expression: rule, problems: [] });
    }),
  );
});

test("a mutated rule is read or refused, in steps that grow no faster than its text", async () => {
  const scrap = fc.oneof(
    fc.constantFrom("'", "''", "(", ")", ".", "=", "<>", "not ", "and", " or ", "in (", "exists(", "null", "row."),
    fc.constantFrom("12", "-", "1e999", "\0", "\n", "🙂", "\ud83d", "$users", "__proto__", "((((((((", "not not not "),
    fc.string({ maxLength: 5 }),
  );
  const mutation = fc.record({
    at: fc.nat(),
    cut: fc.nat(6),
    insert: scrap,
    repeat: fc.integer({ min: 1, max: 40 }),
  });
  const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 });
  const texts = fc.sample(
    fc.tuple(expression, mutations).map(([rule, changes]) =>
      changes.reduce((before, { at, cut, insert, repeat }) => {
        const offset = at % (before.length + 1);
        return before.slice(0, offset) + insert.repeat(repeat) + before.slice(offset + cut);
      }, print(rule)),
    ),
    { seed, numRuns: 10_000 },
  );
  vi.resetModules();
  await countingSteps(
    async () => ({
      ...(await import("../../src/rules/parse-rule.js")),
      ...(await import("../../src/rules/specialise.js")),
    }),
    async ({ parseRule, specialise }, stepsOf) => {
      for (let from = 0; from < texts.length; from += 100) {
        const some = texts.slice(from, from + 100);
        let read: ReturnType<typeof parseRule>[] = [];
        const steps = await stepsOf(() => {
          read = some.map((text) => parseRule(text, scope));
          for (const { expression } of read) specialise(expression, nobody, 0);
        });
        // 35 are the most that a text takes for each of its characters.
        const shown = JSON.stringify(some);
        expect(steps, shown).toBeLessThan(70 * shown.length);
        for (const [i, { problems }] of read.entries())
          for (const { at, message } of problems) {
            expect(at.line).toBeLessThanOrEqual(some[i]!.split("\n").length);
            expect(message).not.toBe("");
          }
      }
    },
  );
});

test("values are ordered as SQLite orders them", () => {
  const database = new Database(":memory:");
  const select = database.prepare("select (?1 > ?2) - (?1 < ?2) as sign");
  const integer = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constantFrom(0n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)),
  );
  // What is integral is bound as a real all the same: the driver makes integers of bigint alone.
  const real = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, 2 ** 53, 2 ** 63, -(2 ** 63)),
  );
  const text = fc.string({ unit: "binary", maxLength: 4 });
  const value = fc.oneof(integer, real, text);
  fc.assert(
    fc.property(value, value, (left, right) => {
      const { sign } = select.get(left, right) as { sign: number };
      expect(Math.sign(compareValues(left, right))).toBe(sign);
    }),
  );
  database.close();
});
