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
  readonly tables: readonly TableSpec[];
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

/** `ways`: rules that lead from the caller to the rows by indexes, which the tables then have. */
export type RuleSource = "written" | "random" | "ways";

const member = (alias: string, of: string, ...more: readonly Expression[]) =>
  exists("members", alias, and(compare(`${alias}.grp`, "=", of), compare(`${alias}.user_id`, "=", "auth.id"), ...more));

/** Ways in one piece: by the row itself, over one table, over two. */
const wayRules: readonly ((random: Random) => Expression)[] = [
  () => compare("row.owner", "=", "auth.id"),
  (random) => compare("row.grp", "=", literal(random.pick(["g1", "g2"]))),
  () => member("m", "row.grp"),
  (random) => member("m", "row.grp", compare("m.level", ">", literal(BigInt(random.int(-1, 2))))),
  () => member("m", "row.grp", compare("m.level", "<=", "row.n")),
  () => member("m", "row.grp", not(exists("tiers", "x", compare("x.grp", "=", "m.grp")))),
  () => exists("links", "l", and(compare("row.grp", "=", "l.grp"), compare("auth.id", "=", "l.user_id"))),
  () => exists("tiers", "x", and(member("m", "x.grp"), compare("x.grp", "=", "row.grp"))),
  () =>
    exists(
      "tiers",
      "x",
      and(compare("x.grp", "=", "row.grp"), compare("x.level", ">=", literal(0n)), member("m", "x.grp")),
    ),
  () =>
    exists(
      "links",
      "l",
      and(
        compare("l.grp", "=", "row.grp"),
        exists("tiers", "x", and(compare("x.grp", "=", "l.grp"), member("m", "x.grp"))),
      ),
    ),
];

const wayTests: readonly Expression[] = [
  compare("row.n", ">", literal(0n)),
  isNotNull("row.t"),
  not(exists("tiers", "y", and(compare("y.grp", "=", "row.grp"), compare("y.level", ">", literal(1n))))),
];

function randomWays(random: Random): Expression {
  const branch = () => {
    const way = random.pick(wayRules)(random);
    return random.chance(0.25) ? and(random.pick(wayTests), way) : way;
  };
  const branches = random.times(random.pick([1, 1, 1, 2, 2, 3]), branch);
  const led = branches.length === 1 ? branches[0]! : or(...branches);
  return random.chance(0.25) ? and(led, random.pick(wayTests)) : led;
}

function withWayIndexes(random: Random, spec: TableSpec): TableSpec {
  const key = spec.primaryKey.filter((column) => column !== "grp");
  const sorted = random.some(
    Object.keys(spec.columns).filter(
      (column) => !["grp", ...key].includes(column) && spec.columns[column]!.type !== "json",
    ),
    random.int(0, 1),
  );
  const order = [...sorted, ...key].map((column) => (random.chance(0.3) ? `-${column}` : column));
  const indexes = [["grp"], ["owner"], ["grp", ...order]].map((columns) => ({ columns }));
  const known = new Set(spec.indexes.map(({ columns }) => columns.join()));
  const added = new Map(indexes.map((index) => [index.columns.join(), index]));
  return {
    ...spec,
    indexes: [...spec.indexes, ...[...added].filter(([name]) => !known.has(name)).map(([, index]) => index)],
  };
}

const wayLookups = lookups.map((spec) =>
  // So many that several lead from a person to the same group.
  spec.name === "links"
    ? { ...spec, rows: [25, 40] as const, indexes: [{ columns: ["user_id"] }, { columns: ["grp"] }] }
    : spec,
);

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
  const ruleOf = {
    written: (i: number) => written[i % written.length]!,
    random: () => randomRule(random, vocabulary),
    ways: () => randomWays(random),
  }[source];
  const rules = new Map(tables.map(({ name }, i) => [name, ruleOf(i)]));
  const specs = source === "ways" ? tables.map((spec) => withWayIndexes(random, spec)) : tables;
  const looked = source === "ways" ? wayLookups : lookups;
  const config = configText(scanLimit, rules, writable);
  const own = tables.filter(({ pulled }) => pulled === undefined);
  const server = await serve({ schema: schemaText([...own, ...looked]), config }, target);
  await makePulled(server.database, tables);
  // Tables that are there already are adopted as they are before they get further indexes.
  await applySchema(server, [...tables, ...looked]);
  if (specs !== tables) await applySchema(server, [...specs, ...looked]);
  const callers = [...(await makeUsers(server)), anonymous, await makeKey(server)];
  const users = usersOf(callers);
  const people = [...users.map(({ id }) => id), "nobody"];
  const rows = new Map<string, readonly Row[]>([["$users", users]]);
  for (const spec of [...looked, ...specs]) {
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
  return { server, scanLimit, callers, rows, rules, tables: specs, admitted, status };
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

function remembered<T>(compute: (table: TableSpec, caller: Caller) => T): (table: TableSpec, caller: Caller) => T {
  const known = new Map<string, T>();
  return (table, caller) => {
    const key = `${table.name} ${caller.name}`;
    if (!known.has(key)) known.set(key, compute(table, caller));
    return known.get(key)!;
  };
}
