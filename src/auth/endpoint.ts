import type { Endpoint, SecurityScheme } from "../http/endpoint.js";
import type { Refusal } from "../http/refusal.js";
import { oneOf, ref, text } from "../wire/schema.js";
import { acceptedAnswer } from "../wire/users.js";
import type { AuthRequest, CallerRequest, IdentifiedRequest } from "./context.js";

type Handler<R> = (given: R) => Promise<Response | Refusal>;

/** An endpoint under `/auth`, with what it needs to know of the caller before its handler runs. */
export type AuthEndpoint = Endpoint &
  (
    | { readonly needs: "nothing"; readonly handle: Handler<AuthRequest> }
    /**
     * The caller, whose check is sent along with the first statements of the handler. Such a handler reads no body.
     */
    | { readonly needs: "caller"; readonly handle: Handler<IdentifiedRequest> }
    /** The caller, found in a round trip of its own after the body was read (`identifiedBy`). */
    | { readonly needs: "caller first"; readonly handle: Handler<CallerRequest> }
  );

/** The credentials of a user. */
export const users: readonly SecurityScheme[] = ["accessToken", "cookie"];
/** The credential of a server of the project's owner. */
export const keys: readonly SecurityScheme[] = ["apiKey"];
/** The answers of a sign-in. */
export const signedIn = { 200: ref("svc.tokens") };
/** The answers of a request whose mail, if there is one, is on its way. */
export const accepted = { 202: acceptedAnswer };
/** The errors of an endpoint that reads a body. */
export const bodyErrors = [400, 403, 413, 415, 503] as const;
/** The errors of an endpoint that reads a body and checks a password. */
export const throttledErrors = [...bodyErrors, 401, 429] as const;
/** The name of a sign-in provider. */
export const providerName = oneOf("google", "apple", "github");
/** The parameter of a sign-in provider's callback. */
export const providerParameter = { name: "provider", in: "path", required: true, schema: providerName };
/** The parameter of the page of a mailed link. */
export const pageParameter = { name: "name", in: "path", required: true, schema: text };
