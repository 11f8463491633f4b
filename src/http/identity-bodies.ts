import { Refusal } from "./refusal.js";
import type { Fetch } from "./router.js";

const refusal = new Refusal("unsupported_media_type", "bodies are taken without a Content-Encoding");

/** Refuses requests whose body is encoded, for example compressed (RFC 9110, section 8.4). */
export function identityBodies(answer: Fetch): Fetch {
  return (request, ...rest) => {
    const { method, headers } = request;
    const codings = headers.get("Content-Encoding")?.split(",") ?? [];
    const isPlain = codings.every((coding) => /^\s*(identity)?\s*$/i.test(coding));
    return isPlain || method === "GET" || method === "HEAD" ? answer(request, ...rest) : refusal.toResponse();
  };
}
