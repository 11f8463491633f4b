import type { SqlValue, Statement } from "../../platform/database.js";
import { type ColumnName, carriedName, storedName, type TableName } from "../../sqlite/names.js";

/**
 * A piece of SQL text, and the parameters for its placeholders. Only this folder makes SQL for the project's tables.
 * Values of requests are always parameters, and names come from a parsed schema or from the database, so that no
 * request can inject SQL.
 */
export interface Sql {
  readonly text: string;
  readonly params: readonly Param[];
}

/** What a placeholder stands for: a value, or a slot, whose value is given when the statement is sent. */
export type Param = SqlValue | Slot;

/**
 * A named placeholder, whose value is given when the statement is sent, so that requests that differ only in values
 * share their SQL. The slot for a column's value has the column's name. Other slots have names that no column can have:
 * `auth.id`, `now()`, `filter.0`.
 */
export class Slot {
  constructor(readonly name: string) {}
}

/** The values of slots, by the slots' names; undefined for a name without a value. */
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

/** An SQL fragment without any text. */
export const empty: Sql = { text: "", params: none };

/**
 * Makes a `?` placeholder with its value, or with the slot that gets one later. An infinite number becomes a literal
 * instead, 9e999 or -9e999, which SQLite reads as infinite.
 */
export function param(value: Param): Sql {
  // The protocols of D1 and libSQL servers cannot carry infinities as parameters.
  if (value === Number.POSITIVE_INFINITY) return sql`9e999`;
  if (value === Number.NEGATIVE_INFINITY) return sql`-9e999`;
  return { text: "?", params: [value] };
}

/** Writes a whole number that is not from a request as a literal: a parameter would take longer. */
export function integer(value: number): Sql {
  return { text: String(BigInt(value)), params: none };
}

/** Quotes the name of a table or column of the schema, which allows no quotes in names. */
export function name(value: TableName | ColumnName): Sql {
  return { text: `"${value}"`, params: none };
}

/** Quotes the name that a column of the schema has in subqueries and common table expressions (`carriedName`). */
export function carried(column: ColumnName): Sql {
  return { text: `"${carriedName(column)}"`, params: [] };
}

/** Returns the quoted name of the column of a table that is called so in a subquery. */
export function stored(column: Sql): Sql {
  const inside = column.text.slice(1, -1);
  const its = storedName(inside);
  return its === inside ? column : { text: `"${its}"`, params: [] };
}

/**
 * Returns the quoted name, in SQL, of something that the database has reported, such as an index. Such a name may hold
 * any character, so quotes in it are doubled.
 */
export function physicalName(value: string): Sql {
  return { text: `"${value.replaceAll('"', '""')}"`, params: none };
}

/** Makes the clause by which SQLite uses this index of a table and no other; null stands for the table itself. */
export function indexedBy(index: { readonly name: string } | null): Sql {
  return index === null ? sql`NOT INDEXED` : sql`INDEXED BY ${physicalName(index.name)}`;
}

/**
 * Returns the name, in SQL, for an alias that a rule uses: `_x_` and the alias. All names that this folder makes up
 * begin with `_`, and no name of a project's table does, so that an alias or a common table expression never hides a
 * table.
 */
export function aliasName(alias: string): Sql {
  return { text: `"_x_${alias}"`, params: none };
}

/** Returns the name of an alias as SQLite's query plan has it, without quotes. */
export function unquoted(alias: Sql): string {
  return alias.text.replaceAll('"', "");
}

/**
 * Makes a name of a letter and a number, such as `_p0`, for a column or a common table expression that this folder
 * makes up. The letter says what is named.
 *
 * - `b`, `c`, `e`: for a step of an expansion, `b` what is decided without a row, `c` the rows that are examined, `e`
 *   the rows that are found, and columns of the result.
 * - `f`: whether no earlier way leads to a row as well.
 * - `g`, `p`: the result of an `exists`, `g` of one that does not depend on the listed row, `p` of one that does.
 * - `k`: a value of a primary key.
 * - `l`, `w`: `l` the rows that a hop of a way has found, `w` the values that a way has come to.
 * - `o`: a value of a row's place in the order.
 * - `s`: how many bytes a `contains` filter searches.
 * - `v`: a value that a step of an operation returns.
 */
export function internalName(
  kind: "b" | "c" | "e" | "f" | "g" | "k" | "l" | "o" | "p" | "s" | "v" | "w",
  i: number,
): Sql {
  return { text: `"_${kind}${i}"`, params: none };
}

/** Puts an expression that the owner has written in the schema, such as a default, in parentheses. */
export function ownersSql(text: string): Sql {
  return { text: `(${text})`, params: none };
}

/** Returns a column's name as a text literal, for its key in a JSON object. Names of columns hold no quote. */
export function textLiteral(column: ColumnName): Sql {
  return { text: `'${column}'`, params: none };
}

/** Joins SQL fragments, with the fragment `separator` between any two of them. */
export function join(parts: readonly Sql[], separator: Sql): Sql {
  let text = "";
  const params: Param[] = [];
  parts.forEach((part, i) => {
    text += i === 0 ? part.text : separator.text + part.text;
    for (const value of part.params) params.push(value);
  });
  return { text, params };
}

/** Joins SQL fragments with commas between them. */
export function commaList(parts: readonly Sql[]): Sql {
  return join(parts, sql`, `);
}

type Columns = Iterable<{ readonly name: ColumnName }>;

/** Lists columns of an alias of a table, with commas between them. */
export function columnsIn(alias: Sql, columns: Columns): Sql {
  return commaList([...columns].map((column) => sql`${alias}.${name(column.name)}`));
}

/** The same for an alias of a subquery. */
export function carriedIn(alias: Sql, columns: Columns): Sql {
  return commaList([...columns].map((column) => sql`${alias}.${carried(column.name)}`));
}

/** Lists columns of an alias of a table for the SELECT of a subquery, under the names that they have in it. */
export function columnsOut(alias: Sql, columns: Columns): Sql {
  const out = ({ name: column }: { readonly name: ColumnName }) =>
    carried(column).text === name(column).text
      ? sql`${alias}.${name(column)}`
      : sql`${alias}.${name(column)} AS ${carried(column)}`;
  return commaList([...columns].map(out));
}

/** Joins conditions by AND. Without any, the condition is TRUE. */
export function and(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`1` : chain(terms, sql` AND `);
}

/** Joins conditions by OR. Without any, the condition is FALSE. */
export function or(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`0` : chain(terms, sql` OR `);
}

/** Makes the SQL of a sum: the terms joined by `+`, or 0 where there are none. */
export function sum(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`0` : chain(terms, sql` + `);
}

/** How many terms `chain` puts side by side in one pair of parentheses. More are split into two halves. */
const chainMax = 4;

/**
 * Joins one or more terms by an associative operator, such as AND. Many terms become a balanced tree of parentheses,
 * because D1 allows expressions of a depth of 100 at most.
 */
export function chain(terms: readonly Sql[], operator: Sql): Sql {
  if (terms.length === 1) return terms[0]!;
  if (terms.length <= chainMax) return sql`(${join(terms, operator)})`;
  const middle = terms.length >> 1;
  return sql`(${chain(terms.slice(0, middle), operator)}${operator}${chain(terms.slice(middle), operator)})`;
}

/**
 * Fills the slots of a statement. A slot gets the value from the first of `values` that has its name. Throws where none
 * has: the driver would take the missing value for NULL.
 */
export function bind({ text, params }: Sql, values: readonly SlotValues[]): Statement {
  return { sql: text, params: filled(params, values) };
}

/**
 * Fills the slots of a SELECT that returns one row at most, as `bind` does, and marks it by `Statement.single`, so that
 * it can be joined with others.
 */
export function bindSingle(sql: Sql, values: readonly SlotValues[]): Statement {
  return { sql: sql.text, params: filled(sql.params, values), single: "row" };
}

/**
 * Fills the slots of a SELECT that returns one row at most and has a single column, as `bind` does, and marks it by
 * `Statement.single`, so that it can be joined with others.
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
