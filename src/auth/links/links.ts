import { toBase64Url } from "../../encoding/base64.js";
import { hashSecret } from "../../encoding/hash-secret.js";
import { type Keyring, mapKeyring, underEither } from "../../encoding/keyring.js";
import type { SecretKey } from "../../encoding/secret-keys.js";
import type { LinkPurpose } from "../store/links.js";

/** How many seconds a mailed link is valid, from when it was created, not from when its mail was sent. */
export const linkLifetimeSeconds: Readonly<Record<LinkPurpose, number>> = {
  email_verification: 86_400,
  invitation: 604_800,
  password_reset: 3_600,
  email_change: 3_600,
};

/**
 * Makes the tokens of mailed links, each an HMAC-SHA-256 of the link's purpose and id under a key of the server, in
 * base64url. When the mail is sent, the token is computed again from the id, so that neither the outbox nor any other
 * table has to hold the token.
 */
export interface LinkTokens {
  /** Makes the token of a new link, with the key of the server's current secret. */
  tokenOf(purpose: LinkPurpose, id: string): Promise<string>;
  /**
   * Makes the token of a stored link again; null where it was made under a secret that is neither the current nor the
   * previous one.
   */
  tokenOfStored(purpose: LinkPurpose, link: StoredLink): Promise<string | null>;
  /** The hash of a link's token, which the database stores and by which it finds the link. */
  hashOf(token: string): Promise<string>;
}

/** What the database holds of a mailed link, from which the link's token can be made again. */
export interface StoredLink {
  readonly id: string;
  /** The hash of the link's token. */
  readonly hash: string;
}

/** Makes the `LinkTokens` of a server. The keys are HMAC keys, which serve no other purpose. */
export async function createLinkTokens(keys: Keyring<Uint8Array<ArrayBuffer>>): Promise<LinkTokens> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const hmacKeys = await mapKeyring(keys, (key) => crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]));
  const tokenUnder = async (key: SecretKey, purpose: LinkPurpose, id: string) => {
    const signed = new TextEncoder().encode(`${purpose}:${id}`);
    return toBase64Url(new Uint8Array(await crypto.subtle.sign("HMAC", key, signed)));
  };
  return {
    tokenOf: (purpose, id) => tokenUnder(hmacKeys.current, purpose, id),
    tokenOfStored: (purpose, { id, hash }) =>
      underEither(hmacKeys, async (key) => {
        const token = await tokenUnder(key, purpose, id);
        return (await hashSecret(token)) === hash ? token : null;
      }),
    hashOf: hashSecret,
  };
}
