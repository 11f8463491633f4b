import type { SqlValue, Statement } from "../../platform/database.js";
import type { ColumnName, TableName } from "../../sqlite/names.js";

/**
 * A piece of SQL text with the parameters of its placeholders. This folder is the only place where SQL text for
 * customers' tables is put together: a request's values travel as parameters, and names come out of a parsed schema.
 */
export interface Sql {
  readonly text: string;
  readonly params: readonly Param[];
}

export type Param = SqlValue | Slot;

/**
 * The place of a value that is given when the statement is sent, so that requests of one shape share their SQL. A value of a
 * row has its column's name; no other name is one that a column can have: `auth.id`, `now()`, `filter.0`.
 */
export class Slot {
  constructor(readonly name: string) {}
}

/** Values by the name of their slot. */
export interface SlotValues {
  get(name: string): SqlValue | undefined;
}

/** Literal SQL around fragments: sql`SELECT ${a} FROM ${b}`. Nothing but a fragment can be embedded. */
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

export const empty: Sql = { text: "", params: none };

export function param(value: Param): Sql {
  // No wire format has them.
  if (value === Number.POSITIVE_INFINITY) return sql`9e999`;
  if (value === Number.NEGATIVE_INFINITY) return sql`-9e999`;
  return { text: "?", params: [value] };
}

/** A number that no request gives, written out: what is not bound costs less. */
export function integer(value: number): Sql {
  return { text: String(BigInt(value)), params: none };
}

export function name(value: TableName | ColumnName): Sql {
  return { text: `"${value}"`, params: none };
}

/** A name that the database itself reported, such as that of an index; it may hold any character. */
export function physicalName(value: string): Sql {
  return { text: `"${value.replaceAll('"', '""')}"`, params: none };
}

/**
 * A rule's alias. Every name that this folder makes up begins with `_`, which no name of a project does: an alias or a
 * common table expression never hides a table.
 */
export function aliasName(alias: string): Sql {
  return { text: `"_x_${alias}"`, params: none };
}

/** The i-th name of a kind that this folder makes up. */
export function internalName(kind: "g" | "k" | "p", i: number): Sql {
  return { text: `"_${kind}${i}"`, params: none };
}

/** SQL that the project's owner wrote in the schema, such as a column's default. */
export function ownersSql(text: string): Sql {
  return { text: `(${text})`, params: none };
}

/** A JSON key or column alias as a text literal; column names hold no quote. */
export function textLiteral(column: ColumnName): Sql {
  return { text: `'${column}'`, params: none };
}

export function join(parts: readonly Sql[], separator: Sql): Sql {
  let text = "";
  const params: Param[] = [];
  parts.forEach((part, i) => {
    text += i === 0 ? part.text : separator.text + part.text;
    for (const value of part.params) params.push(value);
  });
  return { text, params };
}

export function commaList(parts: readonly Sql[]): Sql {
  return join(parts, sql`, `);
}

/** Conjunction; of nothing it is TRUE. */
export function and(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`1` : chain(terms, sql` AND `);
}

/** Disjunction; of nothing it is FALSE. */
export function or(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`0` : chain(terms, sql` OR `);
}

export function sum(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`0` : chain(terms, sql` + `);
}

/** In one group of parentheses. */
const chainMax = 16;

/** Terms under an associative operator. A long chain becomes a balanced tree: D1 takes an expression depth of 100. */
export function chain(terms: readonly Sql[], operator: Sql): Sql {
  if (terms.length === 1) return terms[0]!;
  if (terms.length <= chainMax) return sql`(${join(terms, operator)})`;
  const middle = terms.length >> 1;
  return sql`(${chain(terms.slice(0, middle), operator)}${operator}${chain(terms.slice(middle), operator)})`;
}

/**
 * The statement with its slots filled from the first of `values` that has each. Throws where none has: it would be bound as
 * NULL.
 */
export function bind({ text, params }: Sql, values: readonly SlotValues[]): Statement {
  return { sql: text, params: filled(params, values) };
}

/** The same of a SELECT of at most one row. */
export function bindSingle(sql: Sql, values: readonly SlotValues[]): Statement {
  return { sql: sql.text, params: filled(sql.params, values), single: true };
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
