import * as v from "valibot";
import { LineCounter, parseDocument, type YAMLError } from "yaml";
import { meantOrKnown } from "../problems/did-you-mean.js";
import { dottedPath } from "../problems/dotted-path.js";
import { pointAt } from "../problems/point-at.js";
import { type Problem, shown } from "../problems/problem.js";
import { type ColumnName, columnName, isName, tableName } from "../sqlite/names.js";
import { schemaFile } from "./file-names.js";
import type {
  AuthSettings,
  Column,
  ColumnDefault,
  Index,
  Reference,
  Schema,
  Table,
  UnreadTable,
} from "./model.js";
import { schemaProblems } from "./schema-problems.js";
import { soundPart } from "./sound-part.js";
import { isPlainObject, mapOf, mapWith, problemsOf } from "./valibot-problems.js";

export interface ParsedSchema {
  /** Null where there are problems. */
  readonly schema: Schema | null;
  readonly problems: readonly Problem[];
  /** Beside problems: what could be read, for the problems of rules. */
  readonly draft?: Schema;
}

/** svc.schema.yaml as a value, or every problem of it at once (interface, section 3). */
export function parseSchema(text: string): ParsedSchema {
  const source = readYaml(text);
  if ("problems" in source) return { schema: null, problems: source.problems, draft: unreadSchema };
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
  const schema = {
    tables: withResolvedReferences(tables),
    auth: authSettings(settings.$auth),
    origins: settings.$origins,
  };
  problems.push(...schemaProblems({ ...schema, unread }));
  return problems.length === 0
    ? { schema, problems }
    : { schema: null, problems, draft: { ...schema, unread } };
}

/** Columns that are written and could not be read. */
function missingIn(table: Table | null, value: unknown): UnreadTable["columns"] {
  if (table === null) return "all";
  const { columns } = value as { columns: object };
  return Object.keys(columns).filter((name) => !table.columns.has(name));
}

type Source = { settings: Record<string, unknown>; tables: [string, unknown][] } | { problems: Problem[] };

function readYaml(text: string): Source {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    intAsBigInt: true,
    prettyErrors: false,
    // "silent" would take the first of several documents without a word.
    logLevel: "error",
  });
  if (document.errors.length > 0)
    return { problems: distinct(document.errors).map((error) => syntaxProblem(text, error, lineCounter)) };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    return {
      problems: [{ file: schemaFile, path: "", message: shown((error as Error).message, messageMax) }],
    };
  }
  if (!isPlainObject(value))
    return { problems: [{ file: schemaFile, path: "", message: "expected a map of tables" }] };
  const entries = Object.entries(value);
  return {
    settings: Object.fromEntries(entries.filter(([key]) => key.startsWith("$"))),
    tables: entries.filter(([key]) => !key.startsWith("$")),
  };
}

/** The reader says some twice. */
function distinct(errors: readonly YAMLError[]): readonly YAMLError[] {
  const seen = new Set<string>();
  return errors.filter(({ pos, code }) => {
    const isNew = !seen.has(`${pos[0]} ${code}`);
    seen.add(`${pos[0]} ${code}`);
    return isNew;
  });
}

function syntaxProblem(text: string, { code, message, pos }: YAMLError, lines: LineCounter): Problem {
  const { line, col: column } = lines.linePos(pos[0]);
  const what = code === "MULTIPLE_DOCS" ? secondDocument : shown(message, messageMax);
  const start = pos[0] - column + 1;
  const end = text.indexOf("\n", start);
  const place = pointAt(text.slice(start, end === -1 ? undefined : end), { line: 1, column });
  const said = `column ${column}: ${what}${remedies.get(code) ?? ""}`;
  return { file: schemaFile, line, path: "", message: `${said}\n${place}` };
}

/** Some quote a name. */
const messageMax = 200;
const secondDocument =
  "a second document begins here, and the file has to be one: remove this ---, or the ... before it";

/** What to do about a mistake in YAML. */
const remedies = new Map<YAMLError["code"], string>([
  ["DUPLICATE_KEY", ": rename one of both"],
  ["BAD_INDENT", ": a bracket is missing above, or the indentation is not that of its neighbours"],
  ["BLOCK_AS_IMPLICIT_KEY", ": a map in one line needs { }"],
  ["MULTILINE_IMPLICIT_KEY", ": a key ends with a colon"],
  ["BAD_SCALAR_START", ": put it in quotes"],
]);

const text = (fallback: string) => v.optional(v.string(), fallback);
const flag = v.optional(v.boolean(), false);
const names = v.array(v.string());

const settingsSchema = mapWith({
  $auth: v.optional(
    mapWith({
      registration: v.optional(v.picklist(["public", "invite", "closed"]), "public"),
      email_verification: v.optional(mapWith({ required: flag, url: text("") }), {}),
      invitation_url: text(""),
      password_reset_url: text(""),
      providers: v.optional(v.array(v.picklist(["google", "apple", "github"])), []),
      redirect_urls: v.optional(v.array(v.string()), []),
    }),
    {},
  ),
  $origins: v.optional(v.array(v.string()), []),
});

/** What an empty file says. */
export const emptySchema: Schema = {
  tables: new Map(),
  auth: authSettings(v.parse(settingsSchema, {}).$auth),
  origins: [],
};

/** What is known of a file that cannot be read. */
export const unreadSchema: Schema = { ...emptySchema, unread: "everything" };

const literal = v.union([v.string(), v.number(), v.bigint(), v.boolean()]);

const columnSchema = mapWith({
  type: v.picklist(["integer", "real", "text", "boolean", "json", "blob"]),
  primary_key: flag,
  not_null: flag,
  unique: flag,
  default: v.optional(v.union([literal, mapWith({ sql: v.string() })], "expected a literal or {sql: …}")),
  check: v.optional(v.string()),
  references: v.optional(
    mapWith({
      table: v.string(),
      column: v.optional(v.string()),
      on_delete: v.optional(
        v.picklist(["no_action", "restrict", "cascade", "set_null", "set_default"]),
        "no_action",
      ),
    }),
  ),
  renamed_from: v.optional(v.string()),
});

const tableSchema = mapWith({
  columns: mapOf(columnSchema),
  primary_key: v.optional(names),
  unique: v.optional(v.array(names), []),
  indexes: v.optional(v.array(mapWith({ columns: names, unique: flag, where: v.optional(v.string()) })), []),
  renamed_from: v.optional(v.string()),
  strict: v.optional(v.boolean(), true),
  virtual: flag,
});

type ColumnSource = v.InferOutput<typeof columnSchema>;
type TableSource = v.InferOutput<typeof tableSchema>;

/** What is sound of it, and null where nothing is. */
function parsePart<const S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  at: string,
  problems: Problem[],
): v.InferOutput<S> | null {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  for (const problem of problemsOf(schemaFile, result.issues))
    problems.push({ ...problem, path: [at, problem.path].filter((part) => part !== "").join(".") });
  return soundPart(schema, value);
}

/** The table as far as it could be read; null where no column could be. */
function parseTable(name: string, value: unknown, problems: Problem[]): Table | null {
  const problem = (path: string, message: string) => problems.push({ file: schemaFile, path, message });
  const at = dottedPath([name]);
  if (!isName(name)) problem(at, `not a name: ${nameRule}`);
  const source = parsePart(tableSchema, value, at, problems);
  if (source === null) return null;
  for (const column of source.columns.keys())
    if (!isName(column)) problem(dottedPath([name, "columns", column]), `not a name: ${nameRule}`);
  const written = Object.keys((value as { columns: object }).columns);
  const known = (path: string, list: readonly string[]) => {
    for (const column of list)
      if (!written.includes(column))
        problem(path, `unknown column ${shown(column)}${meantOrKnown(column, written)}`);
    if (new Set(list).size !== list.length) problem(path, "names a column twice");
    if (list.length === 0) problem(path, "expected at least one column");
  };
  if (source.primary_key !== undefined) known(`${at}.primary_key`, source.primary_key);
  source.unique.forEach((columns, i) => {
    known(`${at}.unique.${i}`, columns);
  });
  source.indexes.forEach(({ columns }, i) => {
    known(`${at}.indexes.${i}.columns`, columns.map(withoutDirection));
  });
  if (source.primary_key !== undefined && inlineKey(source).length > 0)
    problem(`${at}.primary_key`, "the key is here and on a column: remove one of them");
  if (inlineKey(source).length > 1)
    problem(`${at}.columns`, "a key of several columns is written primary_key: [a, b] on the table");
  return isName(name) ? tableOf(name, withKnownColumns(source)) : null;
}

/** Without columns that have no name, and lists that name such as are not there. */
function withKnownColumns(source: TableSource): TableSource {
  const columns = new Map([...source.columns].filter(([name]) => isName(name)));
  const areKnown = (list: readonly string[]) => list.every((name) => columns.has(name));
  return {
    ...source,
    columns,
    primary_key: source.primary_key && areKnown(source.primary_key) ? source.primary_key : undefined,
    unique: source.unique.filter(areKnown),
    indexes: source.indexes.filter((index) => areKnown(index.columns.map(withoutDirection))),
  };
}

const nameRule = "expected letters, digits and _, a letter first, at most 63, not beginning with sqlite_";

const withoutDirection = (column: string) => column.replace(/^-/, "");

const inlineKey = (source: TableSource) =>
  [...source.columns].filter(([, column]) => column.primary_key).map(([name]) => name);

function tableOf(name: string, source: TableSource): Table {
  const primaryKey = (source.primary_key ?? inlineKey(source)).map(columnName);
  const columns = [...source.columns].map(
    ([key, column]) => [key, columnOf(columnName(key), column, primaryKey, source.strict)] as const,
  );
  const inlineUnique = [...source.columns]
    .filter(([, column]) => column.unique)
    .map(([key]) => [columnName(key)]);
  return {
    name: tableName(name),
    columns: new Map(columns),
    primaryKey,
    unique: [...inlineUnique, ...source.unique.map((list) => list.map(columnName))],
    indexes: source.indexes.map(indexOf),
    strict: source.strict,
    virtual: source.virtual,
    renamedFrom: source.renamed_from ?? null,
  };
}

function columnOf(
  name: ColumnName,
  source: ColumnSource,
  key: readonly ColumnName[],
  strict: boolean,
): Column {
  return {
    name,
    type: source.type,
    // A key is NOT NULL, whatever SQLite allows for reasons of age; a pulled table keeps what it has.
    notNull: source.not_null || (strict && key.includes(name)),
    default: defaultOf(source.default, source.type),
    check: source.check ?? null,
    references: source.references === undefined ? null : referenceOf(source.references),
    renamedFrom: source.renamed_from ?? null,
  };
}

function defaultOf(source: ColumnSource["default"], type: Column["type"]): ColumnDefault | null {
  if (source === undefined) return null;
  if (typeof source === "object") return { kind: "sql", sql: source.sql };
  const value = typeof source === "bigint" && type === "real" ? Number(source) : source;
  return { kind: "literal", value };
}

function referenceOf(source: NonNullable<ColumnSource["references"]>): Reference {
  const toUsers = source.table === "$users";
  return {
    table: toUsers ? "$users" : (source.table as Reference["table"]),
    column: (source.column ?? (toUsers ? "id" : "")) as ColumnName,
    onDelete: source.on_delete,
  };
}

/** A reference without a column means its parent's key, where that is one column; `schemaProblems` judges the rest. */
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

function indexOf(source: TableSource["indexes"][number]): Index {
  return {
    columns: source.columns.map((column) => ({
      name: columnName(withoutDirection(column)),
      descending: column.startsWith("-"),
    })),
    unique: source.unique,
    where: source.where ?? null,
  };
}

function authSettings(source: v.InferOutput<typeof settingsSchema>["$auth"]): AuthSettings {
  return {
    registration: source.registration,
    emailVerification: source.email_verification,
    invitationUrl: source.invitation_url,
    passwordResetUrl: source.password_reset_url,
    providers: source.providers,
    redirectUrls: source.redirect_urls,
  };
}
