import * as v from "valibot";
import { meantOrKnown } from "../problems/did-you-mean.js";
import { dottedPath } from "../problems/dotted-path.js";
import { type Problem, shown } from "../problems/problem.js";
import { isName } from "../sqlite/names.js";
import { schemaFile } from "./file-names.js";
import type { AuthSettings, Column, Schema, Table, UnreadTable } from "./model.js";
import { parseOperations } from "./parse-operations.js";
import { parsePart } from "./parse-part.js";
import { readSchemaYaml } from "./read-schema-yaml.js";
import { type AuthSource, settingsSchema, type TableSource, tableSchema } from "./schema.js";
import { schemaProblems } from "./schema-problems.js";
import { daysOf, markedKey, tableFromSource, withoutDirection } from "./table-from-source.js";

/** The schema, or the problems of svc.schema.yaml. */
export interface ParsedSchema {
  /** Null if svc.schema.yaml has problems. */
  readonly schema: Schema | null;
  readonly problems: readonly Problem[];
  /** Only if the file has problems: the schema as far as it could be read, so that rules can be checked against it. */
  readonly draft?: Schema;
}

/** Parses svc.schema.yaml (docs/reference/schema.md). */
export function parseSchema(text: string): ParsedSchema {
  const source = readSchemaYaml(text);
  if (source.outcome === "invalid") return { schema: null, problems: source.problems, draft: unreadSchema };
  const problems: Problem[] = [];
  const settings = parsePart(settingsSchema, source.settings, "", problems)!;
  const tables = new Map<string, Table>();
  const unread = new Map<string, UnreadTable>();
  for (const [name, value] of source.tables) {
    const before = problems.length;
    const table = parseTable(name, value, problems);
    if (table !== null) tables.set(name, table);
    if (problems.length > before) unread.set(name, { columns: missingIn(table, value) });
  }
  const names = source.tables.map(([name]) => name);
  const schema = {
    tables: withHistory(withResolvedReferences(tables), source.tables, daysOf(settings.$history)),
    auth: authSettings(settings.$auth),
    origins: settings.$origins,
    operations: parseOperations(source.settings.$operations, { names, tables, areWhole: unread.size === 0 }, problems),
  };
  problems.push(...schemaProblems({ ...schema, unread }));
  return problems.length === 0 ? { schema, problems } : { schema: null, problems, draft: { ...schema, unread } };
}

/**
 * The columns that are written under a table and are missing in `table`, because they could not be read; `all` if
 * nothing of the table could be read.
 */
function missingIn(table: Table | null, value: unknown): UnreadTable["columns"] {
  if (table === null) return "all";
  const { columns } = value as { columns: object };
  return new Set(Object.keys(columns).filter((name) => !table.columns.has(name)));
}

/** The schema of an empty file. */
export const emptySchema: Schema = {
  tables: new Map(),
  auth: authSettings(v.parse(settingsSchema, {}).$auth),
  origins: [],
  operations: new Map(),
};

/** The schema that stands for a file of which nothing at all can be read. */
export const unreadSchema: Schema = { ...emptySchema, unread: "everything" };

/** Null if the table's name is not valid or nothing can be read. */
function parseTable(name: string, value: unknown, problems: Problem[]): Table | null {
  const problem = (path: string, message: string) => problems.push({ file: schemaFile, path, message });
  const at = dottedPath([name]);
  if (!isName(name)) problem(at, `not a name: ${nameRule}`);
  const source = parsePart(tableSchema, value, at, problems);
  if (source === null) return null;
  for (const [column, { managed, default: value }] of source.columns) {
    const path = dottedPath([name, "columns", column]);
    if (!isName(column)) problem(path, `not a name: ${nameRule}`);
    if (managed !== undefined && value !== undefined)
      problem(path, "managed: the server gives the column its value: remove default");
  }
  for (const trigger of source.triggers.keys())
    if (!isName(trigger)) problem(dottedPath([name, "triggers", trigger]), `not a name: ${nameRule}`);
  const written = new Set(Object.keys((value as { columns: object }).columns));
  const known = (path: string, list: readonly string[]) => {
    for (const column of list)
      if (!written.has(column)) problem(path, `unknown column ${shown(column)}${meantOrKnown(column, written)}`);
    if (new Set(list).size !== list.length) problem(path, "names a column twice");
    if (list.length === 0) problem(path, "expected at least one column");
  };
  if (source.primary_key !== undefined) known(`${at}.primary_key`, source.primary_key);
  if (source.search !== undefined) known(`${at}.search`, source.search.columns);
  source.unique.forEach((columns, i) => {
    known(`${at}.unique.${i}`, columns);
  });
  source.indexes.forEach(({ columns }, i) => {
    known(`${at}.indexes.${i}.columns`, columns.map(withoutDirection));
  });
  if (source.primary_key !== undefined && markedKey(source).length > 0)
    problem(`${at}.primary_key`, "the key is here and on a column: remove one of them");
  if (markedKey(source).length > 1)
    problem(`${at}.columns`, "a key of several columns is written primary_key: [a, b] on the table");
  return isName(name) ? tableFromSource(name, withKnownColumns(source)) : null;
}

/**
 * Leaves out what would refer to nothing: columns whose names are not valid, and keys and indexes with a column that
 * the table does not have. `parseTable` reports them.
 */
function withKnownColumns(source: TableSource): TableSource {
  const columns = new Map([...source.columns].filter(([name]) => isName(name)));
  const areKnown = (list: readonly string[]) => list.every((name) => columns.has(name));
  return {
    ...source,
    columns,
    primary_key: source.primary_key && areKnown(source.primary_key) ? source.primary_key : undefined,
    search: source.search && areKnown(source.search.columns) ? source.search : undefined,
    unique: source.unique.filter(areKnown),
    indexes: source.indexes.filter((index) => areKnown(index.columns.map(withoutDirection))),
  };
}

const nameRule = "expected letters, digits and _, a letter first, at most 63, not beginning with sqlite_";

/**
 * If `references:` names no column, fills in the primary key of the table that is referred to, if that is a single
 * column. If it is not, `schemaProblems` reports it.
 */
function withResolvedReferences(tables: ReadonlyMap<string, Table>): ReadonlyMap<string, Table> {
  const resolved = (column: Column): Column => {
    const { references } = column;
    if (references === null || references.column !== "") return column;
    const key = tables.get(references.table)?.primaryKey ?? [];
    return key.length === 1 ? { ...column, references: { ...references, column: key[0]! } } : column;
  };
  return new Map(
    [...tables].map(([name, table]) => {
      const columns = new Map([...table.columns].map(([key, column]) => [key, resolved(column)]));
      return [name, { ...table, columns }];
    }),
  );
}

/**
 * Sets the days of `$history` for each table without `history:` that can keep it: it has a primary key and is not
 * virtual.
 */
function withHistory(
  tables: ReadonlyMap<string, Table>,
  sources: readonly (readonly [name: string, value: unknown])[],
  historyDays: number | null,
): ReadonlyMap<string, Table> {
  if (historyDays === null) return tables;
  const own = new Set(
    sources.flatMap(([name, value]) => ((value as TableSource | null)?.history === undefined ? [] : [name])),
  );
  const takesIt = ({ name, primaryKey, virtual }: Table) => !own.has(name) && primaryKey.length > 0 && !virtual;
  return new Map([...tables].map(([name, table]) => [name, takesIt(table) ? { ...table, historyDays } : table]));
}

function authSettings(source: AuthSource): AuthSettings {
  return {
    registration: source.registration,
    emailVerification: source.email_verification,
    invitationUrl: source.invitation_url,
    passwordResetUrl: source.password_reset_url,
    emailChangeUrl: source.email_change_url,
    providers: source.providers,
    redirectUrls: source.redirect_urls,
  };
}
