import type { Endpoint, SecurityScheme } from "../http/endpoint.js";
import { type JsonSchema, text } from "../wire/schema.js";
import type { AdminHandler, ServerHandler } from "./services.js";

/**
 * An endpoint under `/admin/api`. `needs` says what a request from the console needs: only a session (`session`), or
 * also that the password was typed within the last minutes (`password`, judged by `unconfirmedRefusal`). Endpoints that
 * make, change or remove users, keys or tables, or that sign everybody out, need the password.
 */
export type AdminEndpoint = Endpoint & {
  readonly needs: "session" | "password";
  readonly handle: AdminHandler;
};

/**
 * An endpoint outside of `/admin/api` that tells how the server is doing. `needs` says whether the caller has to be an
 * administrator or a `project:backend` key, or whether the handler decides that itself (`nothing`).
 */
export type ServerEndpoint = Endpoint & {
  readonly needs: "nothing" | "administrator";
  readonly handle: ServerHandler;
};

/** The credentials of administrators outside of the console, and of their servers. */
export const administrators: readonly SecurityScheme[] = ["accessToken", "cookie", "apiKey"];
/** Those credentials, and that of the console. */
export const withConsole: readonly SecurityScheme[] = ["console", ...administrators];
/** The credentials of administrators, without those of servers. */
export const people: readonly SecurityScheme[] = ["console", "accessToken", "cookie"];

/** The errors of an endpoint that takes neither a body nor an id nor parameters. */
export const plainErrors = [401, 403, 500, 503] as const;
/** The errors of an endpoint that reads. */
export const readErrors = [400, ...plainErrors] as const;
/** The errors of an endpoint that changes something. */
export const changeErrors = [...readErrors, 404, 409] as const;
/** The errors of an endpoint that changes something by a body. */
export const submitErrors = [...changeErrors, 413, 415] as const;

/** The parameter for the id in the path. */
export const idParameter = { name: "id", in: "path", required: true, schema: text };
/** Makes a parameter of the query string. */
export const inQuery = (name: string, schema: JsonSchema = text) => ({ name, in: "query", schema });
