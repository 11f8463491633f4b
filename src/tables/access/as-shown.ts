import type { SqlValue } from "../../platform/database.js";
import type { ColumnReference, Expression, Given, Literal, Operand } from "../../rules/ast.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import { type Affinity, makesNumbers } from "../../sqlite/column-type.js";
import type { TableName } from "../../sqlite/names.js";
import { isShownNumber, numberName, numberOf, readsAsNumber } from "./numeric-text.js";

/**
 * Marks the columns in a rule or filter that have to be compared by the text that JSON shows for them. Where a table is
 * not STRICT, or a column is declared ANY, a column of texts may hold some of its values as numbers. SQLite may then
 * take a text for a number, or find a stored number unequal to the text that it is shown as. No index can serve a
 * comparison with a marked column. `table` is the one whose row the rule is about; null for a rule without a row.
 * `filterValues` has the values that are known already, by their placeholders' names. Code that calls this makes sure
 * that no other value reads as a number.
 *
 * Columns are marked, too, where a filter compares them with what is shown for a blob in a column that is not called
 * one, or for a value of another type in a column of blobs.
 */
export function asShown(
  expression: Expression,
  table: TableName | null,
  catalog: Catalog,
  filterValues: ReadonlyMap<string, SqlValue> = none,
): Expression {
  if (!catalog.hasMixedTexts && ![...filterValues.values()].some(mayNameBlob)) return expression;
  return marked(expression, {
    catalog,
    row: table === null ? undefined : catalog.tables.get(table),
    aliases: new Map(),
    valueOf: (name) => filterValues.get(name),
  });
}

const none: ReadonlyMap<string, SqlValue> = new Map();

/** Whether a value of a filter, perhaps a list of values as JSON, has one that `blobKind` looks for. */
function mayNameBlob(value: SqlValue): boolean {
  return value instanceof Uint8Array || (typeof value === "string" && value.includes("x'"));
}

interface ComparisonScope {
  /** Returns the value that the statement gets for a placeholder, by its name; undefined where it is not known yet. */
  valueOf(name: string): SqlValue | undefined;
  readonly catalog: Catalog;
  readonly row: CatalogTable | undefined;
  readonly aliases: ReadonlyMap<string, CatalogTable | undefined>;
}

function marked(expression: Expression, names: ComparisonScope): Expression {
  switch (expression.kind) {
    case "and":
    case "or":
      return { ...expression, terms: expression.terms.map((term) => marked(term, names)) };
    case "not":
      return { ...expression, term: marked(expression.term, names) };
    case "exists": {
      const { table, alias, where } = expression;
      const physical = table === "$users" ? undefined : names.catalog.tables.get(table);
      const aliases = new Map([...names.aliases, [alias, physical] as const]);
      return { ...expression, where: marked(where, { ...names, aliases }) };
    }
    case "compare": {
      const { left, operator, right } = expression;
      const numeric = comparedAsNumber(expression, names);
      if (numeric !== null) return numeric;
      const way = operator === "=" || operator === "!=" ? "equal" : "in order";
      const [a, b] = compared([left, right], way, names);
      return { ...expression, left: a!, right: b! };
    }
    case "in": {
      const way = expression.list.some(({ kind }) => kind === "column") ? "in a list" : "equal";
      const [value, ...list] = compared([expression.value, ...expression.list], way, names);
      return { ...expression, value: value!, list };
    }
    case "in_given": {
      const items: readonly unknown[] = JSON.parse(names.valueOf(expression.list.name) as string);
      // The items of the list in a filter `in`, all as texts. Only columns of texts can be marked, and the items for
      // those are texts already.
      const literals = items.map((item): Literal => ({ kind: "literal", value: String(item) }));
      const [value] = compared([expression.value, ...literals], "equal", names);
      const stored = affinityOf(expression.value, names);
      const list = numberFor(expression.list, names);
      const isAsBlob = value!.kind === "column" && value!.asShown === "literal";
      if (stored === undefined || list === null || isAsBlob) return { ...expression, value: value! };
      const both: readonly unknown[] = JSON.parse(names.valueOf(list.name) as string);
      const arePlain = !both.some(Array.isArray);
      return { ...expression, value: makesNumbers(stored) ? value! : expression.value, list, arePlain };
    }
    case "contains":
    case "icontains":
    case "starts_with":
    case "is_null":
    case "literal":
    case "column":
    case "auth":
    case "now":
    case "given":
      return expression;
  }
}

/**
 * The ways in which SQLite compares the operands of a comparison. `equal`: by `=` or `!=`, or by an IN whose items are
 * all values. `in a list`: by an IN with columns among its items, for which SQLite converts no side by the type of the
 * other. `in order`: by `<` and the like.
 */
type ComparisonKind = "equal" | "in a list" | "in order";

/**
 * Compares a column that may hold texts as numbers with a value of the request that is written as a number. The value
 * counts as a number, so that comparisons fit the order of lists, in which numbers come before texts. Where the column
 * also keeps texts that read as numbers, `=` finds both. In a rule, only `<` and the like count a text as a number. Null
 * for any other comparison.
 */
function comparedAsNumber({ left, operator, right }: Compare, names: ComparisonScope): Expression | null {
  const stored = affinityOf(left, names);
  const isOrder = operator !== "=" && operator !== "!=";
  const number = numberFor(right, names, isOrder);
  if (stored === undefined || number === null) return null;
  if (isOrder || makesNumbers(stored)) return { kind: "compare", operator, left, right: number };
  const either: Expression = { kind: "in", value: left, list: [number, right] };
  return operator === "=" ? either : { kind: "not", term: either };
}

type Compare = Extract<Expression, { readonly kind: "compare" }>;

/** The number, or the list with numbers, that stands for a value of the request; null where it has none. */
function numberFor(operand: Given, names: ComparisonScope): Given | null;
function numberFor(operand: Operand, names: ComparisonScope, takesLiterals: boolean): Given | Literal | null;
function numberFor(operand: Operand, names: ComparisonScope, takesLiterals = false): Given | Literal | null {
  if (operand.kind === "literal" && takesLiterals && typeof operand.value === "string") {
    const value = numberOf(operand.value);
    return value === null ? null : { kind: "literal", value };
  }
  if (operand.kind !== "given") return null;
  const name = numberName(operand.name);
  return names.valueOf(name) === undefined ? null : { kind: "given", name, isNumber: true };
}

/** The affinity of a column that may hold texts as numbers; undefined for any other operand. */
function affinityOf(operand: Operand, names: ComparisonScope): Affinity | undefined {
  return operand.kind === "column" ? physicalOf(operand, names)?.mixedTexts.get(operand.column) : undefined;
}

function compared(operands: readonly Operand[], way: ComparisonKind, names: ComparisonScope): readonly Operand[] {
  const given = (operand: Operand) =>
    operand.kind === "given" ? names.valueOf(operand.name) : operand.kind === "literal" ? operand.value : undefined;
  const asBlob = way === "in order" ? undefined : blobKind(operands.map(given));
  if (asBlob !== undefined)
    return operands.map((operand) =>
      operand.kind === "column" && physicalOf(operand, names)?.affinities.has(operand.column)
        ? { ...operand, asShown: asBlob }
        : operand,
    );
  const affinities = operands.flatMap((operand) => affinityOf(operand, names) ?? []);
  const areNumeric = affinities.every(makesNumbers);
  // Nothing is marked where no column can hold texts as numbers. Nor is it, for `<` and the like, where no column
  // converts texts to numbers: SQLite then orders numbers before texts, as it does in sorted lists.
  if (affinities.length === 0 || (way === "in order" && !affinities.some(makesNumbers))) return operands;
  const columns = operands.filter(({ kind }) => kind === "column").length;
  const isMistaken = (operand: Operand) => {
    if (operand.kind === "column") return affinityOf(operand, names) === undefined || (columns > 1 && !areNumeric);
    const value = given(operand);
    if (typeof value !== "string") return false;
    // Where a text is exactly what is shown for a stored number, SQLite may convert it to that number: the comparison
    // then finds the right rows.
    const isShown = way === "equal" && affinities.every((affinity) => isShownNumber(value, affinity));
    return readsAsNumber(value) && !isShown;
  };
  if (!operands.some(isMistaken)) return operands;
  return operands.map((operand) =>
    operand.kind === "column" && affinityOf(operand, names) !== undefined ? { ...operand, asShown: "text" } : operand,
  );
}

/**
 * How a column has to be compared with these values, where it may hold values of any type. A text may be what is shown
 * for a blob, and a blob what is shown for a text or a number, if its bytes are those of a text.
 */
function blobKind(values: readonly (SqlValue | boolean | undefined)[]): "literal" | "bytes" | undefined {
  if (values.some((value) => typeof value === "string" && /^x'([0-9a-f]{2})*'$/.test(value))) return "literal";
  return values.some((value) => value instanceof Uint8Array && isText(value)) ? "bytes" : undefined;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function isText(bytes: Uint8Array): boolean {
  try {
    utf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function physicalOf({ source }: ColumnReference, { row, aliases }: ComparisonScope): CatalogTable | undefined {
  return typeof source === "object" ? aliases.get(source.alias) : row;
}
