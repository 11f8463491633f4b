import type { Column, ColumnType } from "../project/model.js";

/** A JSON Schema (2020-12), as OpenAPI 3.1 takes it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a column's values are in JSON (interface, section 3). */
const typeSchemas: Record<ColumnType, JsonSchema> = {
  integer: {
    type: ["integer", "string"],
    minimum: -Number.MAX_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    pattern: "^-?[1-9][0-9]{15,18}$",
    description: "beyond ±(2^53−1) a decimal string",
  },
  real: { type: "number" },
  text: { type: "string" },
  boolean: { type: "boolean" },
  json: {},
  blob: { type: "string", contentEncoding: "base64" },
};

/** Of a body: a value of another type is refused. */
export function acceptedSchema({ type, notNull }: Column): JsonSchema {
  const schema = typeSchemas[type];
  return notNull ? schema : nullable(schema);
}

/** Of an answer. Columns that SQLite holds to no type may hold what their type does not say. */
export function storedSchema(column: Column, isLoose: boolean): JsonSchema {
  if (!isLoose) return acceptedSchema(column);
  const { description } = typeSchemas[column.type];
  return {
    ...(column.type === "json" ? {} : { type: ["string", "number", "boolean", "null"] }),
    description: `${column.type}, as a rule${description === undefined ? "" : `; ${description}`}`,
  };
}

/** Of a query string or a path. */
export function textSchema({ type }: Column): JsonSchema {
  return typeSchemas[type];
}

function nullable(schema: JsonSchema): JsonSchema {
  const { type } = schema;
  return type === undefined ? schema : { ...schema, type: [type, "null"].flat() };
}

/** `svc.filter.<type>`: the operators that a column of the type takes (specification 4.3). */
export function filterSchemas(): JsonSchema {
  const entries = Object.entries(typeSchemas).map(([type, schema]) => {
    const isJson = type === "json";
    const isText = type === "text";
    const properties = {
      ...(!isJson && Object.fromEntries(comparisons.map((operator) => [operator, schema]))),
      ...(!isJson && type !== "blob" && { in: listedValues }),
      is_null: { type: "boolean" },
      ...(isText && { contains: schema, starts_with: schema }),
    };
    return [`svc.filter.${type}`, { type: "object", properties, additionalProperties: false }];
  });
  return Object.fromEntries(entries);
}

const comparisons = ["eq", "ne", "lt", "lte", "gt", "gte"];
const listedValues = {
  type: "string",
  description: 'values with commas between them, or a JSON array: 1,2 or ["a,b","c"]; 1 to 1000 of them',
};
