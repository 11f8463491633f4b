import { fromBase64Url, toBase64Url } from "../../encoding/base64.js";
import { isName } from "../../sqlite/names.js";

const prefix = "svc_sk_";
const secretBytes = 32;

/** Makes the text of a new API key from `apiKeyRandomBytes` random bytes. The database stores only its hash. */
export function newApiKey(random: Uint8Array): string {
  return prefix + toBase64Url(random.subarray(0, secretBytes));
}

/** How many random bytes `newApiKey` takes. */
export const apiKeyRandomBytes = secretBytes;

/**
 * Whether a bearer credential is meant as an API key rather than an access token, judged by its first characters. It
 * may still be malformed.
 */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith("svc_");
}

/**
 * Whether the text has the form of an API key: `svc_sk_` and 32 bytes in base64url. Whether the key exists is not
 * checked.
 */
export function isApiKey(text: string): boolean {
  return text.startsWith(prefix) && fromBase64Url(text.slice(prefix.length))?.length === secretBytes;
}

/**
 * Parses a scope of an API key (docs/reference/auth.md#api-keys); null where the text is no scope. A `legacy` scope
 * (`*` and `operations:…`) is accepted and grants nothing.
 */
export function parseKeyScope(text: string): { readonly scope: string; readonly legacy: boolean } | null {
  if (text === "project:backend") return { scope: text, legacy: false };
  if (text === "*" || /^operations:.*$/.test(text)) return { scope: text, legacy: true };
  const [, table] = /^resource:([^:]*):(?:read|write)$/.exec(text) ?? [];
  const [, operation] = /^operation:(.*)$/.exec(text) ?? [];
  const name = table ?? operation;
  return name !== undefined && isName(name) ? { scope: text, legacy: false } : null;
}
