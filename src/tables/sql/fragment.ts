import type { SqlValue, Statement } from "../../platform/database.js";
import type { ColumnName, TableName } from "../../sqlite/names.js";

/**
 * A piece of SQL text with the parameters for its placeholders. SQL for the project's tables is made in this folder
 * alone. Values of requests are always parameters, and names come from a parsed schema or from the database, so a
 * request cannot inject SQL.
 */
export interface Sql {
  readonly text: string;
  readonly params: readonly Param[];
}

/** A value for a placeholder, or a slot that is filled when the statement is sent. */
export type Param = SqlValue | Slot;

/**
 * Stands for a value that is given when the statement is sent, so that requests that differ only in values share their
 * SQL. A slot for a column's value has the name of the column. Other slots have names that no column can have:
 * `auth.id`, `now()`, `filter.0`.
 */
export class Slot {
  constructor(readonly name: string) {}
}

/** Values for slots, by the slots' names. Undefined where there is none of a name. */
export interface SlotValues {
  get(name: string): SqlValue | undefined;
}

/** Makes a fragment from a template: sql`SELECT ${a} FROM ${b}`. Only fragments can be embedded, no strings. */
export function sql(strings: TemplateStringsArray, ...parts: readonly Sql[]): Sql {
  if (parts.length === 0) return { text: strings[0]!, params: none };
  let text = strings[0]!;
  const params: Param[] = [];
  parts.forEach((part, i) => {
    text += part.text + strings[i + 1]!;
    for (const param of part.params) params.push(param);
  });
  return { text, params };
}

const none: readonly Param[] = [];

/** A fragment without any text. */
export const empty: Sql = { text: "", params: none };

/** A placeholder for a value. Infinities become a number in the SQL text, which SQLite reads as infinite. */
export function param(value: Param): Sql {
  // The protocols of D1 and libSQL servers cannot carry infinities as parameters.
  if (value === Number.POSITIVE_INFINITY) return sql`9e999`;
  if (value === Number.NEGATIVE_INFINITY) return sql`-9e999`;
  return { text: "?", params: [value] };
}

/** A number that does not come from a request, written into the SQL text, because a parameter would cost more. */
export function integer(value: number): Sql {
  return { text: String(BigInt(value)), params: none };
}

/** A table or column of the schema as a quoted name in SQL. Such names hold no quote. */
export function name(value: TableName | ColumnName): Sql {
  return { text: `"${value}"`, params: none };
}

/** A name that the database reported, such as that of an index, as a quoted name in SQL. It may hold any character. */
export function physicalName(value: string): Sql {
  return { text: `"${value.replaceAll('"', '""')}"`, params: none };
}

/**
 * The name in SQL of an alias in a rule. All names that this folder makes up begin with `_` and no name of a project
 * does, so that an alias or a common table expression never hides a table.
 */
export function aliasName(alias: string): Sql {
  return { text: `"_x_${alias}"`, params: none };
}

/**
 * A name in SQL that is made up for a column of a subquery, such as `_p0`: for the result of an `exists` that does not
 * depend on the listed row (`g`) or that rows are tested by (`p`), for a value of a primary key (`k`), for the bytes
 * that a `contains` filter searches (`s`), for a value of a place in the order (`o`), or for whether no other way leads
 * to a row (`f`); or for a common table expression of the rows that a hop of a way has found (`l`), or of what an
 * expansion is computed with (`b`, `c`, `e`); or for a value that a step of an operation returns (`v`).
 */
export function internalName(
  kind: "b" | "c" | "e" | "f" | "g" | "k" | "l" | "o" | "p" | "s" | "v" | "w",
  i: number,
): Sql {
  return { text: `"_${kind}${i}"`, params: none };
}

/** An SQL expression that the project's owner wrote in the schema, such as a column's default, in parentheses. */
export function ownersSql(text: string): Sql {
  return { text: `(${text})`, params: none };
}

/** A column's name as a text literal, which is its key in a JSON object. Names of columns hold no quote. */
export function textLiteral(column: ColumnName): Sql {
  return { text: `'${column}'`, params: none };
}

/** Joins fragments with a separator between them. */
export function join(parts: readonly Sql[], separator: Sql): Sql {
  let text = "";
  const params: Param[] = [];
  parts.forEach((part, i) => {
    text += i === 0 ? part.text : separator.text + part.text;
    for (const value of part.params) params.push(value);
  });
  return { text, params };
}

/** Joins fragments with commas between them. */
export function commaList(parts: readonly Sql[]): Sql {
  return join(parts, sql`, `);
}

/** Joins conditions by AND; TRUE for none. */
export function and(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`1` : chain(terms, sql` AND `);
}

/** Joins conditions by OR; FALSE for none. */
export function or(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`0` : chain(terms, sql` OR `);
}

/** Joins numbers by `+`; 0 for none. */
export function sum(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`0` : chain(terms, sql` + `);
}

/** Up to how many terms `chain` joins side by side in one pair of parentheses. */
const chainMax = 4;

/**
 * Joins one or more terms by an associative operator. Many become a balanced tree, because D1 allows expressions of a
 * depth of 100 at most.
 */
export function chain(terms: readonly Sql[], operator: Sql): Sql {
  if (terms.length === 1) return terms[0]!;
  if (terms.length <= chainMax) return sql`(${join(terms, operator)})`;
  const middle = terms.length >> 1;
  return sql`(${chain(terms.slice(0, middle), operator)}${operator}${chain(terms.slice(middle), operator)})`;
}

/**
 * Fills every slot of a statement from the first of `values` that has a value of its name. Throws where none has,
 * because the driver would take the missing value for NULL.
 */
export function bind({ text, params }: Sql, values: readonly SlotValues[]): Statement {
  return { sql: text, params: filled(params, values) };
}

/**
 * Fills the slots of a SELECT that returns at most one row, as `bind` does, and marks the statement as one
 * (`Statement.single`).
 */
export function bindSingle(sql: Sql, values: readonly SlotValues[]): Statement {
  return { sql: sql.text, params: filled(sql.params, values), single: "row" };
}

/**
 * Fills the slots of a SELECT that returns at most one row with one column, and marks the statement as such
 * (`Statement.single`).
 */
export function bindValue(sql: Sql, values: readonly SlotValues[]): Statement {
  return { sql: sql.text, params: filled(sql.params, values), single: "value" };
}

function filled(params: readonly Param[], values: readonly SlotValues[]): readonly SqlValue[] {
  return params.map((param) => (param instanceof Slot ? slotValue(param, values) : param));
}

function slotValue({ name }: Slot, values: readonly SlotValues[]): SqlValue {
  for (const part of values) {
    const value = part.get(name);
    if (value !== undefined) return value;
  }
  throw new Error(`nothing is given for ${name}`);
}
