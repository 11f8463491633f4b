import type { Refusal } from "../../http/refusal.js";
import type { Column } from "../../project/model.js";
import type { CatalogIndex } from "../../schema/catalog.js";
import type { ColumnName } from "../../sqlite/names.js";
import type { Access } from "../access.js";
import type { OrderTerm } from "../list/order.js";

/** One path of `expand`, which every row of a list is answered with (`docs/reference/http.md#expand`). */
export interface Expansion {
  /** The path as it was asked for: its key in `_expand` and `_count`. */
  readonly path: string;
  /** Whether the path ends with rows that refer to the row before them, any number of which are shown. */
  readonly isBackward: boolean;
  readonly counts: boolean;
  /**
   * The references that are followed, one after the other; other paths may share the first of them. Null where the
   * caller may read no row of one of the tables, so that nothing is to be found.
   */
  readonly steps: readonly ExpansionStep[] | null;
}

/** A reference that is followed from a row to rows of another table, or of the same one. */
export interface ExpansionStep {
  /** The column of the row that the step begins with. Its value equals that of `to` in the rows that are found. */
  readonly from: Column;
  readonly to: Column;
  readonly access: ReadAccess;
  /** How rows are found by `to`; null for the table itself. */
  readonly index: CatalogIndex | null;
  /** The columns that are shown; none where the rows are only passed through. */
  output: readonly Column[];
  /** Null for a step forward, which leads to one row at most. */
  readonly rows: BackwardRows | null;
  /** The steps that begin with the rows that this one finds. */
  readonly inner: ExpansionStep[];
}

/** Which of the rows that refer to one row are shown. */
export interface BackwardRows {
  readonly limit: number;
  readonly order: readonly OrderTerm[];
  /** The columns by which a row is found again. */
  readonly rowKey: readonly ColumnName[];
  readonly counts: boolean;
  /**
   * Whether the index yields the order and rows need not be counted, so that they are examined one after the other until
   * enough are found. Else all are examined, and sorted.
   */
  readonly isLazy: boolean;
}

/** The parts of an `Access` to read a table that expansions use. */
export type ReadAccess = Pick<Access, "key" | "table" | "catalog" | "rule" | "readable">;

/** The tables of a project as the caller of a list may read them. */
export interface ReadableTables {
  /** Null where there is no such table. A refusal for an API key that may not read it. */
  find(name: string): ReadableTable | Refusal | null;
}

/** A table as a caller may read it. */
export interface ReadableTable {
  /** Null where the caller may read none of its rows. */
  readonly access: ReadAccess | null;
  /** The columns that a request may name. */
  readonly readable: ReadonlyMap<string, Column>;
}

/** All steps of a tree, each before those inside of it. */
export function stepsIn(steps: readonly ExpansionStep[]): readonly ExpansionStep[] {
  return steps.flatMap((step) => [step, ...stepsIn(step.inner)]);
}

/** The steps that paths begin with, each once. */
export function firstSteps(expansions: readonly Expansion[]): readonly ExpansionStep[] {
  return [...new Set(expansions.flatMap(({ steps }) => steps?.slice(0, 1) ?? []))];
}
