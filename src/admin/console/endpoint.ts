import type { ConsoleOrigin } from "../../auth/callers/console-origin.js";
import type { AuthRequest, CallerRequest } from "../../auth/context.js";
import type { Endpoint, SecurityScheme } from "../../http/endpoint.js";
import type { Refusal } from "../../http/refusal.js";
import type { ConsoleFiles } from "../../platform/console-files.js";
import { data } from "../../wire/schema.js";
import { signedInAdmin } from "../../wire/sessions.js";

type Handler<R> = (given: R) => Promise<Response | Refusal>;

/** An endpoint of the console's page or of its session, with what it needs before its handler runs. */
export type ConsoleEndpoint = Endpoint &
  (
    | { readonly needs: "nothing"; readonly handle: Handler<PageRequest> }
    /** A page of the server's own origin that has sent the request (`consoleOrigin`). */
    | { readonly needs: "own page"; readonly handle: Handler<OwnPageRequest> }
    /** The caller, found in a round trip of its own after the body was read (`identifiedBy`). */
    | { readonly needs: "caller"; readonly handle: Handler<CallerRequest> }
  );

/** What a handler of the console's page is given. */
export interface PageRequest {
  readonly request: Request;
  /** The files of the console; null where the runtime serves them without these routes. */
  readonly files: ConsoleFiles | null;
  /** The name in the path; empty where the path has none. */
  readonly name: string;
}

/**
 * What a handler is given that sets or deletes the console's cookie: a request that a page of the server's own has
 * sent, and whether it came over HTTPS (`origin`).
 */
export interface OwnPageRequest extends AuthRequest {
  readonly origin: ConsoleOrigin;
}

/** The credential of the console. */
export const byConsole: readonly SecurityScheme[] = ["console"];
/** The schema of an answer that describes a session of the console. */
export const sessionAnswer = data(signedInAdmin);
/** The errors of an endpoint that checks a password. */
export const passwordErrors = [400, 401, 403, 413, 415, 429, 500, 503] as const;
