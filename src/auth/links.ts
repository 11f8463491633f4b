import { toBase64Url } from "../encoding/base64.js";
import { hashSecret } from "./api-key.js";

/** What a mailed link is for. The token of a link works for its own purpose only. */
export type LinkPurpose = "email_verification" | "invitation" | "password_reset";

/** How long a link is valid in seconds, from when it was created, not from when its mail was sent. */
export const linkLifetimeSeconds: Readonly<Record<LinkPurpose, number>> = {
  email_verification: 86_400,
  invitation: 604_800,
  password_reset: 3_600,
};

/**
 * The tokens of mailed links: HMAC-SHA-256 of purpose and id under a key of the server, in base64url. The token is
 * computed again from the link's id when its mail is sent, so that neither the outbox nor any other table holds it.
 */
export interface LinkTokens {
  tokenOf(purpose: LinkPurpose, id: string): Promise<string>;
  /** The hash that the database stores and looks a link up by. */
  hashOf(token: string): Promise<string>;
}

/** `key` is the HMAC key, which serves no other purpose. */
export async function createLinkTokens(key: Uint8Array<ArrayBuffer>): Promise<LinkTokens> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const hmacKey = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
  return {
    tokenOf: async (purpose, id) => {
      const signed = new TextEncoder().encode(`${purpose}:${id}`);
      return toBase64Url(new Uint8Array(await crypto.subtle.sign("HMAC", hmacKey, signed)));
    },
    hashOf: hashSecret,
  };
}
