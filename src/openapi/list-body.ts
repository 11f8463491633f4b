import type { Column } from "../project/model.js";
import { type JsonSchema, list, object, ref, text } from "../wire/schema.js";
import { textSchema } from "./column-schema.js";
import { type DocumentedTable, refTo } from "./documented-table.js";
import { expandBodySchemas } from "./expand.js";
import { comparable } from "./parameters.js";

/**
 * The schemas of a list request as JSON (`docs/reference/http.md#lists-as-json`): `<table>.query` for the body, whose
 * members are those of `<table>.list`, and `<table>.filter` for a group of filters in it. Names of columns are those of
 * `<table>.column`, of `<table>.comparable` and, with a minus in front of them, of `<table>.order`.
 */
export function listBodySchemas(table: DocumentedTable, tables: readonly DocumentedTable[]): JsonSchema {
  const { model, columns, search } = table;
  const all = [...columns.values()];
  const compared = comparable(table);
  const each = (some: readonly Column[], schemaOf: (column: Column) => JsonSchema) =>
    Object.fromEntries(some.map((column) => [column.name, schemaOf(column)]));
  const some = (names: JsonSchema) => ({ ...list(names), uniqueItems: true });
  const group = { ...refTo(table, ".filter"), minProperties: 1 };
  const groups = { ...list(group), minItems: 1 };
  const members = {
    where: refTo(table, ".where"),
    filter: refTo(table, ".filter"),
    select: some(refTo(table, ".column")),
    sort: some(refTo(table, ".order")),
    ...(search.length > 0 && { search: { ...text, maxLength: 1000 } }),
    expand: refTo(table, ".expand"),
    limit: { type: "integer", minimum: 1, maximum: 1000, default: 50 },
    offset: { type: "integer", minimum: 0, default: 0 },
    total: { enum: ["exact", "none"], default: "exact" },
  };
  return {
    [`${model}.query`]: { anyOf: [refTo(table, ".list"), ref("svc.nextPage")] },
    [`${model}.list`]: allOptional(members),
    [`${model}.filter`]: allOptional({
      ...each(all, ({ type }) => ref(`svc.condition.${type}`)),
      $or: groups,
      $and: groups,
      $not: group,
    }),
    [`${model}.where`]: allOptional(
      each(
        all.filter(({ type }) => type !== "json"),
        textSchema,
      ),
    ),
    [`${model}.column`]: namesOf(all.map(({ name }) => name)),
    [`${model}.comparable`]: namesOf(compared),
    [`${model}.order`]: namesOf(compared.flatMap((name) => [name, `-${name}`])),
    ...expandBodySchemas(table, tables),
  };
}

const allOptional = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  object(properties, ...Object.keys(properties));

const namesOf = (names: readonly string[]): JsonSchema => ({ type: "string", enum: names });

/** The schema `svc.nextPage`: the body of a list request for a further page. */
export const nextPageSchema: JsonSchema = object({ cursor: { ...text, description: "meta.next_cursor, alone" } });
