import type { Column, NamedOperation, Schema, Table } from "../project/model.js";
import { isNumbered, needsValue } from "../project/needs-value.js";
import type { RulesSource } from "../project/parse-rules.js";
import type { ColumnType } from "../sqlite/column-type.js";

/** What can be chosen for the types that `svc gen types` writes. */
export interface RowTypesOptions {
  /** With `number | string` also integers beyond ±(2^53−1) fit, which are sent as decimal strings. */
  readonly integers: "number" | "number | string";
}

/**
 * TypeScript source of the types for `createClient<Tables, Operations>`
 * (`docs/guides/tables.md#types-for-your-program`).
 */
export function rowTypes(schema: Schema, rules: RulesSource["rules"], options: RowTypesOptions): string {
  const tables = [...schema.tables.values()];
  const operations = [...schema.operations.values()];
  const types = [
    ...tables.flatMap(({ columns }) => [...columns.values()]),
    ...operations.flatMap(({ params }) => [...params.values()]),
    ...operations.flatMap(({ steps }) => steps.flatMap(({ columns }) => columns)),
  ];
  const usesJson = types.some(({ type }) => type === "json");
  return [
    "// Written by `svc gen types` from svc.schema.yaml: a change here is gone with the next one.",
    "",
    ...(tables.every(({ strict }) => strict) ? [] : [notStrict, ""]),
    ...(usesJson ? [jsonType, ""] : []),
    `/** For \`createClient<Tables>\`; a row is a \`Tables["${tables[0]?.name}"]["row"]\`, say. */`,
    "export interface Tables {",
    ...tables.flatMap((table) => tableLines(table, tables, rules, options)),
    "}",
    "",
    ...(operations.length === 0 ? [] : operationLines(operations, options)),
  ].join("\n");
}

const notStrict =
  "// A table with strict: false has the types that its columns say; SQLite does not hold its rows to them.";

const jsonType = "export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };";

function tableLines(
  table: Table,
  tables: readonly Table[],
  rules: RulesSource["rules"],
  options: RowTypesOptions,
): readonly string[] {
  const { name, virtual, primaryKey } = table;
  const columns = [...table.columns.values()];
  const hidden = rules.get(name)?.columns;
  const isKey = (column: Column) => primaryKey.includes(column.name);
  // Writes accept any object for a JSON column. An application's own interface is not assignable to `Json` in
  // TypeScript, although its values are JSON.
  const typed = (column: Column, key: string) =>
    column.type === "json" && key !== "row" ? "Json | object" : typeOf(column, table, key, options);
  const block = (key: string, some: readonly Column[], isOptional: (column: Column) => boolean) => [
    `    ${key}: {`,
    ...some.map((column) => `      ${column.name}${isOptional(column) ? "?" : ""}: ${typed(column, key)};`),
    "    };",
  ];
  const given = columns.filter(({ managed }) => managed === null);
  const changing = given.filter((column) => !isKey(column));
  const isFixed = virtual || primaryKey.length === 0;
  return [
    `  ${name}: {`,
    // Callers who may not read a column with a rule for reading get rows without it.
    ...block("row", columns, ({ name: column }) => hidden?.get(column)?.read !== undefined),
    ...referenceLines(table, tables),
    ...(virtual ? ["    create: never;"] : block("create", given, (column) => !needsValue(column, table))),
    ...(isFixed || changing.length === 0 ? ["    update: never;"] : block("update", changing, () => true)),
    `    key: ${isFixed ? "never" : keyOf(columns.filter(isKey), options)};`,
    "  };",
  ];
}

/** What each operation takes, and what it answers with. */
function operationLines(operations: readonly NamedOperation[], options: RowTypesOptions): readonly string[] {
  const fields = (names: readonly string[]) =>
    names.length === 0 ? "Record<never, never>" : `{ ${names.join("; ")} }`;
  const nullable = (type: string, mayBeNull: boolean) =>
    mayBeNull && type !== "Json" && type !== "Json | object" ? `${type} | null` : type;
  return [
    "/** For `createClient<Tables, Operations>`, beside `Tables`. */",
    "export interface Operations {",
    ...operations.flatMap(({ name, params, steps }) => {
      const taken = [...params.values()].map((param) => {
        const type = param.type === "json" ? "Json | object" : valueTypes(options)[param.type];
        return `${param.name}${param.default === undefined ? "" : "?"}: ${nullable(type, param.nullable)}`;
      });
      const returning = steps.find(({ returns }) => returns !== null);
      const row = fields(
        (returning?.columns ?? []).map(
          (column) => `${column.name}: ${nullable(valueTypes(options)[column.type], !column.notNull)}`,
        ),
      );
      const result = returning === undefined ? "null" : returning.returns === "one" ? row : `${row}[]`;
      return [`  ${name}: {`, `    params: ${fields(taken)};`, `    result: ${result};`, "  };"];
    }),
    "}",
    "",
  ];
}

/**
 * The member `references` of a table's type: the references that `expand` can follow from its rows. Those of the table
 * itself are listed by column, those of other tables to it by table and column.
 */
function referenceLines({ name, columns }: Table, tables: readonly Table[]): readonly string[] {
  const forward = [...columns.values()]
    .filter(({ references }) => tables.some((other) => other.name === references?.table))
    .map(({ name: column, references }) => `      ${column}: ${JSON.stringify(references!.table)};`);
  const backward = tables.flatMap((other) =>
    [...other.columns.values()]
      .filter(({ references }) => references?.table === name)
      .map((column) => `      "${other.name}.${column.name}": [${JSON.stringify(other.name)}];`),
  );
  const lines = [...forward, ...backward];
  return lines.length === 0 ? ["    references: Record<never, never>;"] : ["    references: {", ...lines, "    };"];
}

function keyOf(columns: readonly Column[], options: RowTypesOptions): string {
  const types = columns.map(({ type }) => valueTypes(options)[type]);
  const fields = columns.map(({ name }, i) => `${name}: ${types[i]}`);
  const object = `{ ${fields.join("; ")} }`;
  return columns.length === 1 ? `${types[0]} | ${object}` : object;
}

function typeOf(column: Column, table: Table, block: string, options: RowTypesOptions): string {
  const { type, notNull } = column;
  const value = valueTypes(options)[type];
  const isThere = notNull || isNumbered(column, table) || (block === "create" && needsValue(column, table));
  return isThere || type === "json" ? value : `${value} | null`;
}

const valueTypes = ({ integers }: RowTypesOptions): Record<ColumnType, string> => ({
  integer: integers,
  real: "number",
  text: "string",
  boolean: "boolean",
  json: "Json",
  blob: "string",
});
