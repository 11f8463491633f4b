import type { Column } from "../project/model.js";
import type { ListParameter } from "../wire/list-query.js";
import { type JsonSchema, list, ref, text } from "../wire/schema.js";
import { textSchema } from "./column-schema.js";
import { type DocumentedTable, refTo } from "./documented-table.js";
import { expandParameters } from "./expand.js";

/** A parameter of a query string. */
export const query = (name: string, schema: JsonSchema, more: JsonSchema = {}) => ({
  name,
  in: "query",
  schema,
  ...more,
});
const header = (name: string, schema: JsonSchema, description: string) => ({ name, in: "header", schema, description });
const inPath = (name: string) => ({ name, in: "path", required: true, schema: text });
const deepObject = { style: "deepObject", explode: true };

/** A query parameter of several values with commas between them, each of them once. */
export const separated = (name: string, items: JsonSchema, more: JsonSchema = {}) =>
  query(name, { ...list(items), minItems: 1, uniqueItems: true, ...more }, { style: "form", explode: false });

/** The parameters that are the same for all tables, by what follows `svc.` in their names. */
const shared = {
  search: query("search", { type: "string", maxLength: 1000 }),
  limit: query("limit", { type: "integer", minimum: 1, maximum: 1000, default: 50 }),
  offset: query("offset", { type: "integer", minimum: 0, default: 0 }),
  total: query("total", { enum: ["exact", "none"], default: "exact" }),
  cursor: query("cursor", { type: "string", description: "meta.next_cursor, alone" }),
  at: query("at", text, { description: "a time in ISO 8601, or the number of an entry in the log of changes" }),
  since: query("since", text),
  until: query("until", text),
  onConflict: query("on_conflict", text, {
    description: "the columns by which a row that is there is recognised, with commas between them",
  }),
  onDuplicate: query("on_duplicate", { enum: ["update", "ignore"] }, { description: "beside on_conflict" }),
  idempotencyKey: header(
    "Idempotency-Key",
    { type: "string", minLength: 1 },
    "a request that comes again with its key is done once",
  ),
  ifMatch: header("If-Match", text, "the ETag of the row as the caller knows it; 412 where it is another by now"),
  ifNoneMatch: header("If-None-Match", text, "the ETag that is known"),
  lastEventId: header("Last-Event-ID", text, "the id of the last event that came"),
  as: header("Svc-As", text, "user:<id>, key:<id> or anonymous: the answer is what that caller would get"),
  preview: header(
    "Svc-Preview",
    { type: "integer", minimum: 64, maximum: 10_000 },
    "texts, JSON and blobs of more bytes come as svc.preview",
  ),
  table: inPath("table"),
  id: inPath("id"),
  name: inPath("name"),
};

/** A reference to a parameter that is the same for all tables. */
export const sharedParameter = (name: keyof typeof shared): JsonSchema => refToParameter(`svc.${name}`);
const refToParameter = (name: string): JsonSchema => ({ $ref: `#/components/parameters/${name}` });

/** The parameters `svc.<name>`. */
export function sharedParameters(): JsonSchema {
  return Object.fromEntries(Object.entries(shared).map(([name, parameter]) => [`svc.${name}`, parameter]));
}

/** The parameters of a table that several of its operations take. */
export function tableParameters(table: DocumentedTable): JsonSchema {
  const { model, columns } = table;
  const filters = [...columns.values()].map(({ name, type }) => [
    table.filters.get(name)!,
    query(`filter[${name}]`, ref(`svc.filter.${type}`), deepObject),
  ]);
  return {
    [`${model}.where`]: query("where", refTo(table, ".where"), deepObject),
    [`${model}.select`]: separated("select", refTo(table, ".column")),
    ...Object.fromEntries(filters),
  };
}

type ParametersOf = (table: DocumentedTable, tables: readonly DocumentedTable[]) => readonly JsonSchema[];
const one =
  (name: keyof typeof shared): ParametersOf =>
  () => [sharedParameter(name)];

/** What the document says of each parameter of a list. */
const describedParameters: Readonly<Record<ListParameter, ParametersOf>> = {
  where: ({ model }) => [refToParameter(`${model}.where`)],
  filter: ({ filters }) => [...filters.values()].map(refToParameter),
  select: ({ model }) => [refToParameter(`${model}.select`)],
  sort: (table) => [separated("sort", refTo(table, ".order"))],
  search: ({ search }) => (search.length > 0 ? [sharedParameter("search")] : []),
  expand: expandParameters,
  limit: one("limit"),
  offset: one("offset"),
  total: one("total"),
  cursor: one("cursor"),
};

/** The parameters of a list of this table, or those of them with these names. */
export function parametersOf(
  names: readonly ListParameter[],
  table: DocumentedTable,
  tables: readonly DocumentedTable[] = [],
): readonly JsonSchema[] {
  return names.flatMap((name) => describedParameters[name](table, tables));
}

/** The parameters of an aggregate over this table. */
export function aggregateParameters(table: DocumentedTable): readonly JsonSchema[] {
  const columns = [...table.columns.values()];
  const numbers = columns.filter(({ type }) => type === "integer" || type === "real").map(({ name }) => name);
  const ofNumbers = (name: string) => (numbers.length === 0 ? [] : [separated(name, { enum: numbers })]);
  const compared = (name: string, more: JsonSchema = {}) =>
    comparable(table).length === 0 ? [] : [separated(name, refTo(table, ".comparable"), more)];
  return [
    ...parametersOf(["where", "filter"], table),
    separated("count", { enum: ["*", ...columns.map(({ name }) => name)] }),
    ...["count_distinct", "min", "max"].flatMap((name) => compared(name)),
    ...["sum", "avg"].flatMap(ofNumbers),
    ...compared("group", { maxItems: 8 }),
    separated("sort", { type: "string", description: "a group or a result, as -count or sum_<column>" }),
    ...parametersOf(["limit", "total", "cursor"], table),
  ];
}

/** The columns whose values can be compared, and so sorted and grouped: all but JSON columns. */
export function comparable({ columns }: DocumentedTable): readonly string[] {
  return [...columns.values()].filter(({ type }) => type !== "json").map(({ name }) => name);
}

/** A parameter for a column of the primary key. */
export function keyParameter(name: string, place: "path" | "query", column: Column): JsonSchema {
  return { name, in: place, required: true, schema: textSchema(column) };
}
