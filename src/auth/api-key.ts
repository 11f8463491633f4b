import { fromBase64Url, toBase64Url } from "../encoding/base64.js";
import { isName } from "../sqlite/names.js";

const prefix = "svc_sk_";
const secretBytes = 32;

/** A new key's secret. It is shown once; what is stored is its hash. */
export function newApiKey(random: Uint8Array): string {
  return prefix + toBase64Url(random.subarray(0, secretBytes));
}

export const apiKeyRandomBytes = secretBytes;

/** Whether a bearer credential claims to be an API key, well-formed or not. */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith("svc_");
}

export function isApiKey(text: string): boolean {
  return text.startsWith(prefix) && fromBase64Url(text.slice(prefix.length))?.length === secretBytes;
}

/** SHA-256 as base64url. Enough for secrets of 256 random bits, which no dictionary holds. */
export async function hashSecret(secret: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret))));
}

/** A scope of an API key. Null where the text is no scope; a legacy scope is one that grants nothing. */
export function parseKeyScope(text: string): { readonly scope: string; readonly legacy: boolean } | null {
  if (text === "project:backend") return { scope: text, legacy: false };
  if (text === "*" || /^operations:.*$/.test(text)) return { scope: text, legacy: true };
  const [, table] = /^resource:([^:]*):(?:read|write)$/.exec(text) ?? [];
  return table !== undefined && isName(table) ? { scope: text, legacy: false } : null;
}
