import type { CompareOperator, Expression, Literal, Operand } from "../../../src/rules/ast.js";
import type { ColumnType } from "../../../src/sqlite/column-type.js";
import { columnOf, exists } from "./print.js";
import type { Random } from "./random.js";

/** Columns by name. */
export type Shape = Readonly<Record<string, ColumnType>>;

/** What rules are made of. Few literals, so that they often meet the rows. */
export interface Vocabulary {
  /** `row`, `old` and `new`, as far as the action has them. */
  readonly sources: Readonly<Record<string, Shape>>;
  /** Tables that `exists` may look in. */
  readonly tables: Readonly<Record<string, Shape>>;
  readonly literals: Readonly<Record<Family, readonly Literal["value"][]>>;
}

/** Types that compare with each other. */
export type Family = "number" | "text" | "boolean";

const families: Readonly<Partial<Record<ColumnType, Family>>> = {
  integer: "number",
  real: "number",
  text: "text",
  boolean: "boolean",
};

const equalities: readonly CompareOperator[] = ["=", "=", "!="];
const operators: readonly CompareOperator[] = [...equalities, "<", "<=", ">", ">="];

export function randomRule(random: Random, vocabulary: Vocabulary, depth = 3): Expression {
  if (depth === 0 || random.chance(0.25)) return leaf(random, vocabulary);
  const inner = () => randomRule(random, vocabulary, depth - 1);
  if (random.chance(0.3)) return existence(random, vocabulary, depth);
  if (random.chance(0.2)) return { kind: "not", term: inner() };
  return { kind: random.chance(0.4) ? "and" : "or", terms: random.times(random.int(2, 3), inner) };
}

/** Over `auth` alone, as column rules are. */
export function randomAuthRule(random: Random, literals: Vocabulary["literals"]): Expression {
  return randomRule(random, { sources: {}, tables: {}, literals }, random.int(0, 2));
}

/** Most look for one row by the columns that they share with the row at hand, as rules in earnest do. */
function existence(random: Random, vocabulary: Vocabulary, depth: number): Expression {
  const tables = Object.keys(vocabulary.tables);
  if (tables.length === 0) return leaf(random, vocabulary);
  const table = random.pick(tables);
  const shape = vocabulary.tables[table]!;
  const alias = `a${depth}`;
  const inner = { ...vocabulary, sources: { ...vocabulary.sources, [alias]: shape } };
  const joins = Object.keys(shape)
    .filter((column) => families[shape[column]!] !== undefined && random.chance(0.5))
    .map((column) => joined(random, vocabulary, alias, column, families[shape[column]!]!));
  const rest = random.chance(0.4) || joins.length === 0 ? [randomRule(random, inner, depth - 1)] : [];
  const terms = random.shuffled([...joins, ...rest]);
  const where: Expression = terms.length === 1 ? terms[0]! : { kind: "and", terms };
  return exists(table, alias, where);
}

function joined(random: Random, outer: Vocabulary, alias: string, column: string, family: Family): Expression {
  const own: Operand = columnOf(alias, column);
  const other = operand(random, outer, family);
  const [left, right] = random.chance(0.5) ? [own, other] : [other, own];
  return { kind: "compare", operator: "=", left, right };
}

function leaf(random: Random, vocabulary: Vocabulary): Expression {
  if (random.chance(0.05)) return { kind: "literal", value: random.pick([true, false, null]) };
  if (random.chance(0.15))
    return { kind: "is_null", value: anyOperand(random, vocabulary), negated: random.chance(0.5) };
  const family = random.pick<Family>(["number", "text", "text", "boolean"]);
  const make = () => operand(random, vocabulary, family);
  if (random.chance(0.2)) return { kind: "in", value: make(), list: random.times(random.int(1, 3), () => make()) };
  const operator = random.pick(family === "boolean" ? equalities : operators);
  return { kind: "compare", operator, left: make(), right: make() };
}

function operand(random: Random, vocabulary: Vocabulary, family: Family): Operand {
  const columns = columnsOf(vocabulary).filter(({ type }) => families[type] === family);
  if (columns.length > 0 && random.chance(0.6)) return random.pick(columns).operand;
  if (family === "text" && random.chance(0.6))
    return { kind: "auth", field: random.pick(["id", "id", "id", "role", "role", "email"] as const) };
  if (family === "number" && random.chance(0.1)) return { kind: "now" };
  if (family === "boolean" && random.chance(0.2)) return { kind: "auth", field: "email_verified" };
  return { kind: "literal", value: random.chance(0.06) ? null : random.pick(vocabulary.literals[family]) };
}

/** A column of whatever type, blobs and JSON included: being NULL is all that can be asked of those. */
function anyOperand(random: Random, vocabulary: Vocabulary): Operand {
  const columns = columnsOf(vocabulary);
  return columns.length > 0 && random.chance(0.8)
    ? random.pick(columns).operand
    : operand(random, vocabulary, random.pick<Family>(["number", "text", "boolean"]));
}

function columnsOf({ sources }: Vocabulary): { readonly operand: Operand; readonly type: ColumnType }[] {
  return Object.entries(sources).flatMap(([source, shape]) =>
    Object.entries(shape).map(([column, type]) => ({ operand: columnOf(source, column), type })),
  );
}
