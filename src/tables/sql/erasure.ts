import { numberAlone } from "../../changes/erasure.js";
import type { LoggedTable } from "../../changes/image.js";
import type { SqlValue, Statement } from "../../platform/database.js";
import type { CatalogTable } from "../../schema/catalog.js";
import { and, bind, name, param, Slot, type Sql, sql } from "../sql-text/fragment.js";
import { hasKey, keyColumn, keyText, tableLiteral } from "./as-of.js";

/**
 * Makes the statements, for one transaction, that erase the stored contents (images) of one row from the log of changes
 * (docs/change-log.md#erasing-a-row). The first statement returns how many of the row's entries the others delete or
 * blank, or no row where there are none. The last one returns `tx`, the transaction, of each entry that it deletes.
 *
 * Where the row still exists, its newest entry is kept, as that of an insert without old contents: without any entry,
 * the row would seem to have been as it is now at all earlier moments. The row's other entries are deleted. If the
 * newest entry of the whole log is among them, it is blanked instead, so that its number is not given out again.
 */
export function erasure(
  logged: LoggedTable,
  physical: CatalogTable | undefined,
  keyValues: ReadonlyMap<string, SqlValue>,
): readonly Statement[] {
  const its = isOf(logged, physical);
  const entries = sql`SELECT _l.seq FROM _changes AS _l WHERE ${its}`;
  const isThere = sql`EXISTS (SELECT 1 FROM ${name(logged.table)} AS _t WHERE ${hasKey(logged, sql`_t`, sql`_l.pk`)})`;
  const begins = sql`SELECT max(_l.seq) FROM _changes AS _l WHERE ${its} GROUP BY _l.pk HAVING ${isThere}`;
  const hasMore = sql`(op <> 'insert' OR old IS NOT NULL)`;
  const concerned = sql`SELECT count(*) AS entries FROM _changes WHERE seq IN (${entries}) AND (seq NOT IN (${begins}) OR ${hasMore})`;
  return [
    // The table's generation is part of what clients' checkpoints are compared with. The new one is random, so that it
    // equals neither a version of the schema, which is the generation that a change of the schema sets, nor that of
    // another erasure.
    sql`UPDATE _history SET generation = random() WHERE tbl = ${tableLiteral(logged.table)} AND (${concerned}) > 0 RETURNING (${concerned}) AS entries`,
    sql`UPDATE _changes SET op = 'insert', old = NULL WHERE seq IN (${begins}) AND ${hasMore}`,
    sql`UPDATE _changes SET ${blank} WHERE seq = (SELECT max(seq) FROM _changes) AND seq IN (${entries}) AND seq NOT IN (${begins})`,
    sql`DELETE FROM _changes WHERE seq IN (${entries}) AND seq NOT IN (${begins}) RETURNING tx`,
  ].map((statement) => bind(statement, [keyValues]));
}

const blank: Sql = { text: numberAlone, params: [] };

/**
 * The condition that the log's entry `_l` is about the row with the key in the slots. Where different values of a key
 * compare as equal, as 'a' and 'A' do with the collation NOCASE, entries with any of these values count.
 */
function isOf(logged: LoggedTable, physical: CatalogTable | undefined): Sql {
  const isTable = sql`_l.tbl = ${tableLiteral(logged.table)}`;
  const isExact = logged.key.every(
    ({ holds, collation }) => collation === null && (holds === "plain" || holds === "blob"),
  );
  if (isExact) {
    return sql`${isTable} AND _l.pk = ${keyText(logged)}`;
  }
  const equal = logged.key.map((column, i) => {
    const logs = keyColumn(logged, i, sql`_l.pk`);
    const shown = physical?.mixedTexts.has(column.name) ? sql`CAST(${logs} AS TEXT)` : logs;
    return sql`${shown} = ${param(new Slot(column.name))}`;
  });
  return and([isTable, ...equal]);
}
