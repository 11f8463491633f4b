import type { Schema, Table } from "../../project/model.js";
import type { Expression, TableRules } from "../../rules/ast.js";
import { alwaysTrue, FALSE, neverTrue } from "../../rules/fold.js";
import { formsForRole } from "../../rules/specialise.js";
import { branches, columnReferences, conjuncts, existsIn, mentionsRow } from "../../rules/walk.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import type { TableName } from "../../sqlite/names.js";
import { type Way, waysTo } from "./ways.js";

/** How a list of a table finds the rows that a user may read, for `svc check` (docs/reference/http.md#ways). */
export interface ListedBy {
  readonly table: string;
  /**
   * How rows are found. `all`: users may read every row. `once`: a user may read all rows or none. `ways`: rows are
   * reached by index walks that begin with the caller. `table`: the rule is tested on each row that the request's
   * index, or the table, offers.
   */
  readonly by: "all" | "once" | "ways" | "table";
  /** For `ways`, the columns that each way passes, from the caller on, such as `room_members.user_id`. */
  readonly ways: readonly (readonly string[])[];
  /** For `table`, indexes that would make ways from the caller possible, such as `messages (room_id)`. */
  readonly missing: readonly string[];
}

/**
 * Finds out how lists find the rows that users without the role of an administrator may read. Leaves out tables of
 * which such users may read no row.
 */
export function waysOfRules(rules: ReadonlyMap<TableName, TableRules>, schema: Schema, catalog: Catalog): ListedBy[] {
  return [...schema.tables.values()].flatMap((table) => {
    const forms = formsForRole(rules.get(table.name)?.read ?? FALSE, "user").filter((form) => !neverTrue(form));
    const listed = forms.map((form) => listedBy(table, form, schema, catalog));
    return listed.length === 0 ? [] : [listed.reduce(together)];
  });
}

/** How lists find the rows of users of whom some have one form of a rule and the others another. */
function together(a: ListedBy, b: ListedBy): ListedBy {
  const order = ["all", "once", "ways", "table"] as const;
  const by = order[Math.max(order.indexOf(a.by), order.indexOf(b.by))]!;
  const ways = by === "ways" ? [...a.ways, ...b.ways] : [];
  const distinct = new Map(ways.map((way) => [way.join(), way]));
  return { table: a.table, by, ways: [...distinct.values()], missing: [...new Set([...a.missing, ...b.missing])] };
}

function listedBy({ name, virtual }: Table, rule: Expression, schema: Schema, catalog: Catalog): ListedBy {
  const terms = conjuncts(rule)
    .map(withoutDecided)
    .filter((term) => mentionsRow(term, "row"));
  if (terms.length === 0) return { table: name, by: alwaysTrue(rule) ? "all" : "once", ways: [], missing: [] };
  const found = virtual ? null : waysTo(name, terms, catalog);
  if (found !== null)
    return { table: name, by: "ways", ways: found.ways.map((way) => columnsOfWay(name, way)), missing: [] };
  const missing = virtual ? [] : missingIndexes(name, terms, schema, catalog);
  return {
    table: name,
    by: "table",
    ways: [],
    missing: [...new Set(missing.map(({ table, column }) => `${table} (${column})`))],
  };
}

/** A term of a rule without the branches of its `or` that a request decides from the caller's values alone. */
function withoutDecided(term: Expression): Expression {
  const left = branches(term).filter((branch) => existsIn(branch).length + columnReferences(branch).length > 0);
  return left.length === 0 ? term : { kind: "or", terms: left };
}

/**
 * The columns whose indexes would let lists reach, from the caller, the rows for which all terms of a rule are TRUE;
 * empty where no index would.
 */
export function missingIndexes(
  table: TableName,
  terms: readonly Expression[],
  schema: Schema,
  catalog: Catalog,
): ReturnType<typeof searchedBy> {
  const wished = waysTo(table, terms, withAllIndexes(schema, catalog));
  return (wished?.ways ?? [])
    .flatMap((way) => searchedBy(table, way))
    .filter((each) => !isIndexed(catalog.tables.get(each.table), each.column));
}

/** The columns that a way passes, from the caller on, such as `room_members.user_id`. */
export function columnsOfWay(table: TableName, way: Way): readonly string[] {
  return searchedBy(table, way).map(({ table, column }) => `${table}.${column}`);
}

function searchedBy(table: TableName, { hops, column }: Way) {
  return [...hops.map((hop) => ({ table: hop.table, column: hop.by })), { table, column }];
}

function isIndexed(physical: CatalogTable | undefined, column: string): boolean {
  if (physical === undefined) return false;
  return column === physical.rowid || physical.indexes.some(({ columns }) => columns[0]?.name === column);
}

/** The catalog as it would be if each column of each table had an index of its own. */
function withAllIndexes(schema: Schema, catalog: Catalog): Catalog {
  const tables = [...catalog.tables].map(([name, physical]) => {
    const columns = [...(schema.tables.get(name)?.columns.values() ?? [])];
    const wished = columns.map((column) => ({
      name: column.name,
      columns: [{ name: column.name, descending: false }],
      unique: false,
      isTable: false,
    }));
    return [name, { ...physical, indexes: [...physical.indexes, ...wished] }] as const;
  });
  return { ...catalog, tables: new Map(tables) };
}
