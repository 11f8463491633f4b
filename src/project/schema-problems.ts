import { fragmentProblems } from "./migration/fragment-problems.js";
import type { Column, Schema, Table } from "./model.js";
import { isName } from "./names.js";
import type { Problem } from "./problem.js";

/** What is wrong with a schema whose parts are well-formed: how they fit together (interface, section 3). */
export function schemaProblems(schema: Schema): Problem[] {
  return [
    ...duplicates([...schema.tables.keys()]).map((name) => problem(name, sameName)),
    ...[...schema.tables.values()].flatMap((table) => tableProblems(table, schema)),
    ...settingsProblems(schema),
    ...fragmentProblems(schema),
  ];
}

const columnsMax = 100;
const sameName = "another name differs only in case, and SQLite compares names without case";

function problem(path: string, message: string): Problem {
  return { file: "svc.schema.yaml", path, message };
}

function duplicates(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.filter((name) => seen.has(name.toLowerCase()) || !seen.add(name.toLowerCase()));
}

function tableProblems(table: Table, schema: Schema): Problem[] {
  const at = `${table.name}.columns`;
  const columns = [...table.columns.values()];
  const problems = duplicates(columns.map(({ name }) => name)).map((name) =>
    problem(`${at}.${name}`, sameName),
  );
  if (columns.length === 0) problems.push(problem(at, "expected at least one column"));
  if (columns.length > columnsMax) problems.push(problem(at, `more than ${columnsMax} columns`));
  if (table.renamedFrom !== null && !isName(table.renamedFrom))
    problems.push(problem(`${table.name}.renamed_from`, "not a name"));
  for (const name of table.primaryKey)
    if (table.columns.get(name)!.type === "json")
      problems.push(problem(`${at}.${name}`, "a json column cannot be part of the primary key"));
  return [
    ...problems,
    ...columns.flatMap((column) =>
      columnProblems(column, schema).map((message) => problem(`${at}.${column.name}`, message)),
    ),
  ];
}

function columnProblems(column: Column, schema: Schema): string[] {
  const problems: string[] = [];
  if (column.renamedFrom !== null && !isName(column.renamedFrom)) problems.push("renamed_from is not a name");
  const mismatch = defaultProblem(column);
  if (mismatch !== null) problems.push(mismatch);
  const reference = referenceProblem(column, schema);
  if (reference !== null) problems.push(reference);
  if (column.references?.onDelete === "set_null" && column.notNull)
    problems.push("on_delete: set_null needs a column that may be NULL");
  return problems;
}

function defaultProblem({ type, default: value }: Column): string | null {
  if (value === null || value.kind === "sql") return null;
  const expected = { integer: "bigint", real: "number", text: "string", boolean: "boolean" } as const;
  if (type === "json" || type === "blob") return `a default of type ${type} is written {sql: …}`;
  const given = typeof value.value;
  if (given !== expected[type])
    return `default: expected ${type}, got ${given === "bigint" ? "integer" : given}`;
  if (typeof value.value === "bigint" && BigInt.asIntN(64, value.value) !== value.value)
    return "default: an integer has 64 bits";
  if (typeof value.value === "number" && !Number.isFinite(value.value)) return "default: not a finite number";
  return null;
}

function referenceProblem({ references, type }: Column, schema: Schema): string | null {
  if (references === null) return null;
  if (references.table === "$users") {
    if (references.column !== "id") return "references: $users offers id alone";
    return type === "text" ? null : "references: $users.id is text";
  }
  const parent = schema.tables.get(references.table);
  if (parent === undefined) return `references: unknown table ${references.table}`;
  if (references.column === "") return `references: ${parent.name} has no key of one column, name the column`;
  const target = parent.columns.get(references.column);
  if (target === undefined) return `references: unknown column ${references.table}.${references.column}`;
  if (!isUnique(parent, references.column))
    return `references: ${references.table}.${references.column} is neither the primary key nor unique`;
  // Pulled tables keep what SQLite let them declare.
  if (parent.strict && target.type !== type)
    return `references: ${references.table}.${references.column} is ${target.type}, not ${type}`;
  return null;
}

function isUnique(table: Table, column: string): boolean {
  const alone = (list: readonly string[]) => list.length === 1 && list[0] === column;
  return (
    alone(table.primaryKey) ||
    table.unique.some(alone) ||
    table.indexes.some(
      ({ unique, where, columns }) => unique && where === null && alone(columns.map((c) => c.name)),
    )
  );
}

function settingsProblems({ auth, origins }: Schema): Problem[] {
  const pages = [
    ["$auth.email_verification.url", auth.emailVerification.url],
    ["$auth.invitation_url", auth.invitationUrl],
    ["$auth.password_reset_url", auth.passwordResetUrl],
  ] as const;
  return [
    ...pages
      .filter(([, url]) => url !== "" && !isWebUrl(url))
      .map(([path]) => problem(path, "expected an absolute http(s) URL")),
    ...auth.redirectUrls.flatMap((url, i) => {
      const message = redirectUrlProblem(url);
      return message === null ? [] : [problem(`$auth.redirect_urls.${i}`, message)];
    }),
    ...origins
      .map((origin, i) => [origin, `$origins.${i}`] as const)
      .filter(([origin]) => !isWebUrl(origin) || new URL(origin).origin !== origin)
      .map(([, path]) => problem(path, "expected an origin such as https://app.example.com")),
  ];
}

function isWebUrl(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text);
}

/** Specification 5.6: exact, no wildcard, query or fragment; https, loopback http, or a custom scheme. */
function redirectUrlProblem(text: string): string | null {
  if (!URL.canParse(text)) return "expected an absolute URL";
  if (/[*?#]/.test(text)) return "a redirect URL has no wildcard, query or fragment";
  const { protocol, hostname } = new URL(text);
  if (protocol === "https:") return null;
  if (protocol === "http:") return isLoopback(hostname) ? null : "http is for loopback addresses, use https";
  return /^(javascript|data|file|blob|about|vbscript|ws|wss|ftp):$/.test(protocol)
    ? `the scheme ${protocol} cannot be redirected to`
    : null;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
