import { toBase64Url } from "./base64.js";

/**
 * SHA-256 in base64url of an API key, a token or a code, which the database stores in its place. Such secrets are
 * random, so nobody can guess them and no slow password hash is needed.
 */
export async function hashSecret(secret: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret))));
}
