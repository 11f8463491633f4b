import { readJsonObject } from "../http/body.js";
import type { Refusal } from "../http/refusal.js";

/** Two passwords of 1024 bytes, escaped, and all that comes with them. */
const authBodyBytesMax = 16_384;

/** A body under /auth: small, as anybody may send one. */
export function readAuthBody(request: Request): Promise<Readonly<Record<string, unknown>> | Refusal> {
  return readJsonObject(request, authBodyBytesMax);
}
