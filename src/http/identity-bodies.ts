import { Refusal } from "./refusal.js";
import type { Fetch } from "./router.js";

const refusal = new Refusal("unsupported_media_type", "bodies are taken without a Content-Encoding");

/** Refuses requests whose body is encoded, for example compressed (RFC 9110, section 8.4). */
export function identityBodies(answer: Fetch): Fetch {
  return (request, ...rest) => {
    if (request.method === "GET") return answer(request, ...rest);
    const coding = request.headers.get("Content-Encoding");
    return coding === null || /^\s*identity\s*$/i.test(coding) ? answer(request, ...rest) : refusal.toResponse();
  };
}
