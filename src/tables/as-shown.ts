import type { TableName } from "../project/names.js";
import type { ColumnReference, Expression, Operand } from "../project/rules/ast.js";
import type { Catalog, CatalogTable } from "../schema/catalog.js";
import { isShownNumber, readsAsNumber } from "./numeric-text.js";

/**
 * The rule with each comparison marked in which SQLite would take a text for a number: it compares what is shown instead,
 * which no index serves. What is given later has to read as no number.
 */
export function asShown(rule: Expression, table: TableName, catalog: Catalog): Expression {
  if (!catalog.hasNumericTexts) return rule;
  return marked(rule, { catalog, row: catalog.tables.get(table), aliases: new Map() });
}

interface Names {
  readonly catalog: Catalog;
  readonly row: CatalogTable | undefined;
  readonly aliases: ReadonlyMap<string, CatalogTable | undefined>;
}

function marked(expression: Expression, names: Names): Expression {
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
      const isEquality = operator === "=" || operator === "!=";
      const [a, b] = compared([left, right], isEquality, names);
      return { ...expression, left: a!, right: b! };
    }
    case "in": {
      // What is in the list has no affinity there.
      const isEquality = expression.list.every(({ kind }) => kind !== "column");
      const [value, ...list] = compared([expression.value, ...expression.list], isEquality, names);
      return { ...expression, value: value!, list };
    }
    default:
      return expression;
  }
}

/** In an equality SQLite takes the text that a number is shown as for that number, rightly. */
function compared(operands: readonly Operand[], isEquality: boolean, names: Names): readonly Operand[] {
  const affinityOf = (operand: Operand) =>
    operand.kind === "column" ? physicalOf(operand, names)?.numericTexts.get(operand.column) : undefined;
  const affinities = operands.flatMap((operand) => affinityOf(operand) ?? []);
  const isTakenForNumber = (operand: Operand) => {
    if (operand.kind === "column") return affinityOf(operand) === undefined;
    if (operand.kind !== "literal" || typeof operand.value !== "string") return false;
    const { value } = operand;
    const isShown = isEquality && affinities.every((affinity) => isShownNumber(value, affinity));
    return readsAsNumber(value) && !isShown;
  };
  if (affinities.length === 0 || !operands.some(isTakenForNumber)) return operands;
  return operands.map((operand) =>
    operand.kind === "column" && affinityOf(operand) !== undefined ? { ...operand, asShown: true } : operand,
  );
}

function physicalOf({ source }: ColumnReference, { row, aliases }: Names): CatalogTable | undefined {
  return typeof source === "object" ? aliases.get(source.alias) : row;
}
