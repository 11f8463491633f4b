import { addRequestFacts } from "../../http/answer-facts.js";
import { RequestBody } from "../../http/body.js";
import { isRefusal, type Refusal } from "../../http/refusal.js";
import type { Callers } from "./callers.js";
import type { Caller } from "./principal.js";

/** The caller of a request, and the body that was read before they were found. */
export interface Identified {
  readonly caller: Caller;
  readonly body: RequestBody;
}

/** Finds the caller of a request in a round trip of its own, and refuses credentials that do not hold. */
export type Identify = (request: Request) => Promise<Identified | Refusal>;

/**
 * Makes a function that finds the caller of a request, and names them in the request log whatever the answer is.
 * It first reads the request's body, of `bodyBytesMax` bytes at most: otherwise a client could pass the check, send the
 * body slowly, and have it accepted after the session has ended.
 */
export function identifiedBy(callers: Callers, bodyBytesMax: number): Identify {
  return async (request) => {
    const body = new RequestBody(request, bodyBytesMax);
    await body.ahead();
    const identity = await callers.identify(request.headers);
    if (isRefusal(identity)) return identity;
    addRequestFacts(request, { principal: identity.caller });
    return { caller: identity.caller, body };
  };
}
