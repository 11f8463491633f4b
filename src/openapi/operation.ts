import { statuses } from "../http/refusal.js";
import type { JsonSchema } from "./column-schema.js";

/** An operation object's parts (OpenAPI 3.1, section 4.8.10). */
export interface OperationSource {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  /** Who may call: each is enough. */
  readonly callers: readonly (keyof typeof securitySchemes | "anybody")[];
  readonly parameters?: readonly JsonSchema[];
  /** By its content type. */
  readonly body?: Readonly<Record<string, JsonSchema>>;
  /** There may be none at all. */
  readonly bodyIsOptional?: boolean;
  /** By status: the schema of the JSON, a content type that is no JSON, or null for no body. */
  readonly answers: Readonly<Record<number, JsonSchema | string | null>>;
  /** Statuses in the one error shape. */
  readonly errors: readonly ErrorStatus[];
}

type ErrorStatus = (typeof statuses)[keyof typeof statuses];

export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** `cookies`: whether there is a cookie to call by. */
export function operation(source: OperationSource, cookies: boolean): JsonSchema {
  const { id, tag, summary, callers, parameters, body, bodyIsOptional = false, answers, errors } = source;
  const answered = Object.entries(answers).map(([key, answer]) => {
    const status = Number(key) as ErrorStatus;
    const content = { ...contentOf(answer), ...(errors.includes(status) && contentOf(errorSchema(status))) };
    return [key, { description: summary, ...(answer !== null && { content }) }];
  });
  const refused = errors
    .filter((status) => !(status in answers))
    .map((status) => [status, { $ref: `#/components/responses/svc.${status}` }]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    security: callers
      .filter((caller) => cookies || caller !== "cookie")
      .map((caller) => (caller === "anybody" ? {} : { [caller]: [] })),
    ...(parameters && { parameters }),
    ...(body && {
      requestBody: {
        required: !bodyIsOptional,
        content: Object.fromEntries(Object.entries(body).map(([type, schema]) => [type, { schema }])),
      },
    }),
    responses: Object.fromEntries([...answered, ...refused]),
  };
}

function contentOf(answer: JsonSchema | string | null): JsonSchema {
  if (answer === null) return {};
  return typeof answer === "string"
    ? { [answer]: { schema: { type: "string" } } }
    : { "application/json": { schema: answer } };
}

export function object(properties: Readonly<Record<string, JsonSchema>>, ...optional: string[]): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return {
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** A request's body: fields beside these are ignored. */
export function openObject(
  properties: Readonly<Record<string, JsonSchema>>,
  ...optional: string[]
): JsonSchema {
  return { ...object(properties, ...optional), additionalProperties: true };
}

export const json = (schema: JsonSchema) => ({ "application/json": schema });
export const data = (schema: JsonSchema): JsonSchema => object({ data: schema });
export const list = (items: JsonSchema): JsonSchema => ({ type: "array", items });
export const nullOr = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: "null" }] });
export const text: JsonSchema = { type: "string" };
export const role: JsonSchema = { enum: ["user", "admin"] };
export const flag: JsonSchema = { type: "boolean" };
export const count: JsonSchema = { type: "integer", minimum: 0 };

/** The one error shape, with the codes that each status has (interface, section 6). */
export function errorResponses(): JsonSchema {
  return Object.fromEntries(
    [...new Set(Object.values(statuses))].map((status) => {
      const description = codesOf(status).join(", ");
      return [`svc.${status}`, { description, content: contentOf(errorSchema(status)) }];
    }),
  );
}

function errorSchema(status: ErrorStatus): JsonSchema {
  return object({ error: object({ code: { enum: codesOf(status) }, message: text }) });
}

function codesOf(status: ErrorStatus): readonly string[] {
  const codes = Object.entries(statuses).flatMap(([code, other]) => (other === status ? [code] : []));
  // A wrong current password, as 401 means that the session is gone.
  return status === 403 ? [...codes, "invalid_credentials"] : codes;
}

export const securitySchemes = {
  accessToken: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "a user's" },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "svc_sk_…, or as Bearer" },
  cookie: { type: "apiKey", in: "cookie", name: "svc_access", description: "with auth.cookie_mode" },
} as const;
