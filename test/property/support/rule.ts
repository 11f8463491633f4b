import { compareStored, type Row, type Value } from "./values.js";

/** A rule of the tests' own, so that nothing of the server's is needed to say what it means. */
export type Rule =
  | { readonly kind: "constant"; readonly value: boolean | null }
  | { readonly kind: "compare"; readonly operator: Operator; readonly left: Operand; readonly right: Operand }
  | { readonly kind: "in"; readonly value: Operand; readonly list: readonly Operand[] }
  | { readonly kind: "is_null"; readonly value: Operand; readonly negated: boolean }
  | { readonly kind: "and" | "or"; readonly terms: readonly Rule[] }
  | { readonly kind: "not"; readonly term: Rule }
  | { readonly kind: "exists"; readonly table: string; readonly alias: string; readonly where: Rule };

export type Operand =
  | { readonly kind: "literal"; readonly value: Value }
  | { readonly kind: "column"; readonly source: string; readonly column: string }
  | { readonly kind: "auth"; readonly field: keyof Auth }
  | { readonly kind: "now" };

export type Operator = "=" | "!=" | "<" | "<=" | ">" | ">=";

export interface Auth {
  readonly id: string | null;
  readonly email: string | null;
  readonly role: string | null;
}

export const nobody: Auth = { id: null, email: null, role: null };

/** Everything that a rule can depend on. */
export interface World {
  /** `row`, `old`, `new` and the aliases of the enclosing `exists`. */
  readonly rows: Readonly<Record<string, Row>>;
  readonly auth: Auth;
  readonly nowSeconds: bigint;
  readonly tables: ReadonlyMap<string, readonly Row[]>;
}

type Truth = boolean | null;

/** SQL's three-valued logic, word by word; null is NULL. */
export function evaluate(rule: Rule, world: World): Truth {
  switch (rule.kind) {
    case "constant":
      return rule.value;
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
        .some(
          (row) => evaluate(rule.where, { ...world, rows: { ...world.rows, [rule.alias]: row } }) === true,
        );
  }
}

export function admits(rule: Rule, world: World): boolean {
  return evaluate(rule, world) === true;
}

function resolve(operand: Operand, world: World): Value {
  switch (operand.kind) {
    case "literal":
      return operand.value;
    case "column":
      return world.rows[operand.source]![operand.column]!;
    case "auth":
      return world.auth[operand.field];
    case "now":
      return world.nowSeconds;
  }
}

function compare(operator: Operator, left: Value, right: Value): Truth {
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

/** What is known before any row is looked at. */
export interface Known {
  readonly auth: Auth;
  /** Null: any time. */
  readonly nowSeconds: bigint | null;
}

/** Whether the rule's text alone leaves a way to come out TRUE, whatever the rows are. */
export function mayAdmit(rule: Rule, known: Known): boolean {
  return outcomes(rule, known).has(true);
}

const anything: ReadonlySet<Truth> = new Set([true, false, null]);

/** Every truth that a rule can have for some rows, as if each of its leaves was independent of the others. */
function outcomes(rule: Rule, known: Known): ReadonlySet<Truth> {
  switch (rule.kind) {
    case "constant":
      return new Set([rule.value]);
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
  }
}

function comparisonOutcomes(
  operator: Operator,
  left: Operand,
  right: Operand,
  known: Known,
): ReadonlySet<Truth> {
  const [a, b] = [constantOf(left, known), constantOf(right, known)];
  if (a === null || b === null) return new Set([null]);
  return a === undefined || b === undefined ? anything : new Set([compare(operator, a, b)]);
}

/** Undefined for what only a row or the clock can tell. */
function constantOf(operand: Operand, known: Known): Value | undefined {
  switch (operand.kind) {
    case "literal":
      return operand.value;
    case "column":
      return undefined;
    case "auth":
      return known.auth[operand.field];
    case "now":
      return known.nowSeconds ?? undefined;
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

/** The rule as svc.toml has it, with a parenthesis around everything, so that its meaning hangs on no precedence. */
export function print(rule: Rule): string {
  switch (rule.kind) {
    case "constant":
      return String(rule.value);
    case "compare":
      return `(${printOperand(rule.left)} ${rule.operator} ${printOperand(rule.right)})`;
    case "in":
      return `(${printOperand(rule.value)} in (${rule.list.map(printOperand).join(", ")}))`;
    case "is_null":
      return `(${printOperand(rule.value)} is ${rule.negated ? "not " : ""}null)`;
    case "and":
    case "or":
      return `(${rule.terms.map(print).join(` ${rule.kind} `)})`;
    case "not":
      return `(not ${print(rule.term)})`;
    case "exists":
      return `exists(${rule.table} ${rule.alias} where ${print(rule.where)})`;
  }
}

function printOperand(operand: Operand): string {
  switch (operand.kind) {
    case "literal":
      return printLiteral(operand.value);
    case "column":
      return `${operand.source}.${operand.column}`;
    case "auth":
      return `auth.${operand.field}`;
    case "now":
      return "now()";
  }
}

function printLiteral(value: Value): string {
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  return typeof value === "number" && Number.isInteger(value) ? value.toFixed(1) : String(value);
}

const column = (reference: string): Operand => {
  const [source, name] = reference.split(".");
  return source === "auth"
    ? { kind: "auth", field: name as keyof Auth }
    : { kind: "column", source: source!, column: name! };
};

/** Short spellings for rules written by hand. A reference is `row.owner`, `auth.id` or `m.grp`. */
export const write = {
  literal: (value: Value): Operand => ({ kind: "literal", value }),
  column,
  compare: (left: string, operator: Operator, right: Operand | string): Rule => ({
    kind: "compare",
    operator,
    left: column(left),
    right: typeof right === "string" ? column(right) : right,
  }),
  isNull: (reference: string): Rule => ({ kind: "is_null", value: column(reference), negated: false }),
  isNotNull: (reference: string): Rule => ({ kind: "is_null", value: column(reference), negated: true }),
  oneOf: (reference: string, ...values: Value[]): Rule => ({
    kind: "in",
    value: column(reference),
    list: values.map((value) => ({ kind: "literal", value })),
  }),
  and: (...terms: Rule[]): Rule => ({ kind: "and", terms }),
  or: (...terms: Rule[]): Rule => ({ kind: "or", terms }),
  not: (term: Rule): Rule => ({ kind: "not", term }),
  exists: (table: string, alias: string, where: Rule): Rule => ({ kind: "exists", table, alias, where }),
  constant: (value: boolean | null): Rule => ({ kind: "constant", value }),
};
