import type { Column, Table } from "../project/model.js";
import { type JsonSchema, list, object, ref, text } from "../wire/schema.js";
import { textSchema } from "./column-schema.js";
import { expandMember } from "./expand.js";

/**
 * The schemas of a list request as JSON (`docs/reference/http.md#lists-as-json`): `<table>.query` for the body,
 * `<table>.filter` for a group of filters in it.
 */
export function listBodySchemas(table: Table, tables: readonly Table[]): JsonSchema {
  const { name, columns, search } = table;
  const all = [...columns.values()];
  const compared = all.filter(({ type }) => type !== "json");
  const each = (some: readonly Column[], schemaOf: (column: Column) => JsonSchema) =>
    Object.fromEntries(some.map((column) => [column.name, schemaOf(column)]));
  const some = (names: readonly string[]) => ({ ...list({ enum: names }), uniqueItems: true });
  const group = { ...ref(`${name}.filter`), minProperties: 1 };
  const groups = { ...list(group), minItems: 1 };
  const members = {
    where: allOptional(each(compared, textSchema)),
    filter: ref(`${name}.filter`),
    select: some(all.map((column) => column.name)),
    sort: some(compared.flatMap((column) => [column.name, `-${column.name}`])),
    ...(search.length > 0 && { search: { ...text, maxLength: 1000 } }),
    expand: expandMember(table, tables),
    limit: { type: "integer", minimum: 1, maximum: 1000, default: 50 },
    offset: { type: "integer", minimum: 0, default: 0 },
    total: { enum: ["exact", "none"], default: "exact" },
  };
  return {
    [`${name}.query`]: {
      anyOf: [allOptional(members), object({ cursor: { ...text, description: "meta.next_cursor, alone" } })],
    },
    [`${name}.filter`]: allOptional({
      ...each(all, ({ type }) => ref(`svc.condition.${type}`)),
      $or: groups,
      $and: groups,
      $not: group,
    }),
  };
}

const allOptional = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  object(properties, ...Object.keys(properties));
