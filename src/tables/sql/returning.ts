import type { Column, Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { alwaysTrue, neverTrue } from "../../rules/fold.js";
import { outermostExists } from "../../rules/walk.js";
import type { Catalog } from "../../schema/catalog.js";
import type { Seek } from "../plan-check.js";
import { commaList, name, or, type Sql, sql, sum } from "./fragment.js";
import { namesOf, predicate, type SqlNames } from "./predicate.js";
import { probe, probeMatched, probeName, seeksOf } from "./probe.js";
import { keyOf, type Values } from "./row-key.js";
import { jsonObject, jsonWithin } from "./wire.js";

/** What the caller gets to see of a row that was written: `full` where the rule admits it, else `minimal`. */
export interface Returned {
  readonly rule: Expression;
  readonly full: readonly Column[];
  readonly minimal: readonly Column[];
}

/** What RETURNING gives of a row: text that `returnedRow` reads. */
export interface Returning {
  readonly row: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
}

/** Fails, and so writes nothing, where a default has made a part of the key NULL, by which nobody could reach the row. */
export function withKey(table: Table, values: Values, returning: Returning, catalog: Catalog): Returning {
  // A key of a STRICT table is never NULL.
  if (table.strict) return returning;
  const rowid = catalog.tables.get(table.name)?.rowid;
  const uncertain = keyOf(table).filter(
    (column) =>
      !values.has(column) && !column.notNull && column.name !== rowid && column.default?.kind === "sql",
  );
  if (uncertain.length === 0) return returning;
  const unset = or(uncertain.map((column) => sql`${name(table.name)}.${name(column.name)} IS NULL`));
  // An empty text is no JSON, which is an error in every build of SQLite.
  return { ...returning, row: sql`CASE WHEN ${unset} THEN json('') ELSE ${returning.row} END` };
}

/** The row as `returned` says, behind the number of rows that the probes of its rule visited. */
export function returningOf(table: Table, { rule, full, minimal }: Returned, catalog: Catalog): Returning {
  const refer = ({ name: column }: Column) => sql`${name(table.name)}.${name(column)}`;
  const key = jsonObject(keyOf(table), refer, catalog.tables.get(table.name));
  const object = (columns: readonly Column[]) => jsonWithin(catalog, table, columns, refer, key);
  if (alwaysTrue(rule)) return { row: sql`${object(full)}`, exact: true, seeks: [] };
  if (neverTrue(rule)) return { row: sql`${object(minimal)}`, exact: true, seeks: [] };
  const row: SqlNames["row"] = (column) => sql`${name(table.name)}.${name(column)}`;
  const nodes = outermostExists(rule);
  const names: SqlNames = { ...namesOf(catalog.tables.get(table.name)), row };
  const probes = nodes.map((node) => probe(node, names, catalog));
  const exists: SqlNames["exists"] = (node) => probeMatched(sql`_r.${probeName(nodes.indexOf(node))}`);
  const admitted = predicate(rule, { ...names, exists });
  const shown = sql`CASE WHEN ${admitted} THEN ${object(full)} ELSE ${object(minimal)} END`;
  if (nodes.length === 0) return { row: sql`${shown}`, exact: true, seeks: [] };
  const values = probes.map(({ value }, i) => sql`${value} AS ${probeName(i)}`);
  const visits = sum(probes.map((_, i) => sql`(_r.${probeName(i)} IS NOT NULL)`));
  return {
    row: sql`(SELECT (${visits}) || ${shown} FROM (SELECT ${commaList(values)} LIMIT 1) AS _r WHERE 1)`,
    exact: probes.every((each) => each.exact),
    seeks: seeksOf(probes),
  };
}

/** The JSON of a row that was written, and what the read rule's probes visited. */
export function returnedRow(text: string): { readonly json: string; readonly probed: number } {
  const begin = text.indexOf("{");
  return { json: text.slice(begin), probed: Number(text.slice(0, begin)) };
}
