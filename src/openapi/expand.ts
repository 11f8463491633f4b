import type { Column, Table } from "../project/model.js";
import { count, flag, type JsonSchema, list, nullOr, object, ref } from "../wire/schema.js";

/** A path of `expand` that follows one reference. */
interface DirectPath {
  readonly path: string;
  /** The table that the path leads to. */
  readonly table: Table;
  readonly isBackward: boolean;
}

/**
 * The paths of `expand` that follow one reference: from a column of the table, or from another table to it. Longer
 * paths are made of these.
 */
function directPaths({ name, columns }: Table, tables: readonly Table[]): readonly DirectPath[] {
  const forward = [...columns.values()].flatMap(({ name: path, references }) => {
    const table = tables.find((other) => other.name === references?.table);
    return table === undefined ? [] : [{ path, table, isBackward: false }];
  });
  const backward = tables.flatMap((table) =>
    [...table.columns.values()]
      .filter(({ references }) => references?.table === name)
      .map((column) => ({ path: `${table.name}.${column.name}`, table, isBackward: true })),
  );
  return [...forward, ...backward];
}

const rowOf = ({ name }: Table): JsonSchema => ({ anyOf: [ref(name), ref(`${name}.part`)] });

/**
 * A list's row with rows added by `expand` (`docs/reference/http.md#expand`). `properties` are those of the row itself.
 */
export function expandedRowSchema(
  table: Table,
  tables: readonly Table[],
  properties: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  const expanded = directPaths(table, tables).map(({ path, table, isBackward }) => [
    path,
    isBackward ? list(rowOf(table)) : nullOr(rowOf(table)),
  ]);
  const _expand = {
    type: "object",
    properties: Object.fromEntries(expanded),
    additionalProperties: ref("svc.expanded"),
  };
  const _count = { type: "object", additionalProperties: count };
  return object({ ...properties, _expand, _count }, ...Object.keys(properties), "_count");
}

/** What a path of `expand` with several references leads to: a row, null, or a list of rows. */
export const expandedSchema: JsonSchema = {
  anyOf: [{ type: ["object", "null"] }, list({ type: "object" })],
};

/** The parameters of a list for `expand`: the paths, and options for each path that follows one reference. */
export function expandParameters(table: Table, tables: readonly Table[]): readonly JsonSchema[] {
  const paths = directPaths(table, tables);
  const names = paths.map(({ path }) => path).join(", ");
  return [
    {
      name: "expand",
      in: "query",
      schema: { ...list({ type: "string" }), minItems: 1, maxItems: 10, uniqueItems: true },
      style: "form",
      explode: false,
      description: `References to follow: ${names === "" ? "this table has none" : names}. Longer paths have dots between them.`,
    },
    ...paths.map((path) => ({
      name: `expand[${path.path}]`,
      in: "query",
      schema: optionsSchema(path, (names) => ({ type: "string", description: names.join(", ") })),
      style: "deepObject",
      explode: true,
    })),
  ];
}

/** The member `expand` in the JSON body of a list. */
export function expandMember(table: Table, tables: readonly Table[]): JsonSchema {
  const each = directPaths(table, tables).map((path) => [
    path.path,
    optionsSchema(path, (names) => ({ ...list({ enum: names }), uniqueItems: true })),
  ]);
  return {
    type: "object",
    maxProperties: 10,
    properties: Object.fromEntries(each),
    additionalProperties: { type: "object" },
  };
}

function optionsSchema({ table, isBackward }: DirectPath, some: (names: string[]) => JsonSchema): JsonSchema {
  const columns: readonly Column[] = [...table.columns.values()];
  const sorted = columns.filter(({ type }) => type !== "json");
  const options = {
    select: some(columns.map(({ name }) => name)),
    ...(isBackward && {
      sort: some(sorted.flatMap(({ name }) => [name, `-${name}`])),
      limit: { type: "integer", minimum: 1, maximum: 100, default: 10 },
      count: { ...flag, default: false },
    }),
  };
  return object(options, ...Object.keys(options));
}
