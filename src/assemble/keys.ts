import { toHex } from "../encoding/hex.js";
import { type Keyring, mapKeyring } from "../encoding/keyring.js";
import { deriveBytes, type KeyPurpose } from "../encoding/secret-keys.js";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Derives a key for each purpose from the server's secret, and from the previous one while the secret is being changed.
 */
export async function deriveKeys(secrets: Keyring<Bytes>) {
  const keysFor = (purpose: KeyPurpose) => mapKeyring(secrets, (secret) => deriveBytes(secret, purpose));
  return {
    cursor: await keysFor("cursor"),
    accessToken: await keysFor("access token"),
    link: await keysFor("link"),
    successor: await keysFor("refresh successor"),
    oauthState: await keysFor("oauth state"),
    /** In hex: what is counted under these keys is stored by a hash of the key and the name. */
    throttle: await mapKeyring(await keysFor("throttle"), toHex),
  };
}

/** The keys that are derived from the server's secret. */
export type Keys = Awaited<ReturnType<typeof deriveKeys>>;
