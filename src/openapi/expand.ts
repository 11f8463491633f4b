import { count, flag, type JsonSchema, list, nullOr, object, recordOf, ref, text } from "../wire/schema.js";
import { type DocumentedTable, refTo } from "./documented-table.js";

/** A path of `expand` that follows one reference. */
interface DirectPath {
  readonly path: string;
  /** The table that the path leads to. */
  readonly table: DocumentedTable;
  readonly isBackward: boolean;
}

/**
 * The paths of `expand` that follow one reference: from a column of the table, or from another table to it. Longer
 * paths are made of these.
 */
function directPaths({ name, columns }: DocumentedTable, tables: readonly DocumentedTable[]): readonly DirectPath[] {
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

const rowOf = (table: DocumentedTable): JsonSchema => ({ anyOf: [refTo(table, ""), refTo(table, ".part")] });

/**
 * The schemas of a list's row with rows added by `expand` (`docs/reference/http.md#expand`), and of what is added.
 * `properties` are those of the row itself.
 */
export function expandedSchemas(
  table: DocumentedTable,
  tables: readonly DocumentedTable[],
  properties: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  const { model } = table;
  const expanded = directPaths(table, tables).map(({ path, table, isBackward }) => [
    path,
    isBackward ? list(rowOf(table)) : nullOr(rowOf(table)),
  ]);
  return {
    [`${model}.expanded`]: object(
      { ...properties, _expand: refTo(table, ".references"), _count: ref("svc.counts") },
      ...Object.keys(properties),
      "_count",
    ),
    [`${model}.references`]: {
      type: "object",
      properties: Object.fromEntries(expanded),
      additionalProperties: ref("svc.expanded"),
    },
  };
}

/** The schemas of `expand` that are the same for all tables. */
export const sharedExpandSchemas: JsonSchema = {
  // What a path with several references leads to: a row, null, or a list of rows.
  "svc.expanded": { anyOf: [ref("svc.row"), { type: "null" }, list(ref("svc.row"))] },
  "svc.counts": recordOf(count),
  // The options of a path in a query string, where names of columns have commas between them.
  "svc.expandOne": object({ select: text }, "select"),
  "svc.expandMany": object({ select: text, sort: text, ...manyRows() }, "select", "sort", "limit", "count"),
};

/** The parameters of a list for `expand`: the paths, and options for each path that follows one reference. */
export function expandParameters(table: DocumentedTable, tables: readonly DocumentedTable[]): readonly JsonSchema[] {
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
    ...paths.map(({ path, table, isBackward }) => ({
      name: `expand[${path}]`,
      in: "query",
      schema: ref(isBackward ? "svc.expandMany" : "svc.expandOne"),
      style: "deepObject",
      explode: true,
      description: `Columns are those of ${table.name}.`,
    })),
  ];
}

/** The schemas of `expand` in the JSON body of a list of the table, and of the options of paths that lead to it. */
export function expandBodySchemas(table: DocumentedTable, tables: readonly DocumentedTable[]): JsonSchema {
  const { model } = table;
  const each = directPaths(table, tables).map(({ path, table, isBackward }) => [
    path,
    refTo(table, isBackward ? ".optionsOfMany" : ".options"),
  ]);
  const some = (names: JsonSchema) => ({ ...list(names), uniqueItems: true });
  const select = some(refTo(table, ".column"));
  const isReferred = tables.some((other) => refersTo(other, (name) => name === table.name));
  const refers = refersTo(table, (name) => tables.some((other) => other.name === name));
  return {
    [`${model}.expand`]: {
      type: "object",
      maxProperties: 10,
      properties: Object.fromEntries(each),
      additionalProperties: { type: "object" },
    },
    ...(isReferred && { [`${model}.options`]: object({ select }, "select") }),
    ...(refers && {
      [`${model}.optionsOfMany`]: object(
        { select, sort: some(refTo(table, ".order")), ...manyRows() },
        "select",
        "sort",
        "limit",
        "count",
      ),
    }),
  };
}

function refersTo({ columns }: DocumentedTable, isOne: (table: string) => boolean): boolean {
  return [...columns.values()].some(({ references }) => references !== null && isOne(references.table));
}

function manyRows() {
  return { limit: { type: "integer", minimum: 1, maximum: 100, default: 10 }, count: { ...flag, default: false } };
}
