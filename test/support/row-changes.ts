import type { Database, Result } from "../../src/platform/database.js";

/** Every row of every table: by table, and there by its primary key. */
export type Rows = ReadonlyMap<string, ReadonlyMap<string, Row>>;

export type Row = Readonly<Record<string, Result["rows"][number][number]>>;

type Column = readonly [name: string, placeInKey: number];

export async function allRows(database: Database): Promise<Rows> {
  const [tables] = await database.query([
    {
      sql: `SELECT name, (SELECT json_group_array(json_array(c.name, c.pk)) FROM pragma_table_info(m.name) c) AS columns
      FROM sqlite_schema m WHERE type = 'table' ORDER BY name`,
      params: [],
    },
  ]);
  const contents = await database.query(tables!.rows.map(([name]) => ({ sql: `SELECT * FROM "${name}"`, params: [] })));
  return new Map(
    tables!.rows.map(([name, columns], i) => [String(name), byKey(JSON.parse(String(columns)), contents[i]!.rows)]),
  );
}

function byKey(columns: readonly Column[], rows: Result["rows"]): ReadonlyMap<string, Row> {
  return new Map(
    rows.map((values) => {
      const key = values.filter((_, i) => columns[i]![1] > 0);
      return [JSON.stringify(key), Object.fromEntries(columns.map(([name], i) => [name, values[i]!]))];
    }),
  );
}

/** What has changed, without keys and values: `_users +`, `_links -`, `_sessions ~revoked_at`, each as often as it has. */
export function changes(before: Rows, after: Rows): readonly string[] {
  const tables = [...new Set([...before.keys(), ...after.keys()])];
  return tables
    .flatMap((table) => {
      const [was, is] = [before.get(table), after.get(table)];
      if (was === undefined || is === undefined) return [`table ${table}`];
      return rowChanges(was, is).map((change) => `${table} ${change}`);
    })
    .sort();
}

function rowChanges(before: ReadonlyMap<string, Row>, after: ReadonlyMap<string, Row>): readonly string[] {
  const removed = [...before.keys()].filter((key) => !after.has(key)).map(() => "-");
  const others = [...after].flatMap(([key, row]) => {
    const old = before.get(key);
    if (old === undefined) return ["+"];
    const columns = Object.keys(row).filter((column) => row[column] !== old[column]);
    return columns.length === 0 ? [] : [`~${columns.join()}`];
  });
  return [...removed, ...others];
}
