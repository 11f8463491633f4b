import type { Database, Result, ResultValue, Statement } from "../../platform/database.js";
import type { OnDelete } from "../../project/model.js";
import { isOwnTrigger } from "./own-triggers.js";
import type {
  Physical,
  PhysicalColumn,
  PhysicalForeignKey,
  PhysicalIndex,
  PhysicalTable,
  PhysicalTrigger,
} from "./physical.js";

/**
 * Loads the tables, indexes, views and triggers in one round trip, without the server's own triggers. D1's own tables,
 * which begin with `_cf_`, are left out, because D1 refuses queries about them.
 */
export async function loadPhysical(database: Database): Promise<Physical> {
  return (await loadPhysicalAfter(database, [])).physical;
}

/** The schema as the database itself reports it, without the server's own triggers. */
export interface LoadedPhysical {
  readonly physical: Physical;
  readonly ownTriggers: readonly PhysicalTrigger[];
}

/** Runs `before` first, in the same round trip; `results` are its results. */
export async function loadPhysicalAfter(
  database: Database,
  before: readonly Statement[],
): Promise<LoadedPhysical & { readonly results: readonly Result[] }> {
  const results = await queryTolerantly(database, before);
  const rest = results.slice(before.length);
  const all = physicalFrom(rest.map(({ rows }) => rows));
  return {
    results: results.slice(0, before.length),
    physical: { ...all, triggers: all.triggers.filter((trigger) => !isOwnTrigger(trigger)) },
    ownTriggers: all.triggers.filter(isOwnTrigger),
  };
}

/**
 * Asking for the columns of a virtual table fails if its module is missing. Then everything is asked again, without the
 * columns of virtual tables.
 */
async function queryTolerantly(database: Database, before: readonly Statement[]): Promise<readonly Result[]> {
  try {
    return await database.query([...before, ...physicalStatements("")]);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("no such module")) throw error;
    return database.query([...before, ...physicalStatements("AND m.sql NOT LIKE 'CREATE VIRTUAL%'")]);
  }
}

type Row = readonly ResultValue[];

const visible = String.raw`m.name NOT LIKE '\_cf\_%' ESCAPE '\' AND m.tbl_name NOT LIKE '\_cf\_%' ESCAPE '\'`;

/**
 * The queries whose rows `physicalFrom` reads. `only` is a further SQL condition, as `AND …` or empty: columns, indexes
 * and foreign keys are asked for only of tables that meet it.
 */
function physicalStatements(only: string): Statement[] {
  const tables = String.raw`m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND ${visible} ${only}`;
  return [
    `SELECT m.type, m.name, m.tbl_name, m.sql FROM sqlite_master m WHERE ${visible} ORDER BY m.rowid`,
    "SELECT l.name, l.type, l.wr, l.strict FROM pragma_table_list l WHERE l.schema = 'main'",
    `SELECT m.name AS of, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden
    FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c WHERE ${tables} ORDER BY m.rowid, c.cid`,
    `SELECT m.name AS of, i.name, i.origin, i."unique", i.partial, x.name AS key, x."desc", x.coll, d.sql
    FROM sqlite_master m JOIN pragma_index_list(m.name) i JOIN pragma_index_xinfo(i.name) x
    LEFT JOIN sqlite_master d ON d.type = 'index' AND d.name = i.name
    WHERE x.key = 1 AND ${tables} ORDER BY m.rowid, i.name, x.seqno`,
    `SELECT m.name AS of, f.id, f."table", f."from", f."to", f.on_update, f.on_delete
    FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE ${tables} ORDER BY m.rowid, f.id, f.seq`,
  ].map((sql) => ({ sql, params: [] }));
}

/** Reads the rows that the queries of `physicalStatements` return. */
function physicalFrom(results: readonly (readonly Row[])[]): Physical {
  const [master = [], list = [], columns = [], indexes = [], foreignKeys = []] = results;
  const kinds = new Map(list.map((row) => [String(row[0]), row]));
  const columnsOf = grouped(columns);
  const indexesOf = grouped(indexes);
  const keysOf = grouped(foreignKeys);
  const table = (name: string, sql: string): PhysicalTable => {
    const [, kind, withoutRowid, strict] = kinds.get(name) ?? [];
    return {
      name,
      kind: kind === "virtual" || kind === "shadow" ? kind : "ordinary",
      strict: strict === 1,
      hasRowid: withoutRowid !== 1,
      sql,
      columns: (columnsOf.get(name) ?? []).map(columnFrom),
      indexes: indexesFrom(indexesOf.get(name) ?? []),
      foreignKeys: foreignKeysFrom(keysOf.get(name) ?? []),
    };
  };
  const objects = master.map(([type, name, on, sql]) => ({
    type,
    name: String(name),
    on: String(on),
    sql: String(sql ?? ""),
  }));
  return {
    tables: new Map(
      objects
        .filter(({ type, name }) => type === "table" && !/^sqlite_/i.test(name))
        .map(({ name, sql }) => [name.toLowerCase(), table(name, sql)]),
    ),
    views: objects.filter(({ type }) => type === "view").map(({ name, sql }) => ({ name, sql })),
    triggers: objects.filter(({ type }) => type === "trigger").map(({ name, on, sql }) => ({ name, on, sql })),
  };
}

function grouped(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const [name, ...rest] of rows) {
    const group = groups.get(String(name));
    if (group === undefined) groups.set(String(name), [rest]);
    else group.push(rest);
  }
  return groups;
}

function columnFrom([name, type, notNull, defaultSql, keyPosition, hidden]: Row): PhysicalColumn {
  return {
    name: String(name),
    declaredType: String(type ?? ""),
    notNull: notNull === 1,
    default: defaultSql === null || defaultSql === undefined ? null : String(defaultSql),
    keyPosition: Number(keyPosition),
    kind: hidden === 0 ? "ordinary" : hidden === 1 ? "hidden" : "generated",
  };
}

const origins = { c: "created", u: "unique", pk: "primary_key" } as const;

function indexesFrom(rows: readonly Row[]): PhysicalIndex[] {
  return [...grouped(rows)].map(([name, keys]) => {
    const [origin, unique, partial, , , , sql] = keys[0]!;
    return {
      name,
      origin: origins[origin as keyof typeof origins],
      unique: unique === 1,
      partial: partial === 1,
      sql: sql === null ? null : String(sql),
      columns: keys.map(([, , , column, descending, collation]) => ({
        name: column === null ? null : String(column),
        descending: descending === 1,
        collation: String(collation),
      })),
    };
  });
}

function foreignKeysFrom(rows: readonly Row[]): PhysicalForeignKey[] {
  return [...grouped(rows).values()].map((keys) => {
    const [parent, , , onUpdate, onDelete] = keys[0]!;
    return {
      parent: String(parent),
      columns: keys.map(([, from, to]) => ({ from: String(from), to: to === null ? null : String(to) })),
      onUpdate: actionFrom(onUpdate!),
      onDelete: actionFrom(onDelete!),
    };
  });
}

/** `SET NULL`, as SQLite names an action, becomes `set_null`. */
function actionFrom(action: ResultValue): OnDelete {
  return String(action).toLowerCase().replace(" ", "_") as OnDelete;
}
