import { toBase64Url } from "../encoding/base64.js";
import { hashSecret } from "./api-key.js";

/** What a link is for. A token of one purpose serves no other. */
export type LinkPurpose = "email_verification" | "invitation" | "password_reset";

/** From the moment that the link is made, not from that of its mail. */
export const linkLifetimeSeconds: Readonly<Record<LinkPurpose, number>> = {
  email_verification: 86_400,
  invitation: 604_800,
  password_reset: 3_600,
};

/**
 * The tokens of links: HMAC-SHA-256 of purpose and id under a key of the server's secret, as base64url. A token can be
 * computed anew from the id when its mail is sent, so that neither the outbox nor the database holds one (interface,
 * section 6).
 */
export interface LinkTokens {
  tokenOf(purpose: LinkPurpose, id: string): Promise<string>;
  /** What is stored to find the link again. */
  hashOf(token: string): Promise<string>;
}

/** `key` serves no other purpose. */
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
