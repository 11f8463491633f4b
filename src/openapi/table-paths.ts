import type { Column, Table } from "../project/model.js";
import { isNumbered, needsValue } from "../project/needs-value.js";
import type { RuleAction, TableRules } from "../rules/ast.js";
import { admitsAnonymous } from "../rules/specialise.js";
import type { CatalogTable } from "../schema/catalog.js";
import { listParameters } from "../wire/list-query.js";
import { data, type JsonSchema, list, nullOr, object, ref } from "../wire/schema.js";
import { acceptedSchema, storedSchema, textSchema } from "./column-schema.js";
import { type DocumentedTable, refTo } from "./documented-table.js";
import { expandedSchemas } from "./expand.js";
import { pastSchemas } from "./history-paths.js";
import { listBodySchemas } from "./list-body.js";
import { jsonContent, type OperationSource, operation } from "./operation.js";
import { aggregateParameters, keyParameter, parametersOf, query, sharedParameter } from "./parameters.js";

/** The OpenAPI paths of one table (`docs/reference/http.md#endpoints`). `tables`: all that can be read. */
export function tablePaths(
  table: DocumentedTable,
  rules: TableRules,
  tables: readonly DocumentedTable[],
  cookies: boolean,
): JsonSchema {
  const { name, primaryKey } = table;
  const documented = (source: OperationSource) => operation(source, cookies);
  const hasVersions = [...table.columns.values()].some(({ managed }) => managed === "version");
  const unlessStale = hasVersions ? ([412] as const) : [];
  const ifMatch = hasVersions ? [sharedParameter("ifMatch")] : [];
  const source = (action: RuleAction, verb: string, summary: string) => ({
    id: `${verb}_${name}`,
    tag: name,
    summary,
    callers: callersOf(rules, action),
  });
  const page = { 200: refTo(table, ".page") };
  const answer = { 200: refTo(table, ".answer") };
  const all = {
    get: documented({
      ...source("read", "list", `Lists rows of ${name}`),
      description: `QUERY takes the same list as JSON: see /api/${name}/_svc/query.`,
      parameters: parametersOf(listParameters, table, tables),
      answers: page,
      errors: [400, 401, 403, 500, 503],
    }),
    ...(!table.virtual && {
      post: documented({
        ...source("create", "create", `Creates a row of ${name}, or several, all or none`),
        parameters: [sharedParameter("onConflict"), sharedParameter("onDuplicate"), sharedParameter("idempotencyKey")],
        body: jsonContent({
          anyOf: [
            refTo(table, ".new"),
            list(refTo(table, ".new")),
            refTo(table, ".given"),
            list(refTo(table, ".given")),
          ],
          description: "With on_conflict, columns may be left out that a row which is there has.",
        }),
        answers: { 200: refTo(table, ".written"), 201: refTo(table, ".written") },
        errors: [400, 401, 403, 409, 412, 413, 415, 422, 500, 503],
      }),
    }),
  };
  const aggregate = {
    get: documented({
      ...source("read", "aggregate", `Counts and sums rows of ${name}`),
      parameters: aggregateParameters(table),
      answers: { 200: ref("svc.groups") },
      errors: [400, 401, 403, 500, 503],
    }),
  };
  const queried = {
    post: documented({
      ...source("read", "query", `Lists rows of ${name}, by a request in JSON`),
      description: `The same as QUERY /api/${name} (RFC 10008), a method that OpenAPI 3.1 has no place for.`,
      body: jsonContent(refTo(table, ".query")),
      answers: page,
      errors: [400, 401, 403, 413, 415, 500, 503],
    }),
  };
  const state = {
    get: documented({
      ...source("history", "state", `Lists rows of ${name} as they were`),
      parameters: [sharedParameter("at"), ...parametersOf(["where", "filter", "select", "limit", "cursor"], table)],
      answers: { 200: refTo(table, ".pastPage") },
      errors: [400, 401, 403, 404, 410, 500, 503],
    }),
  };
  const history = {
    get: documented({
      ...source("history", "history", `Lists versions of rows of ${name}, the newest first`),
      parameters: [
        query("where", object(keyOfText(table)), { style: "deepObject", explode: true, required: false }),
        ...(primaryKey.length === 1
          ? [query("key", textSchema(table.columns.get(primaryKey[0]!)!), { required: false })]
          : []),
        sharedParameter("since"),
        sharedParameter("until"),
        ...parametersOf(["limit", "cursor"], table),
      ],
      answers: { 200: refTo(table, ".versions") },
      errors: [400, 401, 403, 404, 500, 503],
    }),
  };
  const restore = {
    post: documented({
      ...source("history", "restore", `Writes a version of a row of ${name} back`),
      body: jsonContent(ref("svc.restore")),
      answers: answer,
      errors: [400, 401, 403, 404, 405, 409, 413, 415, 500, 503],
    }),
  };
  const ofTable = {
    [`/api/${name}`]: all,
    ...(table.historyDays !== null && {
      [`/api/${name}/_svc/history`]: history,
      [`/api/${name}/_svc/state`]: state,
      [`/api/${name}/_svc/restore`]: restore,
    }),
    [`/api/${name}/_svc/query`]: queried,
    [`/api/${name}/_svc/aggregate`]: aggregate,
  };
  if (primaryKey.length === 0) return ofTable;
  const key = primaryKey.map((column) => table.columns.get(column)!);
  const one = (suffix: string, parameters: readonly JsonSchema[]) => {
    const about = (...[action, verb, summary]: Parameters<typeof source>) => ({
      ...source(action, verb, summary),
      id: `${verb}_${name}${suffix}`,
    });
    return {
      parameters,
      get: documented({
        ...about("read", "get", `Gets a row of ${name}`),
        ...(hasVersions && { parameters: [sharedParameter("ifNoneMatch")] }),
        answers: { 200: refTo(table, ".row"), ...(hasVersions && { 304: null }) },
        errors: [400, 401, 403, 404, 500, 503],
      }),
      ...(!table.virtual &&
        changeable(table).length > 0 && {
          patch: documented({
            ...about("update", "update", `Updates a row of ${name}`),
            parameters: [...ifMatch, sharedParameter("idempotencyKey")],
            body: jsonContent(refTo(table, ".changes")),
            answers: answer,
            errors: [400, 401, 403, 404, 409, ...unlessStale, 413, 415, 422, 500, 503],
          }),
        }),
      ...(!table.virtual && {
        delete: documented({
          ...about("delete", "delete", `Deletes a row of ${name}`),
          parameters: [...ifMatch, sharedParameter("idempotencyKey")],
          answers: { 200: refTo(table, ".deleted") },
          errors: [400, 401, 403, 404, 409, ...unlessStale, 422, 500, 503],
        }),
      }),
    };
  };
  const named = key.map((column) => keyParameter(column.name, "query", column));
  return {
    ...ofTable,
    ...(key.length === 1 && { [`/api/${name}/{id}`]: one("", [keyParameter("id", "path", key[0]!)]) }),
    [`/api/${name}/_svc/key`]: one(key.length === 1 ? "_by_key" : "", named),
  };
}

/** The primary key's columns as parts of a query string, by name. */
function keyOfText({ primaryKey, columns }: Table): Record<string, JsonSchema> {
  return Object.fromEntries(primaryKey.map((name) => [name, textSchema(columns.get(name)!)]));
}

/** All columns but those that the server sets. */
function givable({ columns }: Table): readonly Column[] {
  return [...columns.values()].filter(({ managed }) => managed === null);
}

/** All columns that a request can give, but for the primary key. */
function changeable(table: Table): readonly Column[] {
  return givable(table).filter(({ name }) => !table.primaryKey.includes(name));
}

function callersOf(rules: TableRules, action: RuleAction): OperationSource["callers"] {
  return ["accessToken", "cookie", "apiKey", ...(admitsAnonymous(rules[action]) ? ["anybody" as const] : [])];
}

/** The schemas of one table: those of `tableSuffixes` that it needs. */
export function tableSchemas(
  table: DocumentedTable,
  { columns: columnRules }: TableRules,
  tables: readonly DocumentedTable[],
  physical: CatalogTable | undefined,
  metered: boolean,
): JsonSchema {
  const { model, primaryKey } = table;
  const columns = [...table.columns.values()];
  const isKey = ({ name: column }: Column) => primaryKey.includes(column);
  const properties = (some: readonly Column[], schemaOf: (column: Column) => JsonSchema) =>
    Object.fromEntries(some.map((column) => [column.name, schemaOf(column)]));
  const isLoose = (column: string) => physical?.affinities.has(column) ?? !table.strict;
  const stored = (column: Column) => storedSchema(column, isLoose(column.name));
  const isGiven = (column: Column) =>
    physical === undefined ? isNumbered(column, table) : physical.rowid === column.name;
  const accepted = (column: Column) => acceptedSchema(column, table, isGiven(column));
  const names = (some: readonly Column[]): string[] => some.map((column) => column.name);
  const mayBeHidden = columns.filter((column) => columnRules.has(column.name));
  const given = givable(table);
  const optional = given.filter((column) => !needsValue(column, table, isGiven(column)));
  const changes = changeable(table);
  const answer = (schema: JsonSchema) => (metered ? object({ data: schema, meta: ref("svc.metering") }) : data(schema));
  const row = { anyOf: [refTo(table, ""), refTo(table, ".part")] };
  return {
    [model]: object(properties(columns, stored), ...names(mayBeHidden)),
    [`${model}.part`]: object(properties(columns, stored), ...names(columns)),
    ...expandedSchemas(table, tables, properties(columns, stored)),
    [`${model}.page`]: object({
      data: list({ anyOf: [...row.anyOf, refTo(table, ".expanded")] }),
      meta: ref("svc.list"),
    }),
    ...listBodySchemas(table, tables),
    ...(table.historyDays !== null && pastSchemas(table, isLoose)),
    ...(!table.virtual && {
      [`${model}.given`]: object(properties(given, accepted), ...names(given)),
      [`${model}.new`]: object(properties(given, accepted), ...names(optional)),
      [`${model}.written`]: answer({ anyOf: [...row.anyOf, list(nullOr(row)), { type: "null" }] }),
    }),
    ...(primaryKey.length > 0 && { [`${model}.row`]: answer(refTo(table, "")) }),
    ...((primaryKey.length > 0 || table.historyDays !== null) && { [`${model}.answer`]: answer(row) }),
    ...(!table.virtual &&
      primaryKey.length > 0 && {
        ...(changes.length > 0 && {
          [`${model}.changes`]: {
            ...object(properties(changes, accepted), ...names(changes)),
            minProperties: 1,
          },
        }),
        [`${model}.key`]: object(properties(columns.filter(isKey), stored)),
        [`${model}.deleted`]: answer(refTo(table, ".key")),
      }),
  };
}
