import type { AuthValues, Expression } from "../../../src/rules/ast.js";
import { applyChange } from "../../../src/schema/apply.js";
import { serve, type TestServer } from "../../support/server.js";
import { anonymous, type Caller, makeKey, makeUsers, usersOf } from "../support/callers.js";
import { admits, earlyRefusal, type World } from "../support/evaluate.js";
import { insertRows } from "../support/insert-rows.js";
import { print, write } from "../support/print.js";
import type { Random } from "../support/random.js";
import { randomRule, type Shape, type Vocabulary } from "../support/random-rule.js";
import type { Row } from "../support/values.js";
import { lookups, makePulled, makeRows, schemaText, type TableSpec, tables } from "./tables.js";

/** A served project whose rows and rules are known to the test. */
export interface ListProject {
  readonly server: TestServer;
  readonly scanLimit: number;
  readonly callers: readonly Caller[];
  readonly rows: ReadonlyMap<string, readonly Row[]>;
  readonly rules: ReadonlyMap<string, Expression>;
  /** The rows that the table's rule lets the caller read, in the order of insertion. */
  admitted(table: TableSpec, caller: Caller): readonly Row[];
  /** The status of a list: a rule that no row can meet refuses before any is looked at. */
  status(table: TableSpec, caller: Caller): 200 | 401 | 403;
}

const { and, or, not, exists, compare, isNull, isNotNull, oneOf, literal } = write;

/** Rules as projects have them: owners, members, roles, and what is decided before any row is looked at. */
const writtenRules: readonly Expression[] = [
  compare("row.owner", "=", "auth.id"),
  or(
    compare("row.owner", "=", "auth.id"),
    exists("members", "m", and(compare("m.grp", "=", "row.grp"), compare("m.user_id", "=", "auth.id"))),
  ),
  and(
    exists("links", "l", compare("l.grp", "=", "row.grp")),
    not(exists("tiers", "x", and(compare("x.grp", "=", "row.grp"), compare("x.level", ">", literal(2n))))),
  ),
  or(
    compare("auth.role", "=", literal("admin")),
    and(compare("auth.email_verified", "=", literal(true)), compare("row.n", "<", literal(1n))),
    and(compare("row.n", ">=", literal(0n)), compare("row.b", "=", literal(true))),
  ),
  and(isNotNull("auth.id"), or(isNull("row.owner"), not(compare("row.owner", "=", "auth.id")))),
  exists("members", "m", and(compare("m.user_id", "=", "auth.id"), compare("m.grp", "=", literal("g1")))),
  and(
    compare("row.grp", "=", literal("g2")),
    exists("$users", "u", and(compare("u.id", "=", "row.owner"), compare("u.role", "!=", literal("admin")))),
  ),
  or(oneOf("row.n", 0n, 2n, null), and(isNull("row.n"), compare("row.t", "<", literal("b")))),
  exists(
    "members",
    "m",
    and(
      compare("m.grp", "=", "row.grp"),
      compare("m.level", ">", "row.n"),
      exists("tiers", "x", and(compare("x.grp", "=", "m.grp"), compare("x.level", "<=", "m.level"))),
    ),
  ),
  literal(true),
];

const vocabulary: Vocabulary = {
  sources: { row: { owner: "text", grp: "text", n: "integer", t: "text", b: "boolean" } },
  tables: {
    ...Object.fromEntries(lookups.map((spec) => [spec.name, shapeOf(spec)])),
    $users: { id: "text", role: "text" },
  },
  literals: {
    number: [-1n, 0n, 1n, 2n, 3n, 0.5, 2],
    text: ["", "a", "b", "g1", "g2", "🙂", "\uffff", "'", "admin", "user"],
    boolean: [true, false],
  },
};

function shapeOf({ columns }: TableSpec): Shape {
  return Object.fromEntries(Object.entries(columns).map(([name, { type }]) => [name, type]));
}

export type RuleSource = "written" | "random";

export interface ListProjectOptions {
  readonly scanLimit: number;
  readonly rules: RuleSource;
  /** Whoever may read a row may also change and delete it, and whoever is signed in may add some. */
  readonly writable?: boolean;
  /** Where it is served, if not where the suite runs. */
  readonly target?: string;
}

/** Serves the tables until the test ends, their rows made anew from the seed. */
export async function serveLists(
  random: Random,
  { scanLimit, rules: source, writable = false, target }: ListProjectOptions,
): Promise<ListProject> {
  const written = random.shuffled(writtenRules);
  const rules = new Map(
    tables.map(({ name }, i) => [
      name,
      source === "written" ? written[i % written.length]! : randomRule(random, vocabulary),
    ]),
  );
  const config = configText(scanLimit, rules, writable);
  const own = tables.filter(({ pulled }) => pulled === undefined);
  const server = await serve({ schema: schemaText([...own, ...lookups]), config }, target);
  await makePulled(server.database, tables);
  await applySchema(server, [...tables, ...lookups]);
  const callers = [...(await makeUsers(server)), anonymous, await makeKey(server)];
  const users = usersOf(callers);
  const people = [...users.map(({ id }) => id), "nobody"];
  const rows = new Map<string, readonly Row[]>([["$users", users]]);
  for (const spec of [...lookups, ...tables]) {
    const made = makeRows(spec, people, random);
    await insertRows(server.database, spec.name, made);
    rows.set(spec.name, made);
  }
  const nowSeconds = BigInt(Math.floor(server.clock.now() / 1000));
  const world = (row: Row, auth: AuthValues): World => ({ rows: { row }, auth, nowSeconds, tables: rows });
  const admitted = remembered((table: TableSpec, { auth }: Caller) => {
    const all = rows.get(table.name)!;
    return auth === null ? all : all.filter((row) => admits(rules.get(table.name)!, world(row, auth)));
  });
  const status = remembered((table: TableSpec, { auth }: Caller) => {
    return auth === null ? 200 : (earlyRefusal(rules.get(table.name)!, auth, nowSeconds) ?? 200);
  });
  return { server, scanLimit, callers, rows, rules, admitted, status };
}

export async function applySchema(server: TestServer, specs: readonly TableSpec[]): Promise<void> {
  const options = { allowDestructive: true, now: server.clock.now() };
  const applied = await applyChange(server.database, schemaText(specs), options);
  if (applied.outcome === "refused") throw new Error(JSON.stringify(applied));
}

function configText(scanLimit: number, rules: ReadonlyMap<string, Expression>, writable: boolean): string {
  const sections = [...rules].map(([name, rule]) => {
    const text = JSON.stringify(print(rule));
    const { primaryKey } = tables.find((spec) => spec.name === name)!;
    const create = writable ? 'create = "authenticated"\n' : "";
    const writes = writable && primaryKey.length > 0 ? `update = ${text}\ndelete = ${text}\n` : "";
    return `[rules.${name}]\nread = ${text}\n${create}${writes}`;
  });
  return `[api]\nscan_limit = ${scanLimit}\n${sections.join("")}`;
}

function remembered<T>(
  compute: (table: TableSpec, caller: Caller) => T,
): (table: TableSpec, caller: Caller) => T {
  const known = new Map<string, T>();
  return (table, caller) => {
    const key = `${table.name} ${caller.name}`;
    if (!known.has(key)) known.set(key, compute(table, caller));
    return known.get(key)!;
  };
}
