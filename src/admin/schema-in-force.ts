import { schemaVersion } from "../auth/store/checks.js";
import { parseQueryString } from "../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import { ask } from "../platform/query.js";
import { dottedPath } from "../problems/dotted-path.js";
import type { Column, ColumnDefault, Index, Table } from "../project/model.js";
import { placeInFile } from "../project/place-in-file.js";
import { conditionPath } from "../rules/write-out.js";
import { isReadOnly, type LiveProject, type ServedRules } from "../schema/live-project.js";
import { historyText } from "../schema/pull/schema-yaml.js";
import { data } from "../wire/schema.js";
import {
  type RuleText,
  type SchemaColumn,
  type SchemaTable,
  type ServedSchema,
  servedSchema,
} from "../wire/schema-in-force.js";
import { type AdminEndpoint, administrators, readErrors } from "./endpoint.js";
import type { AdminRequest } from "./services.js";

/**
 * GET /admin/api/schema: shows the schema in force (the one that was applied last) and its rules
 * (docs/reference/http.md#the-schema-in-force).
 */
export const getSchemaEndpoint: AdminEndpoint = {
  method: "GET",
  path: "/admin/api/schema",
  summary: "The schema in force, and its rules",
  callers: administrators,
  answers: { 200: data(servedSchema) },
  errors: readErrors,
  needs: "session",
  handle: getSchema,
};

async function getSchema({ request, services }: AdminRequest): Promise<Response | Refusal> {
  const { platform, projects, readSchemaFile } = services;
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  if (parameters.length > 0) return badRequest("no parameters are taken here");
  const project = await projects.current(await ask(platform.database, schemaVersion()));
  if (isRefusal(project)) return project;
  // If svc.schema.yaml cannot be read, the answer has null for its text: the file may have been removed since it was
  // applied.
  const fileText = await readSchemaFile().catch(() => null);
  const { hash, version, text, schema } = project;
  const shown: ServedSchema = {
    hash,
    version,
    text,
    file_text: fileText,
    tables: [...schema.tables.values()].map((table) => tableOf(table, project)),
    conditions: [...project.source.conditions].map(([name, condition]) => ({
      name,
      ...placed(condition, conditionPath(name), project.source),
    })),
  };
  return json({ data: shown });
}

function tableOf(table: Table, project: LiveProject): SchemaTable {
  const { name, virtual, primaryKey, columns, unique, indexes, search, historyDays, triggers } = table;
  const isReadable = !project.catalog.unsupported.reads.has(name);
  return {
    name,
    kind: virtual ? "virtual" : "table",
    primary_key: primaryKey,
    columns: [...columns.values()].map((column) => columnOf(column, table, project)),
    unique,
    indexes: indexes.map(indexOf),
    search,
    history: historyText(historyDays) ?? "none",
    triggers: [...triggers].map(([trigger, sql]) => ({ name: trigger, sql })),
    rows_readable: isReadable,
    rows_writable: isReadable && !isReadOnly(project, table),
    ...rulesOf(name, project.source),
  };
}

function columnOf(column: Column, table: Table, { catalog }: LiveProject): SchemaColumn {
  const { name, type, notNull, check, managed, references } = column;
  return {
    name,
    type,
    not_null: notNull,
    primary_key: table.primaryKey.includes(name),
    default: column.default && defaultOf(column.default),
    check,
    managed,
    references: references && {
      table: references.table,
      column: references.column,
      on_delete: references.onDelete,
    },
    generated: catalog.tables.get(table.name)?.rowid === name,
  };
}

/**
 * The default of a column as JSON. An integer that a JavaScript number cannot hold exactly becomes a text, as it does
 * in rows.
 */
function defaultOf(given: ColumnDefault): SchemaColumn["default"] {
  if (given.kind === "sql") return { sql: given.sql };
  const { value } = given;
  if (typeof value !== "bigint") return { value };
  return { value: Number.isSafeInteger(Number(value)) ? Number(value) : String(value) };
}

function indexOf({ columns, unique, where }: Index): SchemaTable["indexes"][number] {
  return {
    columns: columns.map(({ name, descending }) => (descending ? `-${name}` : name)),
    unique,
    where,
  };
}

/** The rules of a table and of its columns, as they are written in svc.toml; null for an action without a rule. */
function rulesOf(table: string, source: ServedRules): Pick<SchemaTable, "rules" | "column_rules"> {
  const { columns = new Map(), ...rules } = source.rules.get(table) ?? {};
  const at = (text: string | undefined, ...steps: readonly string[]) =>
    text === undefined ? null : placed(text, dottedPath(["rules", table, ...steps]), source);
  return {
    rules: {
      read: at(rules.read, "read"),
      create: at(rules.create, "create"),
      update: at(rules.update, "update"),
      delete: at(rules.delete, "delete"),
      history: at(rules.history, "history"),
    },
    column_rules: Object.fromEntries(
      [...columns].map(([column, { read, write }]) => [
        column,
        { read: at(read, "columns", column, "read"), write: at(write, "columns", column, "write") },
      ]),
    ),
  };
}

/**
 * The text of a rule or condition, with the line and the column of svc.toml at which it begins. Line and column are
 * null where they are not known.
 */
function placed(text: string, path: string, { places }: ServedRules): RuleText {
  const runs = places.get(path);
  return { text, ...(runs === undefined ? { line: null, column: null } : placeInFile(runs, 0)) };
}
