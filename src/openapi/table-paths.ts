import type { Column, Table } from "../project/model.js";
import { isNumbered, needsValue } from "../project/needs-value.js";
import type { RuleAction, TableRules } from "../rules/ast.js";
import { admitsAnonymous } from "../rules/specialise.js";
import type { CatalogTable } from "../schema/catalog.js";
import { type ListParameter, listParameters } from "../wire/list-query.js";
import { data, type JsonSchema, list, nullOr, object, openObject, ref, text } from "../wire/schema.js";
import { acceptedSchema, storedSchema, textSchema } from "./column-schema.js";
import { expandedRowSchema, expandParameters } from "./expand.js";
import { atParameter, pastRows, pastSchemas, versionsAnswer } from "./history-paths.js";
import { listBodySchemas } from "./list-body.js";
import { idempotencyKey, jsonContent, type OperationSource, operation } from "./operation.js";

/** The OpenAPI paths of one table (`docs/reference/http.md#endpoints`). `tables`: all that can be read. */
export function tablePaths(
  table: Table,
  rules: TableRules,
  tables: readonly Table[],
  { metered, cookies }: { readonly metered: boolean; readonly cookies: boolean },
): JsonSchema {
  const { name, primaryKey } = table;
  const documented = (source: OperationSource) => operation(source, cookies);
  const hasVersions = [...table.columns.values()].some(({ managed }) => managed === "version");
  const unlessStale = hasVersions ? ([412] as const) : [];
  const source = (action: RuleAction, verb: string, summary: string) => ({
    id: `${verb}_${name}`,
    tag: name,
    summary,
    callers: callersOf(rules, action),
  });
  const row = { anyOf: [ref(name), ref(`${name}.part`)] };
  const listed = { anyOf: [ref(name), ref(`${name}.part`), ref(`${name}.expanded`)] };
  const answer = (schema: JsonSchema) => (metered ? object({ data: schema, meta: ref("svc.metering") }) : data(schema));
  const created = { anyOf: [row, list(nullOr(row)), { type: "null" }] };
  const all = {
    get: documented({
      ...source("read", "list", `Lists rows of ${name}`),
      description: `Filters come in groups, too: filter[$or][0][<column>][<operator>], filter[$and][0][…] and filter[$not][…], up to 5 in one another. The method QUERY takes the same list as JSON: see /api/${name}/_svc/query.`,
      parameters: parametersOf(listParameters, table, tables),
      answers: { 200: object({ data: list(listed), meta: ref("svc.list") }) },
      errors: [400, 401, 403, 500, 503],
    }),
    ...(!table.virtual && {
      post: documented({
        ...source("create", "create", `Creates a row of ${name}, or several, all or none`),
        parameters: [
          query("on_conflict", text, {
            description: "the columns by which a row that is there is recognised, with commas between them",
          }),
          query("on_duplicate", { enum: ["update", "ignore"] }, { description: "beside on_conflict" }),
          idempotencyKey,
        ],
        body: jsonContent({
          anyOf: [ref(`${name}.new`), list(ref(`${name}.new`)), ref(`${name}.given`), list(ref(`${name}.given`))],
          description: "With on_conflict, columns may be left out that a row which is there has.",
        }),
        answers: { 200: answer(created), 201: answer(created) },
        errors: [400, 401, 403, 409, 412, 413, 415, 422, 500, 503],
      }),
    }),
  };
  const aggregate = {
    get: documented({
      ...source("read", "aggregate", `Counts and sums rows of ${name}`),
      parameters: aggregateParameters(table),
      answers: { 200: object({ data: list(ref("svc.group")), meta: ref("svc.list") }) },
      errors: [400, 401, 403, 500, 503],
    }),
  };
  const queried = {
    post: documented({
      ...source("read", "query", `Lists rows of ${name}, by a request in JSON`),
      description: `The same as QUERY /api/${name} (RFC 10008), a method that OpenAPI 3.1 has no place for.`,
      body: jsonContent(ref(`${name}.query`)),
      answers: { 200: object({ data: list(listed), meta: ref("svc.list") }) },
      errors: [400, 401, 403, 413, 415, 500, 503],
    }),
  };
  const state = {
    get: documented({
      ...source("history", "state", `Lists rows of ${name} as they were`),
      parameters: [atParameter, ...parametersOf(["where", "filter", "select", "limit", "cursor"], table)],
      answers: { 200: pastRows(name) },
      errors: [400, 401, 403, 404, 410, 500, 503],
    }),
  };
  const history = {
    get: documented({
      ...source("history", "history", `Lists versions of rows of ${name}, the newest first`),
      parameters: [
        query("where", object(keyOfText(table)), { style: "deepObject", explode: true, required: false }),
        query("since", text),
        query("until", text),
        ...parametersOf(["limit", "cursor"], table),
      ],
      answers: { 200: versionsAnswer(name) },
      errors: [400, 401, 403, 404, 500, 503],
    }),
  };
  const restore = {
    post: documented({
      ...source("history", "restore", `Writes a version of a row of ${name} back`),
      body: jsonContent(object({ key: openObject({}), seq: { type: ["integer", "string"] } })),
      answers: { 200: answer(row) },
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
        ...(hasVersions && { parameters: [header("If-None-Match", "the ETag that is known")] }),
        answers: { 200: answer(ref(name)), ...(hasVersions && { 304: null }) },
        errors: [400, 401, 403, 404, 500, 503],
      }),
      ...(!table.virtual &&
        changeable(table).length > 0 && {
          patch: documented({
            ...about("update", "update", `Updates a row of ${name}`),
            parameters: [...(hasVersions ? [ifMatch] : []), idempotencyKey],
            body: jsonContent(ref(`${name}.changes`)),
            answers: { 200: answer(row) },
            errors: [400, 401, 403, 404, 409, ...unlessStale, 413, 415, 422, 500, 503],
          }),
        }),
      ...(!table.virtual && {
        delete: documented({
          ...about("delete", "delete", `Deletes a row of ${name}`),
          parameters: [...(hasVersions ? [ifMatch] : []), idempotencyKey],
          answers: { 200: answer(ref(`${name}.key`)) },
          errors: [400, 401, 403, 404, 409, ...unlessStale, 422, 500, 503],
        }),
      }),
    };
  };
  const named = key.map((column) => parameter(column.name, "query", column));
  return {
    ...ofTable,
    ...(key.length === 1 && { [`/api/${name}/{id}`]: one("", [parameter("id", "path", key[0]!)]) }),
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

function parameter(name: string, place: "path" | "query", column: Column): JsonSchema {
  return { name, in: place, required: true, schema: textSchema(column) };
}

function callersOf(rules: TableRules, action: RuleAction): OperationSource["callers"] {
  return ["accessToken", "cookie", "apiKey", ...(admitsAnonymous(rules[action]) ? ["anybody" as const] : [])];
}

/**
 * The schemas of one table: `<table>` for a row that is read, `<table>.part` for a row without some of its columns (by
 * `select`, or after a write), `<table>.expanded` for a row of a list with `expand`, `<table>.past` for a row as it
 * was, `<table>.new`, `<table>.given` (a row in which every column may be left out) and `<table>.changes` for bodies,
 * `<table>.key` for the primary key, and `<table>.query` and `<table>.filter` for lists as JSON.
 */
export function tableSchemas(
  table: Table,
  { columns: columnRules }: TableRules,
  tables: readonly Table[],
  physical: CatalogTable | undefined,
): JsonSchema {
  const { name, primaryKey } = table;
  const columns = [...table.columns.values()];
  const isKey = ({ name: column }: Column) => primaryKey.includes(column);
  const properties = (some: readonly Column[], schemaOf: (column: Column) => JsonSchema) =>
    Object.fromEntries(some.map((column) => [column.name, schemaOf(column)]));
  const stored = (column: Column) => storedSchema(column, physical?.affinities.has(column.name) ?? !table.strict);
  const isGiven = (column: Column) =>
    physical === undefined ? isNumbered(column, table) : physical.rowid === column.name;
  const accepted = (column: Column) => acceptedSchema(column, table, isGiven(column));
  const names = (some: readonly Column[]): string[] => some.map((column) => column.name);
  const mayBeHidden = columns.filter((column) => columnRules.has(column.name));
  const given = givable(table);
  const optional = given.filter((column) => !needsValue(column, table, isGiven(column)));
  const changes = changeable(table);
  return {
    [name]: object(properties(columns, stored), ...names(mayBeHidden)),
    [`${name}.part`]: object(properties(columns, stored), ...names(columns)),
    [`${name}.expanded`]: expandedRowSchema(table, tables, properties(columns, stored)),
    ...listBodySchemas(table, tables),
    ...(table.historyDays !== null &&
      pastSchemas(table, (column) => physical?.affinities.has(column) ?? !table.strict)),
    ...(!table.virtual && {
      [`${name}.given`]: object(properties(given, accepted), ...names(given)),
      [`${name}.new`]: object(properties(given, accepted), ...names(optional)),
    }),
    ...(!table.virtual &&
      primaryKey.length > 0 && {
        ...(changes.length > 0 && {
          [`${name}.changes`]: {
            ...object(properties(changes, accepted), ...names(changes)),
            minProperties: 1,
          },
        }),
        [`${name}.key`]: object(properties(columns.filter(isKey), stored)),
      }),
  };
}

/** What the document says of each parameter of a list. */
const describedParameters: Readonly<
  Record<ListParameter, (table: Table, tables: readonly Table[]) => readonly JsonSchema[]>
> = {
  where: whereParameter,
  filter: ({ columns }) =>
    [...columns.values()].map(({ name, type }) => query(`filter[${name}]`, ref(`svc.filter.${type}`), deepObject)),
  select: ({ columns }) => [separated("select", { enum: [...columns.keys()] })],
  sort: (table) => [separated("sort", { enum: comparable(table).flatMap((name) => [name, `-${name}`]) })],
  search: ({ search }) => (search.length > 0 ? [query("search", { type: "string", maxLength: 1000 })] : []),
  expand: expandParameters,
  limit: () => [query("limit", { type: "integer", minimum: 1, maximum: 1000, default: 50 })],
  offset: () => [query("offset", { type: "integer", minimum: 0, default: 0 })],
  total: () => [query("total", { enum: ["exact", "none"], default: "exact" })],
  cursor: () => [query("cursor", { type: "string", description: "meta.next_cursor, alone" })],
};

const deepObject = { style: "deepObject", explode: true };

function whereParameter({ columns }: Table): readonly JsonSchema[] {
  const compared = [...columns.values()].filter(({ type }) => type !== "json");
  const equal = Object.fromEntries(compared.map((column) => [column.name, textSchema(column)]));
  return [query("where", object(equal, ...Object.keys(equal)), deepObject)];
}

function parametersOf(
  names: readonly ListParameter[],
  table: Table,
  tables: readonly Table[] = [],
): readonly JsonSchema[] {
  return names.flatMap((name) => describedParameters[name](table, tables));
}

function aggregateParameters(table: Table): readonly JsonSchema[] {
  const columns = [...table.columns.values()];
  const numbers = columns.filter(({ type }) => type === "integer" || type === "real");
  const some = (name: string, values: readonly string[], more: JsonSchema = {}) =>
    values.length === 0 ? [] : [separated(name, { enum: values }, more)];
  return [
    ...parametersOf(["where", "filter"], table),
    ...some("count", ["*", ...columns.map(({ name }) => name)]),
    ...["count_distinct", "min", "max"].flatMap((name) => some(name, comparable(table))),
    ...["sum", "avg"].flatMap((name) =>
      some(
        name,
        numbers.map((column) => column.name),
      ),
    ),
    ...some("group", comparable(table), { maxItems: 8 }),
    separated("sort", { type: "string", description: "a group or a result, as -count or sum_<column>" }),
    ...parametersOf(["limit", "total", "cursor"], table),
  ];
}

const query = (name: string, schema: JsonSchema, more: JsonSchema = {}) => ({
  name,
  in: "query",
  schema,
  ...more,
});

const header = (name: string, description: string) => ({ name, in: "header", schema: text, description });
const ifMatch = header("If-Match", "the ETag of the row as the caller knows it; 412 where it is another by now");

/** A query parameter of several values with commas between them, each of them once. */
const separated = (name: string, items: JsonSchema, more: JsonSchema = {}) =>
  query(name, { ...list(items), minItems: 1, uniqueItems: true, ...more }, { style: "form", explode: false });

/** The columns whose values can be compared, and so sorted and grouped: all but JSON columns. */
function comparable({ columns }: Table): readonly string[] {
  return [...columns.values()].filter(({ type }) => type !== "json").map(({ name }) => name);
}
