import type { Column, Table } from "../project/model.js";
import { needsValue } from "../project/needs-value.js";
import type { ColumnType } from "../sqlite/column-type.js";
import type { FilterOperator } from "../wire/list-query.js";
import { type JsonSchema, ref } from "../wire/schema.js";

/** The JSON schema of each type of column, without NULL (`docs/reference/http.md#values`). */
const typeSchemas: Record<ColumnType, JsonSchema> = {
  integer: ref("svc.integer"),
  real: { type: "number" },
  text: { type: "string" },
  boolean: { type: "boolean" },
  json: {},
  blob: ref("svc.blob"),
};

const columnTypes = Object.keys(typeSchemas) as readonly ColumnType[];

/** The schemas of values that are the same for all tables. */
export function valueSchemas(): JsonSchema {
  return {
    "svc.integer": integerSchema(),
    "svc.blob": {
      type: "string",
      contentEncoding: "base64",
      // Only canonical base64 is accepted: the unused bits before the padding have to be zero (RFC 4648, section 3.5).
      pattern: "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$",
    },
    "svc.numbered": numberedSchema,
    ...Object.fromEntries(columnTypes.map((type) => [`svc.loose.${type}`, looseSchema(type)])),
    ...filterSchemas(),
    ...conditionSchemas(),
  };
}

/** A number within ±(2^53−1), or a string for the other integers of 64 bits. */
function integerSchema(): JsonSchema {
  const past = `(${digitsFrom("9007199254740992")}|[1-9][0-9]{16,17}|${digitsTo("9223372036854775807")})`;
  return {
    type: ["integer", "string"],
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    pattern: `^(-?${past}|-9223372036854775808)$`,
    description: "beyond ±(2^53−1) a decimal string",
  };
}

/** A regular expression for all numbers from `least` on that have as many digits. */
function digitsFrom(least: string): string {
  return ofSameLength(least, (digit) => (digit < 9 ? `[${digit + 1}-9]` : null));
}

/** A regular expression for all numbers up to `most` that have as many digits and do not begin with 0. */
function digitsTo(most: string): string {
  return ofSameLength(most, (digit, i) => {
    const first = i === 0 ? 1 : 0;
    return digit > first ? `[${first}-${digit - 1}]` : null;
  });
}

/**
 * A regular expression for `number`, and for others with as many digits. It has one alternative for each place at which
 * another number can differ first: the digits of `number` before that place, then a digit that `others` allows there
 * (null: none), then any digits.
 */
function ofSameLength(number: string, others: (digit: number, i: number) => string | null): string {
  const differing = [...number].flatMap((digit, i) => {
    const other = others(Number(digit), i);
    return other === null ? [] : [`${number.slice(0, i)}${other}[0-9]{${number.length - i - 1}}`];
  });
  return [...differing, number].join("|");
}

/**
 * The values that a body may have for a column. `isGiven`: whether the database itself numbers the column's values; a
 * value is then a JSON number within ±(2^53−1), and no string. Null is allowed unless the column is NOT NULL or a new
 * row needs a value for it.
 */
export function acceptedSchema(column: Column, table: Table, isGiven: boolean): JsonSchema {
  const schema = isGiven ? ref("svc.numbered") : typeSchemas[column.type];
  return column.notNull || needsValue(column, table, isGiven) ? schema : nullable(schema);
}

const numberedSchema: JsonSchema = {
  type: "integer",
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "set by the server; by keys of the API, and by users whom a write rule of the column lets",
};

/** The values that an answer may have for a column. `isLoose`: the table is not STRICT, so they can be of any type. */
export function storedSchema(column: Column, isLoose: boolean): JsonSchema {
  const schema = columnSchema(column, isLoose);
  return column.managed === null ? schema : { ...schema, readOnly: true };
}

/** The values of a type, without NULL, for parameters and results of operations. */
export function valueSchema(type: ColumnType): JsonSchema {
  return typeSchemas[type];
}

function columnSchema(column: Column, isLoose: boolean): JsonSchema {
  if (isLoose) return ref(`svc.loose.${column.type}`);
  const schema = typeSchemas[column.type];
  return column.notNull ? schema : nullable(schema);
}

/** The values of a column of a table that is not STRICT, which can be of any type. */
function looseSchema(type: ColumnType): JsonSchema {
  return {
    ...(type === "json" ? {} : { type: ["string", "number", "boolean", "null"] }),
    description: `${type}, as a rule${type === "integer" ? "; beyond ±(2^53−1) a decimal string" : ""}`,
  };
}

/** A column's value in a query string or a path: the JSON value that the text there stands for. */
export function textSchema({ type }: Column): JsonSchema {
  return typeSchemas[type];
}

function nullable(schema: JsonSchema): JsonSchema {
  if ("$ref" in schema) return { anyOf: [schema, { type: "null" }] };
  const { type } = schema;
  return type === undefined ? schema : { ...schema, type: [type, "null"].flat() };
}

/** The schemas `svc.filter.<type>`: filter operators in a query string (`docs/reference/http.md#filters`). */
function filterSchemas(): JsonSchema {
  const entries = Object.entries(typeSchemas).map(([type, schema]) => {
    const isJson = type === "json";
    const isText = type === "text";
    const properties = {
      ...(!isJson && Object.fromEntries(comparisons.map((operator) => [operator, schema]))),
      ...(!isJson && type !== "blob" && { in: listedValues, not_in: listedValues }),
      is_null: { type: "boolean" },
      ...(isText && { contains: schema, icontains: schema, starts_with: schema }),
    };
    return [`svc.filter.${type}`, { type: "object", properties, additionalProperties: false }];
  });
  return Object.fromEntries(entries);
}

/** The schemas `svc.condition.<type>`: filter operators in a JSON body (`docs/reference/http.md#lists-as-json`). */
function conditionSchemas(): JsonSchema {
  const listed = (type: string, values: JsonSchema) => {
    const items = { type: "array", items: values, minItems: 1, maxItems: 1000 };
    return type === "json" || type === "blob" ? {} : { in: items, not_in: items };
  };
  const entries = Object.entries(typeSchemas).map(([type, schema]) => {
    const { properties, ...others } = filterSchemas()[`svc.filter.${type}`] as { properties: object };
    const typed = { ...others, properties: { ...properties, ...listed(type, schema) }, minProperties: 1 };
    return [`svc.condition.${type}`, typed];
  });
  return Object.fromEntries(entries);
}

const comparisons: readonly FilterOperator[] = ["eq", "ne", "lt", "lte", "gt", "gte"];
const listedValues = {
  type: "string",
  description: 'values with commas between them, or a JSON array: 1,2 or ["a,b","c"]; 1 to 1000 of them',
};
