import type { Database } from "../../../src/platform/database.js";
import { parseSchema } from "../../../src/project/parse-schema.js";
import { createIndex, createTable, nothingKept } from "../../../src/schema/plan/ddl.js";
import type { ColumnType } from "../../../src/sqlite/column-type.js";
import type { Random } from "../support/random.js";
import type { Row, Value } from "../support/values.js";

/** A table of the test: how it is declared, and what its rows are made of. */
export interface TableSpec {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnSpec>>;
  /** Empty for a table without one, which is listed in the order of insertion. */
  readonly primaryKey: readonly string[];
  readonly indexes: readonly IndexSpec[];
  readonly rows: readonly [minimum: number, maximum: number];
  /** Made as by another program, and adopted. */
  readonly pulled?: "rowid" | "without_rowid";
}

export interface ColumnSpec {
  readonly type: ColumnType;
  readonly notNull?: boolean;
  /** Of pulled tables. */
  readonly collation?: Collation;
  readonly values: (random: Random, people: readonly string[], row: number) => Value;
}

export type Collation = "NOCASE" | "RTRIM";

export interface IndexSpec {
  /** `-column` descends. */
  readonly columns: readonly string[];
  readonly unique?: boolean;
  readonly where?: string;
}

export const texts: readonly string[] = [
  "",
  "a",
  "A",
  "b",
  "ab",
  "abc",
  "aé",
  "%",
  "_",
  "a%b",
  "a_b",
  "axb",
  "'",
  "''",
  '"',
  "a,b",
  "[a]",
  "\\",
  "a\nb",
  " a",
  "1",
  "null",
  "é",
  "e\u0301",
  "ß",
  "日本",
  "🙂",
  "🙂🙃",
  "\ufeffa",
  "\uffff",
  "\u{10ffff}",
];

export const integers: readonly bigint[] = [
  -(2n ** 63n),
  -(2n ** 53n) - 1n,
  -(2n ** 53n),
  -(2n ** 53n) + 1n,
  -7n,
  -1n,
  0n,
  1n,
  2n,
  3n,
  10n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 53n + 2n,
  2n ** 63n - 2n,
  2n ** 63n - 1n,
];

/** Also such as SQLite's own reading of decimal text gets wrong by a bit. */
export const reals: readonly number[] = [
  -1.7976931348623157e308,
  -2.545111195356166e245,
  -1.5,
  -1e-7,
  -5e-324,
  0,
  5e-324,
  2.2250738585072014e-308,
  0.1,
  0.30000000000000004,
  1 / 3,
  1,
  1.5,
  2,
  2 ** 53,
  2 ** 53 + 2,
  1e21,
  8.2086652712908e219,
  1e300,
];

const blobs: readonly Uint8Array[] = ["", "00", "0001", "01", "61", "6162", "ff", "fffefd", "e29883f09f9982"].map(
  (hex) => new Uint8Array(Buffer.from(hex, "hex")),
);
const documents = ["1", "null", '"a"', "[]", '{"a":[1,2.5,"é"],"b":null}', "true", "12345678901234567890"];
const groups = ["g1", "g2", "g3", "G1", "ü"];

const sometimes = (share: number, values: ColumnSpec["values"]): ColumnSpec["values"] => {
  return (random, people, row) => (random.chance(share) ? values(random, people, row) : null);
};
const among =
  (values: readonly Value[]): ColumnSpec["values"] =>
  (random) =>
    random.pick(values);

const integer = (values: ColumnSpec["values"], notNull = false): ColumnSpec => ({
  type: "integer",
  values,
  notNull,
});
const text = (values: ColumnSpec["values"], notNull = false): ColumnSpec => ({
  type: "text",
  values,
  notNull,
});
const small: ColumnSpec["values"] = (random) => BigInt(random.int(-2, 4));
const owner = text(sometimes(0.8, (random, people) => random.pick(people)));
const group = text(sometimes(0.8, among(groups)));
const real: ColumnSpec = {
  type: "real",
  values: sometimes(0.7, (random) => (random.chance(0.7) ? random.pick(reals) : random.next() * 1000)),
};
const boolean: ColumnSpec = { type: "boolean", values: sometimes(0.7, among([true, false])) };
const blob: ColumnSpec = { type: "blob", values: sometimes(0.7, among(blobs)) };
const json: ColumnSpec = { type: "json", values: sometimes(0.7, among(documents)) };

/** Columns that rules look at: all tables have them. */
const common = {
  owner,
  grp: group,
  n: integer(sometimes(0.7, small)),
  t: text(sometimes(0.7, among(texts))),
  b: boolean,
};

const distinctInteger: ColumnSpec["values"] = (random, _people, row) =>
  random.chance(0.1) ? random.pick(integers) : BigInt(row * 3 - 200);
const distinctText: ColumnSpec["values"] = (random, _people, row) =>
  random.pick(texts) + (random.chance(0.5) ? "" : String(row));

const blanksBehind: ColumnSpec["values"] = (random) => random.pick(texts) + random.pick(["", " ", "  "]);

export const tables: readonly TableSpec[] = [
  {
    name: "bare",
    columns: {
      id: integer(distinctInteger, true),
      ...common,
      r: real,
      bin: blob,
      doc: json,
    },
    primaryKey: ["id"],
    indexes: [],
    rows: [200, 300],
  },
  {
    name: "indexed",
    columns: {
      id: integer(distinctInteger, true),
      ...common,
      m: integer(small, true),
      r: real,
      code: text(sometimes(0.6, distinctText)),
      doc: json,
    },
    primaryKey: ["id"],
    indexes: [
      { columns: ["n"] },
      { columns: ["-t"] },
      { columns: ["owner"] },
      { columns: ["b", "n"] },
      { columns: ["m", "-r"] },
      { columns: ["grp", "t", "-n"] },
      { columns: ["code"], unique: true },
    ],
    rows: [300, 400],
  },
  {
    name: "worded",
    columns: {
      id: text(distinctText, true),
      ...common,
      x: integer(sometimes(0.8, among(integers))),
      label: text(among(texts), true),
    },
    primaryKey: ["id"],
    indexes: [
      { columns: ["-x"] },
      { columns: ["x", "id"] },
      { columns: ["label", "-id"] },
      { columns: ["-label", "n"] },
      { columns: ["grp", "owner"] },
      { columns: ["n"], where: "n > 0" },
    ],
    rows: [200, 350],
  },
  {
    name: "paired",
    columns: {
      k1: text(among(texts), true),
      k2: integer(among(integers), true),
      ...common,
      r: real,
    },
    primaryKey: ["k1", "k2"],
    indexes: [{ columns: ["k2", "k1"] }, { columns: ["-r", "b"] }, { columns: ["n", "-t", "owner"] }],
    rows: [200, 300],
  },
  {
    name: "tripled",
    columns: {
      ...common,
      c: { type: "boolean", values: among([true, false]), notNull: true },
      a: integer((random) => BigInt(random.int(0, 12)), true),
      d: { type: "real", values: (random) => random.pick(reals), notNull: true },
    },
    primaryKey: ["a", "c", "d"],
    indexes: [{ columns: ["-a", "-c", "-d"] }, { columns: ["d"] }, { columns: ["owner", "b"] }],
    rows: [200, 300],
  },
  {
    name: "together",
    columns: {
      id: integer(distinctInteger, true),
      ...common,
      u: integer(sometimes(0.6, (random) => BigInt(random.int(0, 40)))),
      v: text(sometimes(0.6, among(texts))),
      w: real,
    },
    primaryKey: ["id"],
    indexes: [
      { columns: ["u", "v"], unique: true },
      { columns: ["-v", "u", "w"], unique: true },
      { columns: ["-n", "-id"] },
      { columns: ["w"] },
    ],
    rows: [200, 300],
  },
  {
    name: "digests",
    columns: {
      digest: {
        type: "blob",
        values: (random) => new Uint8Array(random.times(random.int(0, 3), () => random.int(0, 255))),
        notNull: true,
      },
      ...common,
      extra: blob,
    },
    primaryKey: ["digest"],
    indexes: [{ columns: ["extra"] }, { columns: ["-extra", "n"] }, { columns: ["b", "-digest"] }],
    rows: [200, 250],
  },
  {
    name: "wide",
    columns: {
      id: integer((_random, _people, row) => 2n ** 53n - 100n + BigInt(row), true),
      ...common,
      r: real,
      bin: blob,
      doc: json,
      ...Object.fromEntries(
        Array.from({ length: 12 }, (_, i) => [
          `c${i}`,
          i % 3 === 0 ? integer(sometimes(0.6, among(integers))) : i % 3 === 1 ? common.t : boolean,
        ]),
      ),
    },
    primaryKey: ["id"],
    indexes: [{ columns: ["c0", "-c1"] }, { columns: ["grp"] }],
    rows: [200, 250],
  },
  {
    name: "folded",
    pulled: "rowid",
    columns: {
      id: { ...text(distinctText, true), collation: "NOCASE" },
      ...common,
      label: { ...text(sometimes(0.8, among(texts))), collation: "NOCASE" },
      tail: { ...text(blanksBehind, true), collation: "RTRIM" },
    },
    primaryKey: ["id"],
    indexes: [
      { columns: ["label", "n"] },
      { columns: ["-label", "-id"] },
      { columns: ["tail", "id"] },
      { columns: ["-tail"] },
    ],
    rows: [200, 250],
  },
  {
    name: "packed",
    pulled: "without_rowid",
    columns: {
      k1: { ...text(among(texts), true), collation: "NOCASE" },
      k2: { ...text(blanksBehind, true), collation: "RTRIM" },
      ...common,
      label: { ...text(sometimes(0.8, among(texts))), collation: "NOCASE" },
    },
    primaryKey: ["k1", "k2"],
    indexes: [{ columns: ["label", "k2"] }, { columns: ["-k2", "-k1"] }],
    rows: [150, 200],
  },
  {
    name: "keyless",
    columns: { ...common, r: real },
    primaryKey: [],
    indexes: [{ columns: ["n"] }, { columns: ["-t", "b"] }, { columns: ["owner"] }],
    rows: [200, 300],
  },
];

/** Tables that rules look in, reached by a key, a unique index, a plain index, or no index at all. */
export const lookups: readonly TableSpec[] = [
  {
    name: "members",
    columns: {
      grp: text(among(groups), true),
      user_id: text((random, people) => random.pick(people), true),
      level: integer(small),
      active: boolean,
    },
    primaryKey: ["grp", "user_id"],
    indexes: [{ columns: ["user_id"] }],
    rows: [8, 12],
  },
  {
    name: "tiers",
    columns: {
      id: integer(distinctInteger, true),
      grp: text(sometimes(0.7, among([...groups, "other", "another"]))),
      level: integer(small),
    },
    primaryKey: ["id"],
    indexes: [{ columns: ["grp"], unique: true }],
    rows: [8, 8],
  },
  {
    name: "links",
    columns: { id: integer(distinctInteger, true), grp: group, level: integer(small), user_id: owner },
    primaryKey: ["id"],
    indexes: [],
    rows: [6, 10],
  },
];

/** As svc.schema.yaml has it. */
export function schemaText(specs: readonly TableSpec[]): string {
  return specs.map(tableText).join("");
}

function tableText({ name, columns, primaryKey, indexes }: TableSpec): string {
  const lines = Object.entries(columns).map(
    ([column, { type, notNull }]) => `    ${column}: { type: ${type}, not_null: ${notNull ?? false} }`,
  );
  const described = indexes.map(({ columns: list, unique, where }) => ({
    columns: list,
    unique: unique ?? false,
    ...(where === undefined ? {} : { where }),
  }));
  const key = primaryKey.length === 0 ? "" : `  primary_key: ${JSON.stringify(primaryKey)}\n`;
  return `${name}:\n${key}  indexes: ${JSON.stringify(described)}\n  columns:\n${lines.join("\n")}\n`;
}

/** Rows that no unique key of the table refuses, in the order of their insertion. */
export function makeRows(spec: TableSpec, people: readonly string[], random: Random): readonly Row[] {
  const folded = (row: Row, column: string) => fold(row[column]!, spec.columns[column]!.collation);
  const keys = [spec.primaryKey, ...spec.indexes.filter(({ unique }) => unique).map(({ columns }) => columns)]
    .filter((key) => key.length > 0)
    .map((key) => ({ columns: key.map((column) => column.replace(/^-/, "")), taken: new Set<string>() }));
  const rows: Row[] = [];
  const wanted = random.int(...spec.rows);
  for (let attempt = 0; rows.length < wanted && attempt < wanted * 20; attempt++) {
    const row = Object.fromEntries(
      Object.entries(spec.columns).map(([name, { values }]) => [name, values(random, people, attempt)]),
    );
    const marks = keys.map(({ columns }) => markOf(columns.map((column) => folded(row, column))));
    if (keys.some(({ taken }, i) => marks[i] !== null && taken.has(marks[i]!))) continue;
    keys.forEach(({ taken }, i) => {
      if (marks[i] !== null) taken.add(marks[i]!);
    });
    rows.push(row);
  }
  return rows;
}

/** Equal for what the collation holds for equal, and in its order. */
export function fold(value: Value, collation: Collation | undefined): Value {
  if (typeof value !== "string") return value;
  if (collation === "NOCASE") return value.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return collation === "RTRIM" ? value.replace(/ +$/, "") : value;
}

/** Null where a NULL keeps the key from being equal to any. */
function markOf(values: readonly Value[]): string | null {
  if (values.includes(null)) return null;
  return JSON.stringify(values.map((value) => (value instanceof Uint8Array ? [...value] : String(value))));
}

/** The tables that the server did not make itself. */
export async function makePulled(database: Database, specs: readonly TableSpec[]): Promise<void> {
  for (const spec of specs.filter(({ pulled }) => pulled !== undefined)) {
    const table = parseSchema(tableText(spec)).schema!.tables.get(spec.name)!;
    const collations = Object.entries(spec.columns).flatMap(([name, { collation }]) =>
      collation === undefined ? [] : [[name, collation] as const],
    );
    const kept = {
      ...nothingKept,
      collations: new Map(collations),
      withoutRowid: spec.pulled === "without_rowid",
    };
    const statements = [createTable(table, kept), ...table.indexes.map((index) => createIndex(spec.name, index))];
    await database.batch(statements.map((sql) => ({ sql, params: [] })));
  }
}
