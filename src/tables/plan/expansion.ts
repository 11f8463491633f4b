import type { Refusal } from "../../http/refusal.js";
import type { Column } from "../../project/model.js";
import type { CatalogIndex } from "../../schema/catalog.js";
import type { ColumnName } from "../../sqlite/names.js";
import type { Access } from "../access/access.js";
import type { OrderTerm } from "./order.js";

/** One path of `expand`: related rows that every row of a list is answered with (`docs/reference/http.md#expand`). */
export interface Expansion {
  /** The path as the request names it, which is its key in `_expand` and `_count`. */
  readonly path: string;
  /** Whether the path's last reference is followed backward, to any number of rows that refer to the one before. */
  readonly isBackward: boolean;
  readonly counts: boolean;
  /**
   * The references that the path follows, one after the other; other paths may share the first of them. Null where the
   * caller may read no row of one of the tables, so that nothing is found.
   */
  readonly steps: readonly ExpansionStep[] | null;
}

/** One reference that an expansion follows from a row to rows of another table, or of the same one. */
export interface ExpansionStep {
  /** The column of the row from which the step leads on. Its value equals that of `to` in the rows that are found. */
  readonly from: Column;
  readonly to: Column;
  readonly access: ReadAccess;
  /** The index by which rows are found by `to`; null for the table itself. */
  readonly index: CatalogIndex | null;
  /** The columns of the found rows that are shown; none where the path only leads through these rows. */
  output: readonly Column[];
  /**
   * How many and which rows are shown of a step backward, which leads to all rows that refer to the row before. Null
   * for a step forward, which leads to one row at most.
   */
  readonly rows: BackwardRows | null;
  /** The steps that lead on from the rows that this one finds. */
  readonly inner: ExpansionStep[];
}

/** Which rows are shown of those that refer to one row. */
export interface BackwardRows {
  readonly limit: number;
  readonly order: readonly OrderTerm[];
  /** The columns that identify a row: rows are chosen by these alone, and found again by them for what is shown. */
  readonly rowKey: readonly ColumnName[];
  readonly counts: boolean;
  /**
   * Whether rows are examined one after the other until enough are found, because the index yields the order and rows
   * need not be counted. Otherwise all are examined, and sorted.
   */
  readonly isLazy: boolean;
}

/** The parts of an `Access` that expansions use to read it. */
export type ReadAccess = Pick<Access, "key" | "table" | "catalog" | "rule" | "readable">;

/** The tables of a project as the caller of a list may read them. */
export interface ReadableTables {
  /**
   * Finds a table by its name; null where there is none. A refusal for an API key that may not read it. `access` is null
   * where the caller may read none of its rows, `readable` are the columns that a request of the caller may name.
   */
  find(
    name: string,
  ): { readonly access: ReadAccess | null; readonly readable: ReadAccess["readable"] } | Refusal | null;
}

/** Returns all steps of a tree of expansions, each before those inside of it. */
export function stepsIn(steps: readonly ExpansionStep[]): readonly ExpansionStep[] {
  return steps.flatMap((step) => [step, ...stepsIn(step.inner)]);
}

/** Returns the steps with which the paths of `expand` begin. A step that several paths begin with is there once. */
export function firstSteps(expansions: readonly Expansion[]): readonly ExpansionStep[] {
  return [...new Set(expansions.flatMap(({ steps }) => steps?.slice(0, 1) ?? []))];
}
