import type { Schema, Table } from "../project/model.js";
import type { Catalog } from "../schema/catalog.js";
import { parseTrigger, type Write } from "../schema/physical/parse-trigger.js";
import type { NotJudged } from "../wire/explanation.js";

/**
 * Returns what may refuse a write although the rules let it through: the constraints and the triggers of the table; for
 * a delete, its triggers and the foreign keys that may refer to the row. `written` are the columns that the write gives
 * values to, managed columns included. For an update, constraints that concern none of these are left out.
 */
export function notJudged(
  write: Write,
  table: Table,
  written: ReadonlySet<string>,
  { tables }: Schema,
  catalog: Catalog,
): readonly NotJudged[] {
  const touched = (columns: readonly string[]) => write === "insert" || columns.some((column) => written.has(column));
  const constraints = write === "delete" ? [] : constraintsOf(table, catalog);
  const referring = write === "delete" ? referringTo(table, [...tables.values()]) : [];
  const triggers = [...table.triggers].filter(([, text]) => parseTrigger(text).event === write);
  return [
    ...constraints.filter(({ columns }) => touched(columns)),
    ...referring,
    ...triggers.map(([, text]): NotJudged => ({ kind: "trigger", columns: [], text })),
  ];
}

function constraintsOf(table: Table, catalog: Catalog): readonly NotJudged[] {
  const columns = [...table.columns.values()];
  const physical = catalog.tables.get(table.name);
  const unique = [...(table.primaryKey.length > 0 ? [table.primaryKey] : []), ...table.unique];
  const indexes = table.indexes.filter((index) => index.unique);
  return [
    ...columns
      // The column that is SQLite's rowid may be left out of a write although it is not null, because SQLite gives a
      // new row its number.
      .filter(({ name, notNull }) => notNull && name !== physical?.rowid)
      .map(({ name }): NotJudged => ({ kind: "not_null", columns: [name], text: null })),
    ...(physical?.checks ?? []).map((check): NotJudged => ({ kind: "check", columns: check.columns, text: check.sql })),
    ...unique.map((names): NotJudged => ({ kind: "unique", columns: names, text: null })),
    ...indexes.map(
      (index): NotJudged => ({
        kind: "unique",
        columns: index.columns.map(({ name }) => name),
        text: index.where,
      }),
    ),
    ...columns.flatMap(({ name, references }): readonly NotJudged[] =>
      references === null ? [] : [{ kind: "foreign_key", columns: [name], text: references.table }],
    ),
    // svc's schema cannot express foreign keys of several columns. Tables that another program has made may have some,
    // so these are taken from what was read from the database.
    ...(physical?.foreignKeys ?? [])
      .filter((names) => names.length > 1)
      .map((names): NotJudged => ({ kind: "foreign_key", columns: names, text: null })),
  ];
}

/** Returns the foreign keys by which rows of other tables, or of the same one, may refer to a row that is deleted. */
function referringTo(table: Table, tables: readonly Table[]): readonly NotJudged[] {
  return tables.flatMap((other) =>
    [...other.columns.values()].flatMap(({ name, references }): readonly NotJudged[] =>
      references?.table === table.name ? [{ kind: "foreign_key", columns: [], text: `${other.name}.${name}` }] : [],
    ),
  );
}
