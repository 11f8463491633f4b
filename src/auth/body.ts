import { readAhead, readJsonObject, readText } from "../http/body.js";
import type { Refusal } from "../http/refusal.js";

/** Two passwords of 1024 bytes, escaped, and all that comes with them. */
const authBodyBytesMax = 16_384;

/** A body under /auth: small, as anybody may send one. */
export function readAuthBody(request: Request): Promise<Readonly<Record<string, unknown>> | Refusal> {
  return readJsonObject(request, authBodyBytesMax);
}

/**
 * Whether a body has no bytes. What a request declares does not tell: one of HTTP/1.1 without a length has no body (RFC 9112,
 * section 6.3), and runtimes make an empty stream of it.
 */
export async function isAuthBodyEmpty(request: Request): Promise<boolean> {
  await readAhead(request, authBodyBytesMax);
  return (await readText(request, authBodyBytesMax)) === "";
}
