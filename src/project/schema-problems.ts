import { isLoopbackHost } from "../http/loopback.js";
import { meantOrKnown } from "../problems/did-you-mean.js";
import { type Problem, shown } from "../problems/problem.js";
import type { ColumnType } from "../sqlite/column-type.js";
import { isStorableInteger } from "../sqlite/column-type.js";
import { isName } from "../sqlite/names.js";
import { schemaFile } from "./file-names.js";
import { fragmentProblems } from "./fragment-problems.js";
import { isOrigin, isWebUrl } from "./is-origin.js";
import { managedProblems } from "./managed.js";
import type { Column, Schema, Table } from "./model.js";
import { triggerProblems } from "./trigger-problems.js";
import { isWhollyRead, mayHaveColumn, mayHaveTable, suggestedColumns } from "./unread.js";

/**
 * The problems of a schema whose parts are each valid by themselves and do not fit together (docs/reference/schema.md).
 * Nothing is reported that may only follow from a part of the file that could not be read.
 */
export function schemaProblems(schema: Schema): Problem[] {
  return [
    ...duplicates([...schema.tables.keys()]).map(({ name, message }) => problem(name, message)),
    ...[...schema.tables.values()].flatMap((table) => tableProblems(table, schema)),
    ...settingsProblems(schema),
    ...fragmentProblems(schema),
    ...triggerProblems(schema),
  ];
}

/** The most columns that a table may have; D1 allows no more. */
export const columnsMax = 100;

function problem(path: string, message: string): Problem {
  return { file: schemaFile, path, message };
}

function duplicates(names: readonly string[]): { name: string; message: string }[] {
  const first = new Map<string, string>();
  return names.flatMap((name) => {
    const other = first.get(name.toLowerCase());
    if (other === undefined) first.set(name.toLowerCase(), name);
    const message = `differs from ${other} only in case, which SQLite does not tell apart: rename one`;
    return other === undefined ? [] : [{ name, message }];
  });
}

function tableProblems(table: Table, schema: Schema): Problem[] {
  const at = `${table.name}.columns`;
  const columns = [...table.columns.values()];
  const problems = duplicates(columns.map(({ name }) => name)).map(({ name, message }) =>
    problem(`${at}.${name}`, message),
  );
  if (columns.length === 0 && isWhollyRead(schema, table.name))
    problems.push(problem(at, "expected at least one column"));
  if (columns.length > columnsMax) problems.push(problem(at, `more than ${columnsMax} columns: split the table`));
  if (table.renamedFrom !== null && !isName(table.renamedFrom))
    problems.push(problem(`${table.name}.renamed_from`, "not a name: expected the table's old one"));
  for (const name of table.primaryKey)
    if (table.columns.get(name)!.type === "json")
      problems.push(problem(`${at}.${name}`, "a json column cannot be part of the primary key: use text or integer"));
  return [
    ...problems,
    ...searchProblems(table, schema).map((message) => problem(`${table.name}.search`, message)),
    ...historyProblems(table, schema).map((message) => problem(`${table.name}.history`, message)),
    ...managedProblems(table, schema).map(({ column, message }) => problem(`${at}.${column}`, message)),
    ...columns.flatMap((column) =>
      columnProblems(column, schema).map((message) => problem(`${at}.${column.name}`, message)),
    ),
  ];
}

/** Small, because a search looks for its words in each column of the index separately, to rank the rows. */
const searchColumnsMax = 16;

function searchProblems(table: Table, schema: Schema): string[] {
  const { columns, primaryKey, search, virtual } = table;
  if (search.length === 0) return [];
  const problems = search
    .filter((name) => columns.get(name)!.type !== "text")
    .map((name) => `${name} is ${columns.get(name)!.type}: only text is searched`);
  if (search.length > searchColumnsMax) problems.push(`more than ${searchColumnsMax} columns`);
  if (virtual) problems.push("a virtual table cannot be searched");
  else if (primaryKey.length === 0 && isWhollyRead(schema, table.name))
    problems.push("only a table with a primary key can be searched");
  return problems;
}

function historyProblems(table: Table, schema: Schema): string[] {
  const { name, primaryKey, historyDays, virtual } = table;
  if (historyDays === null) return [];
  if (virtual) return ["a virtual table keeps no history"];
  const hasNoKey = primaryKey.length === 0 && isWhollyRead(schema, name);
  return hasNoKey ? ["only a table with a primary key can keep history"] : [];
}

function columnProblems(column: Column, schema: Schema): string[] {
  const problems: string[] = [];
  if (column.renamedFrom !== null && !isName(column.renamedFrom))
    problems.push("renamed_from is not a name: expected the column's old one");
  const mismatch = defaultProblem(column);
  if (mismatch !== null) problems.push(mismatch);
  const reference = referenceProblem(column, schema);
  if (reference !== null) problems.push(reference);
  if (column.references?.onDelete === "set_null" && column.notNull)
    problems.push("on_delete: set_null needs a column that may be NULL: remove not_null, or use cascade");
  return problems;
}

function defaultProblem({ type, default: value }: Column): string | null {
  if (value === null || value.kind === "sql") return null;
  const expected = { integer: "bigint", real: "number", text: "string", boolean: "boolean" } as const;
  if (type === "json" || type === "blob")
    return `default: a ${type} is written as SQL, such as { sql: "${type === "json" ? "'{}'" : "x'00'"}" }`;
  const given = typeof value.value;
  if (given !== expected[type])
    return `default: expected ${type}, got ${given === "bigint" ? "integer" : given}${rewritten(type, given)}`;
  if (typeof value.value === "bigint" && !isStorableInteger(value.value))
    return "default: an integer has at most 64 bits";
  if (typeof value.value === "number" && !Number.isFinite(value.value)) return "default: not a finite number";
  return null;
}

/** How to write a default whose type is not that of its column; empty for no advice. */
function rewritten(type: ColumnType, given: string): string {
  if (type === "text") return "; write it in quotes";
  if (type === "boolean") return "; write true or false";
  return given === "string" ? "; an expression is written { sql: … }" : "";
}

function referenceProblem({ references, type }: Column, schema: Schema): string | null {
  if (references === null) return null;
  if (references.table === "$users") {
    if (references.column !== "id") return "references: $users offers id alone: leave column out";
    return type === "text" ? null : `references: $users.id is text, not ${type}: make this column text`;
  }
  const parent = schema.tables.get(references.table);
  if (parent === undefined && mayHaveTable(schema, references.table)) return null;
  if (parent === undefined)
    return `references: unknown table ${shown(references.table)}${meantOrKnown(references.table, schema.tables.keys(), ["$users"])}`;
  const isKnown = isWhollyRead(schema, parent.name);
  if (references.column === "")
    return !isKnown ? null : `references: ${parent.name} has no key of one column: name a unique one, as in column: …`;
  const target = parent.columns.get(references.column);
  if (target === undefined && mayHaveColumn(schema, parent.name, references.column)) return null;
  if (target === undefined)
    return `references: unknown column ${references.table}.${shown(references.column)}${meantOrKnown(references.column, ...suggestedColumns(schema, parent))}`;
  if (!isKnown) return null;
  if (!isUnique(parent, references.column))
    return `references: ${references.table}.${references.column} is neither the primary key nor unique: make it unique: true`;
  // The types are compared only if the table that is referred to is STRICT. SQLite allows references between different
  // types, and an existing database may have such references to tables that are not STRICT.
  if (parent.strict && target.type !== type)
    return `references: ${references.table}.${references.column} is ${target.type}, not ${type}: give both one type`;
  return null;
}

function isUnique(table: Table, column: string): boolean {
  const alone = (list: readonly string[]) => list.length === 1 && list[0] === column;
  return (
    alone(table.primaryKey) ||
    table.unique.some(alone) ||
    table.indexes.some(({ unique, where, columns }) => unique && where === null && alone(columns.map((c) => c.name)))
  );
}

function settingsProblems({ auth, origins }: Schema): Problem[] {
  const pages = [
    ["$auth.email_verification.url", auth.emailVerification.url],
    ["$auth.invitation_url", auth.invitationUrl],
    ["$auth.password_reset_url", auth.passwordResetUrl],
    ["$auth.email_change_url", auth.emailChangeUrl],
  ] as const;
  return [
    ...pages
      .filter(([, url]) => url !== "" && !isWebUrl(url))
      .map(([path]) => problem(path, "expected an absolute http(s) URL such as https://app.example.com/page")),
    ...auth.redirectUrls.flatMap((url, i) => {
      const message = redirectUrlProblem(url);
      return message === null ? [] : [problem(`$auth.redirect_urls.${i}`, message)];
    }),
    ...origins
      .map((origin, i) => [origin, `$origins.${i}`] as const)
      .filter(([origin]) => !isOrigin(origin))
      .map(([, path]) =>
        problem(path, "expected an origin such as https://app.example.com, without a path or a / at its end"),
      ),
  ];
}

/** Schemes that browsers or systems handle themselves, so that no application receives the redirect. */
const ofNoApplication = /^(mailto|tel|sms|intent|javascript|data|file|blob|about|vbscript|ftp|wss?|view-source):$/;

/**
 * Why the text is no redirect URL (docs/guides/sign-in-providers.md): https, http on loopback addresses or a scheme of
 * an application's own, without user, wildcard, query or fragment.
 */
function redirectUrlProblem(text: string): string | null {
  if (!URL.canParse(text)) return "expected an absolute URL such as https://app.example.com/callback";
  if (/[*?#]/.test(text))
    return "a redirect URL has no wildcard, query or fragment: list each address as it is, up to the ?";
  const { protocol, hostname } = new URL(text);
  if (ofNoApplication.test(protocol))
    return `the scheme ${protocol} cannot be redirected to: use https, or a scheme of your app's own`;
  if (protocol === "http:" && !isLoopbackHost(hostname)) return "http is for loopback addresses, use https";
  return /^[^:]+:[/\\]*[^/\\]*@/.test(text) ? "a redirect URL has no user or password before its host" : null;
}
