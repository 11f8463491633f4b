import { toBase64Url } from "./base64.js";

/**
 * SHA-256 of a secret (an API key, a token, a code) in base64url, which the database stores in its place. A slow
 * password hash is not needed, because such secrets are random, so that nobody can guess them.
 */
export async function hashSecret(secret: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret))));
}
