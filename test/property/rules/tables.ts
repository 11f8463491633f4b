import type { Expression } from "../../../src/rules/ast.js";
import { print } from "../support/print.js";
import type { Random } from "../support/random.js";
import { randomAuthRule, randomRule, type Shape, type Vocabulary } from "../support/random-rule.js";
import type { Row, Value } from "../support/values.js";

export type Action = "read" | "create" | "update" | "delete";

/** One of many tables of the same shape, each under rules of its own. */
export interface RuledTable {
  readonly name: string;
  readonly rules: Readonly<Record<Action, Expression>>;
  /** Over `auth` alone; a column that is not here has none. */
  readonly columnRules: ReadonlyMap<string, { readonly read: Expression; readonly write: Expression }>;
}

export const shape = {
  id: "integer",
  owner: "text",
  grp: "text",
  level: "integer",
  score: "real",
  flag: "boolean",
  note: "text",
} as const satisfies Shape;

export const columns = Object.keys(shape) as (keyof typeof shape)[];
const ruledColumns = columns.filter((column) => column !== "id");

/** What a row gets where a body leaves a column out. */
export const defaults: Row = {
  owner: null,
  grp: null,
  level: 2n,
  score: null,
  flag: null,
  note: "a",
};

/** Where rules look for whoever calls: by a key, by an index, or through all rows. */
export const lookups = {
  members: { grp: "text", user_id: "text", level: "integer", active: "boolean" },
  links: { grp: "text", user_id: "text", level: "integer" },
} as const satisfies Readonly<Record<string, Shape>>;

const pools: Vocabulary["literals"] = {
  number: [-1n, 0n, 1n, 2n, 0.5, 1.5],
  text: ["", "a", "b", "B", "🙂", "g1", "g2", "it's", "user", "admin"],
  boolean: [true, false],
};

export function randomTables(random: Random, count: number): readonly RuledTable[] {
  return random.times(count, (i) => randomTable(random, `t${i}`));
}

function randomTable(random: Random, name: string): RuledTable {
  const rule = (...sources: readonly RowName[]) => randomRule(random, vocabulary(name, sources));
  const hasColumnRules = random.chance(0.5);
  const restricted = ruledColumns.filter(() => hasColumnRules && random.chance(0.4));
  return {
    name,
    rules: {
      read: rule("row"),
      create: rule("new"),
      update: random.chance(0.5) ? rule("row") : rule("row", "old", "new"),
      delete: rule("row"),
    },
    columnRules: new Map(
      restricted.map((column) => [
        column,
        { read: randomAuthRule(random, pools), write: randomAuthRule(random, pools) },
      ]),
    ),
  };
}

type RowName = "row" | "old" | "new";

/** Rules look into the other tables, and into their own where it is named. */
export function vocabulary(own: string | null, sources: readonly RowName[]): Vocabulary {
  return {
    sources: Object.fromEntries(sources.map((source) => [source, shape])),
    tables: { ...lookups, $users: { id: "text", role: "text" }, ...(own !== null && { [own]: shape }) },
    literals: pools,
  };
}

/** A value that rules often ask for. */
export function randomValue(random: Random, column: string, people: readonly string[]): Value {
  if (random.chance(0.2)) return null;
  switch (column) {
    case "owner":
    case "user_id":
      return random.pick([...people, ...people, "nobody"]);
    case "grp":
      return random.pick(["g1", "g2", "a"]);
    case "level":
      return random.pick([-1n, 0n, 1n, 2n]);
    case "score":
      return random.pick([-1, 0, 0.5, 1, 1.5]);
    case "flag":
    case "active":
      return random.chance(0.5);
    default:
      return random.pick(pools.text);
  }
}

export function randomRow(random: Random, id: number, people: readonly string[]): Row {
  const values = ruledColumns.map((column) => [column, randomValue(random, column, people)]);
  return { id: BigInt(id), ...Object.fromEntries(values) };
}

export function schemaText(tables: readonly RuledTable[]): string {
  const ruled = tables.map(
    ({ name }) => `${name}:
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text }
    grp: { type: text }
    level: { type: integer, default: { sql: "1 + 1" } }
    score: { type: real }
    flag: { type: boolean }
    note: { type: text, default: a }
`,
  );
  return `${ruled.join("")}members:
  primary_key: [grp, user_id]
  columns:
    grp: { type: text }
    user_id: { type: text }
    level: { type: integer }
    active: { type: boolean }
  indexes: [{ columns: [user_id] }]
links:
  columns: { grp: { type: text }, user_id: { type: text }, level: { type: integer } }
`;
}

export function configText(tables: readonly RuledTable[]): string {
  return tables.map(sections).join("");
}

function sections({ name, rules, columnRules }: RuledTable): string {
  const lines = Object.entries(rules).map(([action, rule]) => `${action} = ${tomlText(rule)}`);
  const restricted = [...columnRules].map(
    ([column, { read, write }]) =>
      `[rules.${name}.columns.${column}]\nread = ${tomlText(read)}\nwrite = ${tomlText(write)}\n`,
  );
  return `[rules.${name}]\n${lines.join("\n")}\ncolumns.id.write = "public"\n${restricted.join("")}`;
}

function tomlText(rule: Expression): string {
  return JSON.stringify(print(rule));
}
