import type { ColumnReference, Exists, Expression, Operand } from "../rules/ast.js";
import { conjuncts, existsIn } from "../rules/walk.js";
import type { Catalog, CatalogIndex } from "../schema/catalog.js";
import { sameName } from "../schema/physical.js";
import { binary } from "../sqlite/column-type.js";

/** How an `exists` of a rule that is specialised finds its rows. */
export type ExistsPath =
  /**
   * By equalities that an index serves: a single row is looked at or none, as the first match ends it, or as the key is unique
   * that they serve.
   */
  | {
      readonly kind: "seek";
      /** By column, in the index's order. */
      readonly served: ReadonlyMap<string, Expression>;
      /** Null for the rowid, and for `$users`. */
      readonly index: CatalogIndex | null;
    }
  /** An index narrows what is looked at, and how many rows that are is not known. */
  | { readonly kind: "narrowed" }
  /** Every row of the table, until one matches. */
  | { readonly kind: "all" };

/** How what an `exists` is compared with from outside compares: columns of the row that the rule is about. */
export interface Outside {
  /** By column; BINARY where there is none. */
  readonly collations: ReadonlyMap<string, string>;
  /** Whether what stands for a column says its collation aloud, as a value that is not stored yet has to. */
  isSaid(reference: ColumnReference): boolean;
}

/** Judged by full indexes, as the catalog has them, in the collation in which SQLite compares. */
export function existsPath(exists: Exists, catalog: Catalog, outside: Outside): ExistsPath {
  const terms = conjuncts(exists.where);
  const lookups = lookupsOf(exists, catalog);
  const sides = sidesOf(exists, catalog, outside);
  const seek = terms.some((term) => existsIn(term).length > 0) ? null : seekOf(terms, sides, lookups);
  if (seek !== null) return seek;
  return { kind: isNarrowed(terms, sides, lookups) ? "narrowed" : "all" };
}

/** What is compared within an `exists`: columns of its alias, and others. */
export interface Sides {
  readonly alias: string;
  readonly own: Outside["collations"];
  readonly outside: Outside;
}

export function sidesOf({ table, alias }: Exists, catalog: Catalog, outside: Outside): Sides {
  const physical = table === "$users" ? undefined : catalog.tables.get(table);
  return { alias, own: physical?.collations ?? new Map(), outside };
}

/** What the rows can be found by: key columns in order, the rowid first. */
interface Lookup {
  readonly columns: readonly string[];
  readonly unique: boolean;
  readonly index: CatalogIndex | null;
}

function lookupsOf({ table }: Exists, catalog: Catalog): readonly Lookup[] {
  if (table === "$users") return [{ columns: ["id"], unique: true, index: null }];
  const physical = catalog.tables.get(table);
  if (physical === undefined) return [];
  const indexes = physical.indexes.map((index) => ({
    columns: index.columns.map(({ name }) => name),
    unique: index.unique,
    index,
  }));
  const rowid = physical.rowid;
  return rowid === null ? indexes : [{ columns: [rowid], unique: true, index: null }, ...indexes];
}

function seekOf(terms: readonly Expression[], sides: Sides, lookups: readonly Lookup[]): ExistsPath | null {
  const equal = new Map<string, Expression>();
  for (const term of terms) {
    const column = equalColumn(term, sides);
    if (column !== null && !equal.has(column)) equal.set(column, term);
  }
  for (const { columns, unique, index } of lookups) {
    const missing = columns.findIndex((column) => !equal.has(column));
    const served = missing === -1 ? columns : columns.slice(0, missing);
    const decides = served.length === terms.length || (unique && served.length === columns.length);
    if (served.length > 0 && decides)
      return { kind: "seek", index, served: new Map(served.map((column) => [column, equal.get(column)!])) };
  }
  return null;
}

/** The alias's column that an equality with something outside of the alias can seek by. */
export function equalColumn(term: Expression, sides: Sides): string | null {
  return term.kind === "compare" && term.operator === "=" ? comparedColumn(term, sides) : null;
}

function comparedColumn(
  { left, right }: { left: Operand; right: Operand },
  { alias, own, outside }: Sides,
): string | null {
  const [column, other] = isOwn(left, alias) ? [left, right] : [right, left];
  if (column.kind !== "column" || column.asShown || !isOwn(column, alias) || isOwn(other, alias)) return null;
  if (other.kind !== "column") return column.column;
  const wanted = own.get(column.column) ?? binary;
  const collation = outside.collations.get(other.column) ?? binary;
  if (sameName(wanted, collation)) return column.column;
  // SQLite compares as the left column does, unless a collation is said aloud.
  const isSaid = collation !== binary && outside.isSaid(other);
  return column === left && !isSaid ? column.column : null;
}

function isOwn(operand: Operand, alias: string): boolean {
  return operand.kind === "column" && typeof operand.source === "object" && operand.source.alias === alias;
}

function isNarrowed(terms: readonly Expression[], sides: Sides, lookups: readonly Lookup[]): boolean {
  return terms.some((term) => {
    // Each branch is looked up by itself, where an index serves each.
    if (term.kind === "or")
      return term.terms.every((branch) => isNarrowed(conjuncts(branch), sides, lookups));
    const column = soughtColumn(term, sides);
    // A rowid is never NULL, which SQLite does not make use of.
    const ways = term.kind === "is_null" ? lookups.filter(({ index }) => index !== null) : lookups;
    return ways.some(({ columns }) => columns[0] === column);
  });
}

/** The alias's column that an index on it finds rows by, be it one value of it or several. */
function soughtColumn(term: Expression, sides: Sides): string | null {
  switch (term.kind) {
    case "compare":
      return term.operator === "!=" ? null : comparedColumn(term, sides);
    case "in":
      return term.value.kind === "column" &&
        isOwn(term.value, sides.alias) &&
        !term.list.some((item) => isOwn(item, sides.alias))
        ? term.value.column
        : null;
    case "is_null":
      // Hardly any row is ruled out by `is not null`.
      return term.value.kind === "column" && isOwn(term.value, sides.alias) && !term.negated
        ? term.value.column
        : null;
    default:
      return null;
  }
}
