import * as v from "valibot";
import { dottedPath } from "../problems/dotted-path.js";
import type { Problem } from "../problems/problem.js";
import { linesIn } from "../project/lines/located.js";
import { withLines } from "../project/lines/with-lines.js";
import { yamlPlaces } from "../project/lines/yaml-places.js";
import { readYaml } from "../project/read-yaml.js";
import { isPlainObject, mapOf, mapWith, valibotProblems } from "../project/valibot-problems.js";

/**
 * A file of fixtures: users, rows, and in a file of tests the cases that are tried with them
 * (docs/reference/test-files.md).
 */
export interface CaseFile {
  readonly file: string;
  readonly users: readonly FixtureUser[];
  readonly rows: readonly FixtureRow[];
  readonly cases: readonly Case[];
}

/** Where something is written: the name of the file, and the line from 1. */
export interface Written {
  readonly file: string;
  readonly line: number;
}

/** A user of the fixtures. The name is the id, too. */
export interface FixtureUser {
  readonly at: Written;
  readonly name: string;
  readonly email: string;
  readonly role: "user" | "admin";
  readonly emailVerified: boolean;
  readonly disabled: boolean;
  readonly password: string | null;
}

/** A row of the fixtures, as the JSON object that a request would send. */
export interface FixtureRow {
  readonly at: Written;
  readonly table: string;
  readonly values: JsonObject;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** The key of a row: an object of its columns, or the value of the only one. */
export type CaseKey = string | number | JsonObject;

/** What somebody tries to do. */
export type Deed =
  | { readonly kind: "read" | "delete"; readonly table: string; readonly key: CaseKey }
  | { readonly kind: "create"; readonly table: string; readonly values: JsonObject }
  | { readonly kind: "update"; readonly table: string; readonly key: CaseKey; readonly set: JsonObject }
  | { readonly kind: "list"; readonly table: string; readonly query: JsonObject }
  | { readonly kind: "history"; readonly table: string; readonly key: CaseKey | null }
  | { readonly kind: "op"; readonly operation: string; readonly params: JsonObject };

/** What a case says will come of it. */
export type Expected =
  | { readonly kind: "allow"; readonly columns: readonly string[] | null }
  | { readonly kind: "deny"; readonly code: string | null; readonly columns: readonly string[] | null }
  | { readonly kind: "sees"; readonly keys: readonly CaseKey[] };

/** One case of a file of tests. `as` is the name of a user, null for an anonymous caller. */
export interface Case {
  readonly at: Written;
  readonly name: string | null;
  readonly as: string | null;
  readonly deed: Deed;
  readonly expected: Expected;
}

const json = v.custom<JsonObject>(isPlainObject, "expected a map of columns");
const key = v.custom<CaseKey>(
  (value) => typeof value === "string" || typeof value === "number" || isPlainObject(value),
  "expected the value of the key, or a map of its columns",
);
const names = v.array(v.string());

const user = v.nullish(
  mapWith({
    email: v.optional(v.string()),
    role: v.optional(v.picklist(["user", "admin"])),
    email_verified: v.optional(v.boolean()),
    disabled: v.optional(v.boolean()),
    password: v.optional(v.string()),
  }),
);

const deed = mapWith({
  read: v.optional(v.string()),
  create: v.optional(v.string()),
  update: v.optional(v.string()),
  delete: v.optional(v.string()),
  list: v.optional(v.string()),
  history: v.optional(v.string()),
  op: v.optional(v.string()),
  key: v.optional(key),
  values: v.optional(json),
  set: v.optional(json),
  query: v.optional(json),
  params: v.optional(json),
});

const columns = mapWith({ columns: names });
const refusal = mapWith({ code: v.optional(v.string()), columns: v.optional(names) });
const oneCase = mapWith({
  name: v.optional(v.string()),
  as: v.pipe(v.union([v.string(), v.number()], "expected a name"), v.transform(String)),
  do: deed,
  allow: v.optional(v.union([v.literal(true), columns], "expected true, or {columns: […]}")),
  deny: v.optional(v.union([v.literal(true), v.string(), refusal], "expected true, a code, or {code, columns}")),
  sees: v.optional(v.array(key)),
});

const whole = mapWith({
  users: v.nullish(mapOf(user)),
  rows: v.nullish(mapOf(v.nullish(v.array(json)))),
  cases: v.nullish(v.array(oneCase)),
});

/** Reads a file of tests or of seeds; its problems, with their lines, if it has any. */
export function parseCaseFile(file: string, text: string): CaseFile | { readonly problems: readonly Problem[] } {
  const lined = (problems: readonly Problem[]) => ({ problems: withLines(problems, new Map([[file, text]])) });
  const read = readYaml(text, file);
  if (read.outcome === "invalid") return lined(read.problems);
  const parsed = v.safeParse(whole, plain(read.value) ?? {});
  if (!parsed.success) return lined(valibotProblems(file, parsed.issues));
  const users = parsed.output.users ?? new Map<string, v.InferOutput<typeof user>>();
  const rows = parsed.output.rows ?? new Map<string, null>();
  const cases = parsed.output.cases ?? [];
  const lines = linesIn(text, yamlPlaces);
  const lineOf = (steps: readonly string[]) => lines(steps) ?? 1;
  const problems: Problem[] = [];
  const made = cases.flatMap((each, i): readonly Case[] => {
    const path = ["cases", String(i)];
    const found = caseOf(each, { file, line: lineOf(path) });
    if (!(found instanceof Misplaced)) return [found];
    problems.push({ file, path: dottedPath([...path, ...found.steps]), message: found.message });
    return [];
  });
  if (users.has("anonymous"))
    problems.push({ file, path: "users.anonymous", message: "anonymous stands for a caller who is not signed in" });
  for (const [i, { as }] of cases.entries())
    if (as !== "anonymous" && !users.has(as))
      problems.push({ file, path: `cases.${i}.as`, message: `expected anonymous or one of users, not ${as}` });
  if (problems.length > 0) return lined(problems);
  return {
    file,
    users: [...users].map(([name, given]) => userOf(name, given ?? {}, { file, line: lineOf(["users", name]) })),
    rows: [...rows].flatMap(([table, list]) =>
      (list ?? []).map((values: JsonObject, i: number) => ({
        at: { file, line: lineOf(["rows", table, String(i)]) },
        table,
        values,
      })),
    ),
    cases: made,
  };
}

/** The value as JSON has it: an integer is a number, or beyond ±(2^53−1) a text of digits. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

function userOf(name: string, given: NonNullable<v.InferOutput<typeof user>>, at: Written): FixtureUser {
  const { email = `${name}@example.com`, role = "user", email_verified = true, disabled = false, password } = given;
  return { at, name, email, role, emailVerified: email_verified, disabled, password: password ?? null };
}

/** What is wrong with a case, and the steps that lead from it to the place. */
class Misplaced {
  constructor(
    readonly message: string,
    readonly steps: readonly string[] = [],
  ) {}
}

function caseOf(given: v.InferOutput<typeof oneCase>, at: Written): Case | Misplaced {
  const deed = deedOf(given.do);
  if (deed instanceof Misplaced) return new Misplaced(deed.message, ["do", ...deed.steps]);
  const expected = expectedOf(given);
  if (expected instanceof Misplaced) return expected;
  if (expected.kind === "sees" && deed.kind !== "list" && deed.kind !== "history")
    return new Misplaced("only a list or a history shows several rows: write allow or deny", ["sees"]);
  const { name = null, as } = given;
  return { at, name, as: as === "anonymous" ? null : as, deed, expected };
}

/** The members that each kind of deed needs, and those that it may have. */
const membersOf = {
  read: { needed: ["key"], allowed: [] },
  create: { needed: ["values"], allowed: [] },
  update: { needed: ["key", "set"], allowed: [] },
  delete: { needed: ["key"], allowed: [] },
  list: { needed: [], allowed: ["query"] },
  history: { needed: [], allowed: ["key"] },
  op: { needed: [], allowed: ["params"] },
} as const satisfies Record<Deed["kind"], unknown>;

const kinds = Object.keys(membersOf) as readonly Deed["kind"][];

function deedOf(given: v.InferOutput<typeof deed>): Deed | Misplaced {
  const [kind, ...others] = kinds.filter((each) => given[each] !== undefined);
  if (kind === undefined || others.length > 0) return new Misplaced(`expected one of ${kinds.join(", ")}`);
  const { needed, allowed } = membersOf[kind] as { needed: readonly string[]; allowed: readonly string[] };
  const { [kind]: on, ...members } = given;
  const missing = needed.find((name) => !Object.hasOwn(members, name));
  if (missing !== undefined) return new Misplaced(`${kind} needs ${missing}`);
  const other = Object.keys(members).find((name) => ![...needed, ...allowed].includes(name));
  if (other !== undefined) return new Misplaced(`${kind} takes no ${other}`, [other]);
  const { key = null, values = {}, set = {}, query = {}, params = {} } = given;
  const table = on as string;
  switch (kind) {
    case "read":
    case "delete":
      return { kind, table, key: key! };
    case "create":
      return { kind, table, values };
    case "update":
      return { kind, table, key: key!, set };
    case "list":
      return { kind, table, query };
    case "history":
      return { kind, table, key };
    case "op":
      return { kind, operation: table, params };
  }
}

function expectedOf({ allow, deny, sees }: v.InferOutput<typeof oneCase>): Expected | Misplaced {
  const given = [allow, deny, sees].filter((each) => each !== undefined);
  if (given.length !== 1) return new Misplaced("expected one of allow, deny and sees");
  if (sees !== undefined) return { kind: "sees", keys: sees };
  if (allow !== undefined) return { kind: "allow", columns: allow === true ? null : allow.columns };
  if (deny === true) return { kind: "deny", code: null, columns: null };
  if (typeof deny === "string") return { kind: "deny", code: deny, columns: null };
  return { kind: "deny", code: deny!.code ?? null, columns: deny!.columns ?? null };
}
