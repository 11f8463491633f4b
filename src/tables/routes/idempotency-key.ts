import { principalOf } from "../../auth/callers/principal.js";
import { toBase64Url } from "../../encoding/base64.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import type { KeptRequest } from "../sql/kept-answers.js";
import { idempotencyHeader } from "../together/idempotency.js";
import type { ApiRequest } from "./api-request.js";

/**
 * Reads the header `Idempotency-Key`, with which a request is carried out only once, and the request's body. Returns
 * that by which a repetition of the request is recognised; null without the header. The key is 1 to 200 visible ASCII
 * characters, or a quoted string of them, as draft-ietf-httpapi-idempotency-key-header has it. Another text, and a key
 * from an anonymous caller, are refused with 400.
 */
export async function idempotencyOf({
  request,
  body: sent,
  caller,
  services,
}: Pick<ApiRequest, "request" | "body" | "caller" | "services">): Promise<KeptRequest | Refusal | null> {
  const text = request.headers.get(idempotencyHeader);
  if (text === null) return null;
  const key = keyIn(text);
  if (key === null) return badRequest(`${idempotencyHeader}: expected 1 to 200 visible characters`);
  if (caller.kind === "anonymous") return badRequest(`${idempotencyHeader}: sign in, as a key belongs to who sends it`);
  const { method, url } = request;
  const body = method === "DELETE" ? "" : await sent.text();
  if (isRefusal(body)) return body;
  const path = url.slice(url.indexOf("/", url.indexOf("//") + 2));
  // The client's key comes first in the name under which the answer is kept. If clients begin their keys with the time,
  // new names lie next to each other, whichever caller or request they are for, and fewer pages of the database are
  // written.
  const name = [key, principalOf(caller), `${method} ${path}`].join("\n");
  return { name, hash: await hashOf(body), nowMs: services.platform.clock.now() };
}

/** The key in the header `Idempotency-Key`, without its quotes; null where the text is not valid. */
function keyIn(text: string): string | null {
  const isKey = /^[\x21-\x7e]{1,200}$/;
  if (!text.startsWith('"')) return isKey.test(text) ? text : null;
  const [, quoted] = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(text) ?? [];
  const key = quoted?.replace(/\\(.)/g, "$1") ?? "";
  return isKey.test(key) ? key : null;
}

const shortBodyMax = 128;

/** Returns what is kept of a request's body to recognise it: a hash, or the body itself where it is short. */
export async function hashOf(body: string): Promise<string> {
  if (body.length <= shortBodyMax) return `=${body}`;
  return `#${toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body))))}`;
}
