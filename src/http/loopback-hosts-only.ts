import { isLoopbackHost } from "./loopback.js";
import { Refusal } from "./refusal.js";
import type { Fetch } from "./router.js";

/**
 * Answers 403 to a request whose Host is no loopback name or address. This stops DNS rebinding: a web page whose domain
 * name resolves to 127.0.0.1 still sends that name as Host.
 */
export function loopbackHostsOnly(answer: Fetch): Fetch {
  return (request, ...rest) =>
    isLoopbackHost(new URL(request.url).hostname)
      ? answer(request, ...rest)
      : new Refusal("forbidden", "the development secret serves loopback hosts only").toResponse();
}
