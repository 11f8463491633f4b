import { toBase64Url } from "../../encoding/base64.js";
import { hashSecret } from "../../encoding/hash-secret.js";
import type { Random } from "../../platform/platform.js";

/** How long a person may take to sign in at the provider, in milliseconds. */
export const stateLifetimeMs = 600_000;
/** How long the application may take to exchange its code for tokens, in milliseconds. */
export const exchangeCodeLifetimeMs = 60_000;
/** Makes a state or an exchange code of a social sign-in: 256 random bits in base64url. */
export function newSecret(random: Random): string {
  return toBase64Url(random.bytes(32));
}

/**
 * The secrets that tie the provider's answers to one social sign-in (RFC 7636; OpenID Connect Core, section 3.1.2.1).
 */
export interface FlowSecrets {
  /**
   * The hash of the state, by which the database stores and finds the sign-in. The hash depends on the server's key:
   * where the hash under a key is found, the sign-in began under that key.
   */
  readonly stateHash: string;
  /** The PKCE verifier (RFC 7636) between this server and the provider. The application's own PKCE has another one. */
  readonly codeVerifier: string;
  readonly nonce: string;
}

/**
 * Derives from the state of a social sign-in, with HMAC-SHA-256, its secrets and the hash by which it is stored. So the
 * database stores neither the state nor a secret. `key` is used for nothing else.
 */
export async function flowSecrets(state: string, key: Uint8Array<ArrayBuffer>): Promise<FlowSecrets> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const hmacKey = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
  const derived = async (use: string) => {
    const signature = await crypto.subtle.sign("HMAC", hmacKey, new TextEncoder().encode(`${use}:${state}`));
    return toBase64Url(new Uint8Array(signature));
  };
  return {
    stateHash: await derived("state"),
    codeVerifier: await derived("code_verifier"),
    nonce: await derived("nonce"),
  };
}

/** The PKCE challenge of a verifier by the method S256 (RFC 7636, section 4.2). */
export function codeChallengeOf(codeVerifier: string): Promise<string> {
  return hashSecret(codeVerifier);
}

/** Whether the value is a PKCE challenge of the method S256: 32 bytes in base64url. */
export function isCodeChallenge(text: unknown): text is string {
  return typeof text === "string" && /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** Whether the value is a PKCE verifier (RFC 7636, section 4.1). */
export function isCodeVerifier(text: unknown): text is string {
  return typeof text === "string" && /^[A-Za-z0-9._~-]{43,128}$/.test(text);
}

/**
 * Appends a query to a URL that has no query and no fragment yet, such as those that `$auth.redirect_urls` allows. The
 * URL itself stays exactly as it is written.
 */
export function withQuery(redirectTo: string, parameters: Readonly<Record<string, string>>): string {
  return `${redirectTo}?${new URLSearchParams(parameters)}`;
}
