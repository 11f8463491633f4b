/** A JSON Schema (2020-12), as OpenAPI 3.1 uses them, or another object of an OpenAPI document. */
export type JsonSchema = Readonly<Record<string, unknown>>;

declare const admitted: unique symbol;

/** A JSON Schema, and the type of the values that it admits, for the compiler alone. */
export type WireSchema<T = unknown> = JsonSchema & { readonly [admitted]?: T };

/** The type of the values that a schema admits. */
export type Static<S> = S extends { readonly [admitted]?: infer T } ? Exclude<T, undefined> : never;

type Properties = Readonly<Record<string, JsonSchema>>;

type ObjectOf<P, O> = {
  readonly [K in Exclude<keyof P, O>]: Static<P[K]>;
} & { readonly [K in Extract<keyof P, O>]?: Static<P[K]> };

/** The schema of an object with these properties and no others. They are required, except those in `optional`. */
export function object<const P extends Properties, const O extends string = never>(
  properties: P,
  ...optional: readonly O[]
): WireSchema<ObjectOf<P, O>> {
  const required = Object.keys(properties).filter((name) => !optional.includes(name as O));
  return {
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** The schema of an object with these properties and any others: ignored in a request, undescribed in an answer. */
export function openObject<const P extends Properties, const O extends string = never>(
  properties: P,
  ...optional: readonly O[]
): WireSchema<ObjectOf<P, O>> {
  return { ...object(properties, ...optional), additionalProperties: true };
}

/** The schema of an array. */
export const list = <T>(items: WireSchema<T>): WireSchema<readonly T[]> => ({ type: "array", items });
/** The schema of a value that may also be null. */
export const nullOr = <T>(schema: WireSchema<T>): WireSchema<T | null> => ({
  anyOf: [schema, { type: "null" }],
});
/** The schema of a value that is one of these. */
export const oneOf = <const T extends readonly unknown[]>(...values: T): WireSchema<T[number]> => ({
  enum: values,
});
/** The schema of this value alone. */
export const constant = <const T>(value: T): WireSchema<T> => ({ const: value });
/** The schema of an object that has values of one kind under any names. */
export const recordOf = <T>(schema: WireSchema<T>): WireSchema<Readonly<Record<string, T>>> => ({
  type: "object",
  additionalProperties: schema,
});
/** The schema of an answer `{ data }`. */
export const data = <T>(schema: WireSchema<T>): WireSchema<{ readonly data: T }> =>
  object<{ readonly data: WireSchema<T> }, never>({ data: schema });
/** A reference to a schema of the OpenAPI document, by its name. */
export const ref = <T = unknown>(name: string): WireSchema<T> => ({ $ref: `#/components/schemas/${name}` });

/** The schema of any text. */
export const text: WireSchema<string> = { type: "string" };
/** The schema of a text that is JSON. */
export const jsonText = (schema: JsonSchema): WireSchema<string> => ({
  ...text,
  contentMediaType: "application/json",
  contentSchema: schema,
});
/** The schema of a boolean. */
export const flag: WireSchema<boolean> = { type: "boolean" };
/**
 * The schema of an optional member that is true where it is there. It is no constant, because generators for Python write
 * code that does not parse for a constant of type boolean that may be absent.
 */
export const mark: WireSchema<true> = { type: "boolean", description: "true, or absent" };
/** The schema of a count: an integer from 0. */
export const count: WireSchema<number> = { type: "integer", minimum: 0 };
/** The schema of a time as ISO 8601 writes it. */
export const dateTime: WireSchema<string> = { ...text, format: "date-time" };
/** The schema of a duration in milliseconds. */
export const milliseconds: WireSchema<number> = { type: "number", minimum: 0 };
/** The schema of a user's role. */
export const role = oneOf("user", "admin");
