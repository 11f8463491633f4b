import type { ColumnReference, Exists, Expression, Operand } from "../../rules/ast.js";
import { conjuncts, existsIn } from "../../rules/walk.js";
import type { Catalog, CatalogIndex } from "../../schema/catalog.js";
import { sameName } from "../../schema/physical/physical.js";
import { binary } from "../../sqlite/column-type.js";

/** How SQLite finds the rows that an `exists` of a rule looks for, after the rule was simplified for the caller. */
export type ExistsPath =
  /**
   * SQLite seeks by equalities with the first columns of an index. At most one row is looked at: either no other
   * condition is left, so that the first row found is a match, or the equalities give a whole unique key.
   */
  | {
      readonly kind: "seek";
      /** The conditions that are equalities with the index's columns, by column, in the order of the index. */
      readonly served: ReadonlyMap<string, Expression>;
      /** The index that finds the rows; null where they are found by the rowid, or by the id of `$users`. */
      readonly index: CatalogIndex | null;
    }
  /** SQLite searches an index, but examines more than one row maybe; how many is not known. */
  | { readonly kind: "narrowed" }
  /** SQLite reads the table row after row until one matches. */
  | { readonly kind: "all" };

/** What is known of the columns outside of its own table that an `exists` compares with: those of the rule's row. */
export interface Outside {
  /** The collation of each column. Columns that are missing here have BINARY. */
  readonly collations: ReadonlyMap<string, string>;
  /**
   * Whether the SQL for a column has an explicit COLLATE. It has where the column stands for a value that is not stored
   * yet, such as one of a new row: the value then compares as its column does.
   */
  isSaid(reference: ColumnReference): boolean;
}

/**
 * Decides how SQLite will find the rows of an `exists`. Considers the indexes of the catalog, none of which is partial.
 * An index serves an equality only if SQLite compares the two sides in the collation of the index.
 */
export function existsPath(exists: Exists, catalog: Catalog, outside: Outside): ExistsPath {
  const terms = conjuncts(exists.where);
  const lookups = lookupsOf(exists, catalog);
  const sides = sidesOf(exists, catalog, outside);
  const seek = terms.some((term) => existsIn(term).length > 0) ? null : seekOf(terms, sides, lookups);
  if (seek !== null) return seek;
  return { kind: isNarrowed(terms, sides, lookups) ? "narrowed" : "all" };
}

/** What comparisons in an `exists` can name: columns of its own table, called `alias`, and columns outside. */
export interface Sides {
  readonly alias: string;
  /** The collations of the columns of the `exists`' own table. */
  readonly own: Outside["collations"];
  readonly outside: Outside;
}

/**
 * Collects what is known of the collations inside and outside of an `exists`. The columns of a table that the catalog
 * does not know count as columns with BINARY.
 */
export function sidesOf({ table, alias }: Exists, catalog: Catalog, outside: Outside): Sides {
  const physical = table === "$users" ? undefined : catalog.tables.get(table);
  return { alias, own: physical?.collations ?? new Map(), outside };
}

/**
 * One of the things by which rows of a table can be looked up: the columns of an index, in its order, or the rowid (or
 * the id of `$users`), for which `index` is null.
 */
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

/**
 * Returns the column of an `exists`' table that a condition compares by `=` with something outside of that `exists`, if
 * an index can serve the comparison; else null.
 */
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
  // Where the collations of the two columns differ, an index serves the comparison only if its column is on the left
  // and the other side has no explicit COLLATE: SQLite compares in the collation of the left column, unless a side has
  // an explicit one.
  const isSaid = collation !== binary && outside.isSaid(other);
  return column === left && !isSaid ? column.column : null;
}

function isOwn(operand: Operand, alias: string): boolean {
  return operand.kind === "column" && typeof operand.source === "object" && operand.source.alias === alias;
}

function isNarrowed(terms: readonly Expression[], sides: Sides, lookups: readonly Lookup[]): boolean {
  return terms.some((term) => {
    // SQLite looks up each branch of an OR by an index of its own, provided that every branch has one.
    if (term.kind === "or") return term.terms.every((branch) => isNarrowed(conjuncts(branch), sides, lookups));
    const column = soughtColumn(term, sides);
    // SQLite does not use the rowid to find `IS NULL`, although no rowid is ever NULL.
    const ways = term.kind === "is_null" ? lookups.filter(({ index }) => index !== null) : lookups;
    return ways.some(({ columns }) => columns[0] === column);
  });
}

/**
 * Returns the column of an `exists`' table by which an index could find the rows for which a condition is TRUE, because
 * the condition asks for one value, several values or a range of it; else null.
 */
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
      // A condition `is not null` rules out hardly any row, so an index does not help.
      return term.value.kind === "column" && isOwn(term.value, sides.alias) && !term.negated ? term.value.column : null;
    default:
      return null;
  }
}
