import type { SqlValue, Statement } from "../../platform/database.js";
import type { ColumnName, TableName } from "../../sqlite/names.js";

/**
 * A piece of SQL text with the parameters for its placeholders. SQL for the owner's tables is made in this folder
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
 * Stands for a value that is given when the statement is sent, so that requests that differ only in values share
 * their SQL. The slot of a row's value has the name of its column. Other slots have names that no column can have:
 * `auth.id`, `now()`, `filter.0`.
 */
export class Slot {
  constructor(readonly name: string) {}
}

/** Values by the names of their slots. Undefined where there is none of that name. */
export interface SlotValues {
  get(name: string): SqlValue | undefined;
}

/** A fragment from a template: sql`SELECT ${a} FROM ${b}`. Only fragments can be embedded, no strings. */
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

/** No SQL at all. */
export const empty: Sql = { text: "", params: none };

/** A placeholder for a value. Infinities become a number in the SQL text, which SQLite reads as infinite. */
export function param(value: Param): Sql {
  // The protocols of D1 and libSQL servers cannot carry infinities.
  if (value === Number.POSITIVE_INFINITY) return sql`9e999`;
  if (value === Number.NEGATIVE_INFINITY) return sql`-9e999`;
  return { text: "?", params: [value] };
}

/** A number that does not come from a request, written into the SQL text, because a parameter would cost more. */
export function integer(value: number): Sql {
  return { text: String(BigInt(value)), params: none };
}

/** A table or column of the schema as a quoted name. Such names hold no quote. */
export function name(value: TableName | ColumnName): Sql {
  return { text: `"${value}"`, params: none };
}

/** A name that the database reported, such as that of an index, as a quoted name. It may hold any character. */
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
 * A name for a column of a subquery, such as `_p0`: for the result of an `exists` that the listed row does not matter
 * to (`g`) or that rows are judged by (`p`), for a value of a primary key (`k`), for the bytes that a `contains` filter
 * searches (`s`), for a value of a place in the order (`o`); for whether no other way leads to a row (`f`); or for a common table
 * expression of the rows that a hop of a way has found (`l`), or of what an expansion is computed with (`b`, `c`, `e`); for a
 * value that a step of an operation returns (`v`).
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

/** Fragments with a separator between them. */
export function join(parts: readonly Sql[], separator: Sql): Sql {
  let text = "";
  const params: Param[] = [];
  parts.forEach((part, i) => {
    text += i === 0 ? part.text : separator.text + part.text;
    for (const value of part.params) params.push(value);
  });
  return { text, params };
}

/** Fragments with commas between them. */
export function commaList(parts: readonly Sql[]): Sql {
  return join(parts, sql`, `);
}

/** The terms joined by AND; TRUE for no terms. */
export function and(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`1` : chain(terms, sql` AND `);
}

/** The terms joined by OR; FALSE for no terms. */
export function or(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`0` : chain(terms, sql` OR `);
}

/** The terms joined by `+`; 0 for no terms. */
export function sum(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`0` : chain(terms, sql` + `);
}

/** Up to how many terms `chain` puts side by side into one pair of parentheses. */
const chainMax = 4;

/**
 * One or more terms joined by an associative operator. Many become a balanced tree, because D1 allows a depth of 100
 * at most.
 */
export function chain(terms: readonly Sql[], operator: Sql): Sql {
  if (terms.length === 1) return terms[0]!;
  if (terms.length <= chainMax) return sql`(${join(terms, operator)})`;
  const middle = terms.length >> 1;
  return sql`(${chain(terms.slice(0, middle), operator)}${operator}${chain(terms.slice(middle), operator)})`;
}

/**
 * The statement with every slot filled from the first of `values` that has a value of its name. Throws where none
 * has, because the driver would take the missing value for NULL.
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

/** As `bindSingle`, for a SELECT of one column. */
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
