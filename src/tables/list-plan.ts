import type { Column, Table } from "../project/model.js";
import type { Expression, Literal } from "../project/rules/ast.js";
import { mentions } from "../project/rules/columns-of.js";
import { conjuncts } from "../project/rules/conjuncts.js";
import { alwaysTrue } from "../project/rules/never-true.js";
import { substitute } from "../project/rules/substitute.js";
import { whenTrue } from "../project/rules/when-true.js";
import type { Catalog, CatalogTable } from "../schema/catalog.js";
import { type AccessPath, type Condition, chooseAccessPath } from "./access-path.js";
import type { Filter, ListRequest } from "./list-request.js";
import { type Key, totalOrder } from "./order.js";

/** Everything that decides the SQL of one page. The same plan gives the same text. */
export interface ListPlan {
  readonly table: Table;
  readonly catalog: Catalog;
  readonly path: AccessPath;
  /** Conditions that name no column of the row: decided once, before any row is visited. */
  readonly gates: readonly Expression[];
  readonly output: readonly Column[];
  readonly limit: number;
  readonly scanLimit: number;
  /** Whether the statement reports what it examined. */
  readonly metered: boolean;
  readonly window: Window;
  /** The path that serves most offers too many rows to sort: another one has to yield the order. */
  readonly orderedOnly: boolean;
}

/**
 * The part of the scan that one request examines: at most `scanLimit` candidates behind `after`. A window is counted
 * once, by the request that opens it; the pages that follow inside of it go by keyset.
 */
export interface Window {
  readonly after: Key | null;
  /** The last candidate of a counted window that ended before the table did. */
  readonly upTo: Key | null;
  readonly counted: boolean;
  /** Authorized rows still to be skipped for `offset`. */
  readonly skip: number;
}

export function planList(
  table: Table,
  readRule: Expression,
  request: ListRequest,
  context: Pick<ListPlan, "catalog" | "scanLimit" | "metered" | "output" | "window" | "orderedOnly">,
): ListPlan {
  const physical = context.catalog.tables.get(table.name);
  const ruleTerms = conjuncts(withEqualities(readRule, request.filters, physical)).filter(
    (term) => !alwaysTrue(term),
  );
  const conditions: Condition[] = [
    ...request.filters.map((filter) => ({ kind: "filter", filter }) as const),
    ...ruleTerms
      .filter((term) => mentions(term, "row"))
      .map((expression) => ({ kind: "rule", expression }) as const),
  ];
  return {
    ...context,
    table,
    path: chooseAccessPath(
      table,
      context.catalog,
      conditions,
      totalOrder(table, request.sort, physical ?? { hasRowid: true, rowidAlias: null }),
      context.orderedOnly,
    ),
    gates: ruleTerms.filter((term) => !mentions(term, "row")),
    limit: request.limit,
  };
}

/**
 * Carries the equalities of the caller's filters into the rule: an `exists` that no longer depends on the row is
 * decided once. Only in columns in which equal means the same: by NOCASE a filter for `A` finds `a`, of which the rule
 * may think otherwise.
 */
function withEqualities(
  rule: Expression,
  filters: readonly Filter[],
  physical: CatalogTable | undefined,
): Expression {
  const constants = new Map<string, Literal>();
  for (const filter of filters) {
    const isExact = filter.operator === "eq" && physical?.exactColumns.has(filter.column.name);
    const literal = isExact ? literalOf(filter.column, filter.value) : null;
    if (literal !== null) constants.set(filter.column.name, literal);
  }
  if (constants.size === 0) return rule;
  return whenTrue(
    substitute(
      rule,
      (reference) => (reference.source === "row" && constants.get(reference.column)) || reference,
    ),
  );
}

function literalOf(column: Column, value: string | number | bigint | Uint8Array): Literal | null {
  if (typeof value === "object") return null;
  return { kind: "literal", value: column.type === "boolean" ? value === 1n : value };
}
