import type { AuthValues, CompareOperator, Expression, Operand } from "../../../src/rules/ast.js";
import { compareStored, type Row, type Value } from "./values.js";

type Truth = boolean | null;

/**
 * What a rule comes to by SQL's three-valued logic, word by word; null is NULL. The tree is the server's, and what it means is
 * said here alone: nothing that the server computes is used.
 */
export function evaluate(rule: Expression, world: World): Truth {
  switch (rule.kind) {
    case "literal":
    case "column":
    case "auth":
    case "now":
    case "given":
      return resolve(rule, world) as Truth;
    case "compare":
      return compare(rule.operator, resolve(rule.left, world), resolve(rule.right, world));
    case "in": {
      const value = resolve(rule.value, world);
      return or(rule.list.map((item) => compare("=", value, resolve(item, world))));
    }
    case "is_null":
      return (resolve(rule.value, world) === null) !== rule.negated;
    case "and":
      return not(or(rule.terms.map((term) => not(evaluate(term, world)))));
    case "or":
      return or(rule.terms.map((term) => evaluate(term, world)));
    case "not":
      return not(evaluate(rule.term, world));
    case "exists":
      return world.tables
        .get(rule.table)!
        .some((row) => admits(rule.where, { ...world, rows: { ...world.rows, [rule.alias]: row } }));
    default:
      throw new Error(`no rule has ${rule.kind}`);
  }
}

/** Everything that a rule can depend on. */
export interface World {
  /** `row`, `old`, `new` and the aliases of the enclosing `exists`. */
  readonly rows: Readonly<Record<string, Row>>;
  readonly auth: AuthValues;
  readonly nowSeconds: bigint;
  readonly tables: ReadonlyMap<string, readonly Row[]>;
}

export const nobody: AuthValues = { id: null, email: null, email_verified: null, role: null };

export function admits(rule: Expression, world: World): boolean {
  return evaluate(rule, world) === true;
}

function resolve(operand: Operand, world: World): Value {
  switch (operand.kind) {
    case "literal":
      return operand.value;
    case "column": {
      const source = typeof operand.source === "string" ? operand.source : operand.source.alias;
      return world.rows[source]![operand.column]!;
    }
    case "auth":
      return world.auth[operand.field];
    case "now":
      return world.nowSeconds;
    case "given":
      return new Map<string, Value>([
        ["auth.id", world.auth.id],
        ["auth.email", world.auth.email],
        ["auth.email_verified", world.auth.email_verified],
        ["now()", world.nowSeconds],
      ]).get(operand.name)!;
  }
}

/** As SQL compares: with NULL to NULL. */
export function compare(operator: CompareOperator, left: Value, right: Value): Truth {
  if (left === null || right === null) return null;
  const order = compareStored(left, right);
  switch (operator) {
    case "=":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}

function or(terms: readonly Truth[]): Truth {
  if (terms.includes(true)) return true;
  return terms.includes(null) ? null : false;
}

function not(term: Truth): Truth {
  return term === null ? null : !term;
}

/** A caller's filter, with values as they are stored. */
export type Filter = { readonly column: string } & (
  | { readonly operator: keyof typeof comparisons; readonly value: Value }
  | { readonly operator: "in"; readonly values: readonly Value[] }
  | { readonly operator: "not_in"; readonly values: readonly Value[] }
  | { readonly operator: "is_null"; readonly value: boolean }
  | { readonly operator: "contains" | "icontains" | "starts_with"; readonly value: string }
);

const comparisons = { eq: "=", ne: "!=", lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

/** Filters and groups of which all have to hold; of those of `or` one. */
export interface Group {
  readonly filters: readonly Filter[];
  readonly or: readonly Group[];
  readonly and: readonly Group[];
  readonly not: Group | null;
}

/** Whether the row passes. A NULL matches `is_null` alone. */
export function matches(filter: Filter, row: Row, fold: Fold = asItIs): boolean {
  return truthOf(filter, row, fold) === true;
}

/** What a group comes to by three-valued logic. */
export function truthOfGroup(group: Group, row: Row, fold: Fold = asItIs): Truth {
  const truths = [
    ...group.filters.map((filter) => truthOf(filter, row, fold)),
    ...group.and.map((inner) => truthOfGroup(inner, row, fold)),
    ...(group.or.length > 0 ? [or(group.or.map((inner) => truthOfGroup(inner, row, fold)))] : []),
    ...(group.not === null ? [] : [not(truthOfGroup(group.not, row, fold))]),
  ];
  return not(or(truths.map(not)));
}

const asciiLower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

function truthOf(filter: Filter, row: Row, fold: Fold): Truth {
  const { column } = filter;
  const value = row[column]!;
  if (filter.operator === "is_null") return (value === null) === filter.value;
  if (value === null) return null;
  const is = (operator: CompareOperator, other: Value) => compare(operator, fold(value, column), fold(other, column));
  switch (filter.operator) {
    case "in":
      return or(filter.values.map((other) => is("=", other)));
    case "not_in":
      return not(or(filter.values.map((other) => is("=", other))));
    case "contains":
      return (value as string).includes(filter.value);
    case "icontains":
      return asciiLower(value as string).includes(asciiLower(filter.value));
    case "starts_with":
      return (value as string).startsWith(filter.value);
    default:
      return is(comparisons[filter.operator], filter.value);
  }
}

/** What a column's collation makes of a value: the same for what it holds for equal, and in its order. */
export type Fold = (value: Value, column: string) => Value;

const asItIs: Fold = (value) => value;

export interface SortTerm {
  readonly column: string;
  readonly descending: boolean;
}

/** Negative, zero or positive, as the rows come in that order. */
export function compareRows(order: readonly SortTerm[], a: Row, b: Row, fold: Fold = asItIs): number {
  for (const { column, descending } of order) {
    const difference = compareStored(fold(a[column]!, column), fold(b[column]!, column));
    if (difference !== 0) return descending ? -difference : difference;
  }
  return 0;
}

/** A sort that the key makes stable, ascending. */
export function withKey(sort: readonly SortTerm[], primaryKey: readonly string[]): readonly SortTerm[] {
  const key = primaryKey.filter((name) => !sort.some(({ column }) => column === name));
  return [...sort, ...key.map((column) => ({ column, descending: false }))];
}

/** The status by which a rule refuses a user before any row is looked at; null where rows decide. */
export function earlyRefusal(rule: Expression, auth: AuthValues, nowSeconds: bigint): 401 | 403 | null {
  if (auth === nobody && !mayAdmit(rule, { auth, nowSeconds: null })) return 401;
  return mayAdmit(rule, { auth, nowSeconds }) ? null : 403;
}

/** What is known before any row is looked at. */
interface Known {
  readonly auth: AuthValues;
  /** Null: any time. */
  readonly nowSeconds: bigint | null;
}

/** Whether the rule's text alone leaves a way to come out TRUE, whatever the rows are. */
function mayAdmit(rule: Expression, known: Known): boolean {
  return outcomes(rule, known).has(true);
}

const anything: ReadonlySet<Truth> = new Set([true, false, null]);

/** Every truth that a rule can have for some rows, as if each of its leaves was independent of the others. */
function outcomes(rule: Expression, known: Known): ReadonlySet<Truth> {
  switch (rule.kind) {
    case "literal":
      return new Set([rule.value as Truth]);
    case "compare":
      return comparisonOutcomes(rule.operator, rule.left, rule.right, known);
    case "in":
      return anyOf(rule.list.map((item) => comparisonOutcomes("=", rule.value, item, known)));
    case "is_null": {
      if (rule.value.kind === "now") return new Set([rule.negated]);
      const value = constantOf(rule.value, known);
      return value === undefined ? new Set([true, false]) : new Set([(value === null) !== rule.negated]);
    }
    case "and":
      return negations(anyOf(rule.terms.map((term) => negations(outcomes(term, known)))));
    case "or":
      return anyOf(rule.terms.map((term) => outcomes(term, known)));
    case "not":
      return negations(outcomes(rule.term, known));
    case "exists":
      return new Set(mayAdmit(rule.where, known) ? [true, false] : [false]);
    default:
      throw new Error(`no rule of the tests has ${rule.kind} as a term`);
  }
}

function comparisonOutcomes(
  operator: CompareOperator,
  left: Operand,
  right: Operand,
  known: Known,
): ReadonlySet<Truth> {
  const [a, b] = [constantOf(left, known), constantOf(right, known)];
  if (a === null || b === null) return new Set([null]);
  return a === undefined || b === undefined ? anything : new Set([compare(operator, a, b)]);
}

/** Undefined for what only a row, the clock or the statement can tell. */
function constantOf(operand: Operand, known: Known): Value | undefined {
  switch (operand.kind) {
    case "literal":
      return operand.value;
    case "auth":
      return known.auth[operand.field];
    case "now":
      return known.nowSeconds ?? undefined;
    default:
      return undefined;
  }
}

function anyOf(terms: readonly ReadonlySet<Truth>[]): ReadonlySet<Truth> {
  const found = new Set<Truth>();
  if (terms.some((term) => term.has(true))) found.add(true);
  if (terms.every((term) => term.has(false))) found.add(false);
  const open = terms.every((term) => term.has(false) || term.has(null));
  if (open && terms.some((term) => term.has(null))) found.add(null);
  return found;
}

function negations(terms: ReadonlySet<Truth>): ReadonlySet<Truth> {
  return new Set([...terms].map(not));
}
