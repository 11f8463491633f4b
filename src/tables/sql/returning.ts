import type { Column, Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { alwaysTrue, neverTrue } from "../../rules/fold.js";
import { outermostExists } from "../../rules/walk.js";
import type { Catalog } from "../../schema/catalog.js";
import type { Seek } from "../plan/plan-check.js";
import { commaList, name, or, type Sql, sql } from "../sql-text/fragment.js";
import { storedRow } from "./judged-row.js";
import { predicate } from "./predicate.js";
import { cutAt } from "./preview.js";
import { areExact, probe, probeColumns, probedIn, rowsProbed, seeksOf } from "./probe.js";
import { keyJson, keyOf, type Values } from "./row-key.js";
import { jsonWithin } from "./wire.js";

/** What a write returns: the columns `full` where the read rule admits the written row, else `minimal`. */
export interface Returned {
  readonly rule: Expression;
  readonly full: readonly Column[];
  readonly minimal: readonly Column[];
  /** Values of more than this many bytes are returned by their beginnings; null where all values are returned whole. */
  readonly preview: number | null;
}

/** The expression of a write's RETURNING clause. Its value is a text, which `returnedRow` takes apart. */
export interface Returning {
  readonly row: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
}

/**
 * Makes the RETURNING of an insert fail where a default has put NULL into the new row's primary key, because no request
 * could name such a row. The error undoes the insert.
 */
export function withKey(table: Table, values: Values, returning: Returning, catalog: Catalog): Returning {
  // Primary key columns of STRICT tables are never NULL, so nothing has to be added.
  if (table.strict) return returning;
  const rowid = catalog.tables.get(table.name)?.rowid;
  const uncertain = keyOf(table).filter(
    (column) => !values.has(column) && !column.notNull && column.name !== rowid && column.default?.kind === "sql",
  );
  if (uncertain.length === 0) return returning;
  const unset = or(uncertain.map((column) => sql`${name(table.name)}.${name(column.name)} IS NULL`));
  // json('') is an error in every build of SQLite, because an empty text is not JSON.
  return { ...returning, row: sql`CASE WHEN ${unset} THEN json('') ELSE ${returning.row} END` };
}

/**
 * Makes the SQL of what a write returns: the row as JSON, with the columns that `returned` says, or with its primary
 * key alone where their values are larger than the database can put into one answer. Where the read rule has an
 * `exists`, the number of rows that were looked up for it is put in front of the JSON.
 */
export function returningOf(table: Table, { rule, full, minimal, preview }: Returned, catalog: Catalog): Returning {
  const refer = ({ name: column }: Column) => sql`${name(table.name)}.${name(column)}`;
  const key = keyJson(table, catalog);
  const object = (columns: readonly Column[]) => jsonWithin(catalog, table, columns, refer, key, cutAt(preview, refer));
  if (alwaysTrue(rule)) return { row: object(full), exact: true, seeks: [] };
  if (neverTrue(rule)) return { row: object(minimal), exact: true, seeks: [] };
  const nodes = outermostExists(rule);
  const names = storedRow(table, catalog);
  const probes = nodes.map((node) => probe(node, names, catalog));
  const admitted = predicate(rule, { ...names, exists: probedIn(sql`_r`, nodes) });
  const shown = sql`CASE WHEN ${admitted} THEN ${object(full)} ELSE ${object(minimal)} END`;
  if (nodes.length === 0) return { row: shown, exact: true, seeks: [] };
  const probed = rowsProbed(probes, sql`_r`);
  return {
    row: sql`(SELECT (${probed}) || ${shown} FROM (SELECT ${commaList(probeColumns(probes))} LIMIT 1) AS _r WHERE 1)`,
    exact: areExact(probes),
    seeks: seeksOf(probes),
  };
}

/**
 * Takes the text apart that the expression of `returningOf` makes: `json`, the row, and `probed`, how many rows were
 * looked up for the `exists` of the read rule; 0 where it has none.
 */
export function returnedRow(text: string): { readonly json: string; readonly probed: number } {
  const begin = text.indexOf("{");
  return { json: text.slice(begin), probed: Number(text.slice(0, begin)) };
}
