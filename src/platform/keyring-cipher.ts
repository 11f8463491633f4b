import { type Keyring, underEither } from "../encoding/keyring.js";
import type { Cipher } from "./platform.js";

/**
 * Makes one cipher of those under the current and the previous secret: it seals with the current one, and opens what
 * either has sealed.
 */
export function keyringCipher(ciphers: Keyring<Cipher>): Cipher {
  return {
    seal: ciphers.current.seal,
    open: (sealed, associated) => underEither(ciphers, (cipher) => cipher.open(sealed, associated)),
  };
}
