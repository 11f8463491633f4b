import type { Context } from "hono";
import { RequestBody } from "../http/body.js";
import { isRefusal, type Refusal } from "../http/refusal.js";
import type { Identify } from "./callers/identified-by.js";
import type { AuthContext, AuthRequest, CallerRequest } from "./context.js";

/** Makes what a handler of `AuthContext` is given out of the request that the router passes on. */
export interface AuthRequests {
  readonly given: (c: Context) => AuthRequest;
  /** As `given`, once the caller is found by `Identify`; refuses credentials that do not hold. */
  readonly identified: (c: Context) => Promise<CallerRequest | Refusal>;
}

/** `addressOf` returns the client's IPv4 address, or the /64 network of its IPv6 address (`addressUnit`). */
export function createAuthRequests(
  context: AuthContext,
  identify: Identify,
  addressOf: (c: Context) => string,
): AuthRequests {
  const bodyBytesMax = context.config.api.max_body_bytes;
  const given = (c: Context, body = new RequestBody(c.req.raw, bodyBytesMax)): AuthRequest => ({
    request: c.req.raw,
    body,
    context,
    address: addressOf(c),
    name: Object.values(c.req.param())[0] ?? "",
  });
  return {
    given: (c) => given(c),
    identified: async (c) => {
      const known = await identify(c.req.raw);
      return isRefusal(known) ? known : { ...given(c, known.body), caller: known.caller };
    },
  };
}
