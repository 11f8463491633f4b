import type { JsonSchema, WireSchema } from "../wire/schema.js";
import type { statuses } from "./refusal.js";
import type { SecurityEvent } from "./security-event.js";

/**
 * A method and a path, with what they take and answer. The routes, the header `Allow`, the OpenAPI document and the names
 * in the request log are made of it. A test compares the tables of `docs/reference/http.md` with that document.
 */
export interface Endpoint {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With parameters in braces, such as `/auth/sessions/{id}` (OpenAPI 3.1, section 4.8.8). */
  readonly path: string;
  /**
   * The path by which the router knows the endpoint, with `path` as one of its cases. It is given only if RegExpRouter
   * cannot take both `path` and the path of another endpoint.
   */
  readonly routedAs?: string;
  /** Whether it also gets requests of other methods, and refuses them itself. */
  readonly refusesMethods?: true;
  /** The id in the OpenAPI document, only if the one made of method and path is that of another endpoint. */
  readonly id?: string;
  readonly summary: string;
  readonly description?: string;
  /** One of these credentials is enough. Without this member, anybody can call the endpoint. */
  readonly callers?: readonly SecurityScheme[];
  /** The setting under `[api]` of svc.toml by which anybody can call it. */
  readonly opensBy?: "public_openapi";
  readonly parameters?: readonly JsonSchema[];
  /** Query parameters that the document leaves out and the log may show. */
  readonly undocumentedQuery?: readonly string[];
  /**
   * The schema of its JSON body. It is a function if the body sets a password: that schema depends on the project's
   * settings.
   */
  readonly takes?: WireSchema | ((newPassword: WireSchema<string>) => WireSchema);
  /** The schema of its body by content type, instead of `takes`, if the body is not JSON. */
  readonly body?: Readonly<Record<string, JsonSchema>>;
  readonly bodyIsOptional?: boolean;
  readonly answers: AnswersByStatus;
  readonly errors: readonly ErrorStatus[];
  /** The security events of the request log. Without this member, its answers are none. */
  readonly events?: Endings;
}

/** A security scheme of the OpenAPI document. `console` is the cookie of the console. */
export type SecurityScheme = "accessToken" | "apiKey" | "cookie" | "console" | "anybody";

/** By status: the schema of a JSON answer, the content types of another answer, or null for one without a body. */
export type AnswersByStatus = Readonly<Record<number, JsonSchema | string | readonly string[] | null>>;

/** A status with which endpoints answer errors. */
export type ErrorStatus = (typeof statuses)[keyof typeof statuses];

/**
 * The security events of an endpoint's answers: one for a success, and one for a refusal of the password, token or link
 * that the request presented.
 */
export type Endings = readonly [success: SecurityEvent | null, refused: SecurityEvent | null];

/** The pattern by which Hono's router knows an endpoint, below the path `base` of its router. */
export function routePattern({ path, routedAs = path }: Pick<Endpoint, "path" | "routedAs">, base = ""): string {
  return routedAs.slice(base.length).replaceAll(/\{(\w+)\}/g, ":$1");
}
