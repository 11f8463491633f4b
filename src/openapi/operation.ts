import type { Endpoint, ErrorStatus, SecurityScheme } from "../http/endpoint.js";
import { statuses } from "../http/refusal.js";
import { count, type JsonSchema, list, nullOr, object, text } from "../wire/schema.js";

/** What an operation object is made of (OpenAPI 3.1, section 4.8.10). */
export interface OperationSource
  extends Pick<Endpoint, "summary" | "description" | "parameters" | "body" | "bodyIsOptional" | "answers" | "errors"> {
  readonly id: string;
  readonly tag: string;
  /** One of these credentials is enough. */
  readonly callers: readonly SecurityScheme[];
}

/** An OpenAPI operation object. `cookies`: whether cookie mode is on; if not, no operation takes a cookie. */
export function operation(source: OperationSource, cookies: boolean): JsonSchema {
  const { id, tag, summary, description, callers, parameters, body, bodyIsOptional = false, answers, errors } = source;
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
    ...(description !== undefined && { description }),
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

function contentOf(answer: Answered): JsonSchema {
  if (answer === null) return {};
  if (typeof answer === "string") return { [answer]: { schema: text } };
  if (isTypes(answer)) return Object.fromEntries(answer.map((type) => [type, { schema: text }]));
  return { "application/json": { schema: answer } };
}

type Answered = OperationSource["answers"][number];
const isTypes = (answer: Answered): answer is readonly string[] => Array.isArray(answer);

/** An `OperationSource.body` that is JSON. */
export const jsonContent = (schema: JsonSchema) => ({ "application/json": schema });

/** The responses `svc.<status>`: errors with the codes of each status (`docs/reference/errors.md#codes`). */
export function errorResponses(): JsonSchema {
  return Object.fromEntries(
    [...new Set(Object.values(statuses))].map((status) => {
      const description = codesOf(status).join(", ");
      return [`svc.${status}`, { description, content: contentOf(errorSchema(status)) }];
    }),
  );
}

/** What errors of a status may have besides (`docs/reference/errors.md`). */
const members: Readonly<Partial<Record<ErrorStatus, Readonly<Record<string, JsonSchema>>>>> = {
  400: { problems: list(object({ file: text, line: nullOr(count), path: text, message: text })) },
  409: { expected: count },
};

function errorSchema(status: ErrorStatus): JsonSchema {
  return object({ error: errorOf(codesOf(status), members[status]) });
}

function errorOf(codes: readonly string[], more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  const members = { code: { enum: codes }, message: text, columns: list(text), step: count, ...more };
  return object(members, "columns", "step", ...Object.keys(more));
}

function codesOf(status: ErrorStatus): readonly string[] {
  const codes = Object.entries(statuses).flatMap(([code, other]) => (other === status ? [code] : []));
  // A wrong current password is answered with `invalid_credentials` and 403 instead of 401, because 401 would mean that
  // the session has ended.
  return status === 403 ? [...codes, "invalid_credentials"] : codes;
}

/** The credentials that the server accepts (`docs/reference/http.md#requests-and-responses`). */
export const securitySchemes = {
  accessToken: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "a user's" },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "svc_sk_…, or as Bearer" },
  cookie: { type: "apiKey", in: "cookie", name: "svc_access", description: "with auth.cookie_mode" },
  console: {
    type: "apiKey",
    in: "cookie",
    name: "__Secure-svc_console",
    description: "an administrator's, of the console; over http on a loopback address: svc_console",
  },
} as const;

/** An error inside an answer about several writes, of which others may have succeeded. */
export const errorObject: JsonSchema = errorOf(Object.keys(statuses));
