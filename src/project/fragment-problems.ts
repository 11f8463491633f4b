import type { Problem } from "../problems/problem.js";
import { fragmentProblem, inLowerCase, overCarried } from "../sqlite/fragment.js";
import { carriedName } from "../sqlite/names.js";
import { quoteName } from "../sqlite/sql-tokens.js";
import { schemaFile } from "./file-names.js";
import type { Column, Schema, Table } from "./model.js";
import { suggestedColumns } from "./unread.js";

/**
 * The problems of all SQL expressions of the owner in a schema (`fragmentProblem`), and of literal defaults that cannot
 * be stored: texts with NUL or half a surrogate pair.
 */
export function fragmentProblems(schema: Schema): Problem[] {
  return [
    ...fragmentsOf(schema).flatMap(({ path, sql, known }) => problemOf(path, fragmentProblem(sql, known))),
    ...[...schema.tables.values()].flatMap(({ name, columns }) =>
      [...columns.values()].flatMap((column) =>
        problemOf(`${name}.columns.${column.name}.default`, textProblem(column)),
      ),
    ),
  ];
}

/** An SQL expression in svc.schema.yaml, and the columns that it may name. */
interface Fragment {
  readonly path: string;
  readonly sql: string;
  readonly columns: readonly string[];
  /** `columns` in lower case. */
  readonly known: ReadonlySet<string>;
}

function fragmentsOf(schema: Schema): Fragment[] {
  return [...schema.tables.values()].flatMap((table) => {
    const columns = suggestedColumns(schema, table).flatMap((names) => [...names]);
    const named = { columns, known: inLowerCase(columns) };
    return [
      ...[...table.columns.values()].flatMap((column) => columnFragments(column, table, named)),
      ...table.indexes.flatMap(({ where }, at) =>
        where === null ? [] : [{ path: `${table.name}.indexes.${at}.where`, sql: where, ...named }],
      ),
    ];
  });
}

function columnFragments(column: Column, table: Table, named: Pick<Fragment, "columns" | "known">): Fragment[] {
  const path = `${table.name}.columns.${column.name}`;
  const { check, default: value } = column;
  return [
    ...(check === null ? [] : [{ path: `${path}.check`, sql: check, ...named }]),
    ...(value?.kind === "sql"
      ? [{ path: `${path}.default`, sql: value.sql, columns: [], known: new Set<string>() }]
      : []),
  ];
}

/**
 * For each SQL expression of the schema, a query that returns no rows and fails if the database cannot evaluate the
 * expression. Otherwise SQLite would accept, for instance, a default that calls a function with the wrong arguments,
 * and every insert would fail from then on.
 */
export function fragmentProbes(schema: Schema): { path: string; sql: string }[] {
  return fragmentsOf(schema).map(({ path, sql, columns }) => {
    const row = columns.map((name) => `NULL AS ${quoteName(carriedName(name))}`).join(", ");
    const from = columns.length === 0 ? "" : ` FROM (SELECT ${row})`;
    return { path, sql: `SELECT 1${from} WHERE (${overCarried(sql, columns)}) LIMIT 0` };
  });
}

function textProblem({ default: value }: Column): string | null {
  if (value?.kind !== "literal") return null;
  const storable = !/[\0\p{Surrogate}]/u.test(String(value.value));
  return storable ? null : "text with NUL or half a surrogate pair cannot be stored";
}

function problemOf(path: string, message: string | null): Problem[] {
  return message === null ? [] : [{ file: schemaFile, path, message }];
}
