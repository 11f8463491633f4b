import { type Keyring, underEither } from "../encoding/keyring.js";
import type { Cipher } from "./platform.js";

/**
 * Makes one cipher out of two, of which one has its key from the server's current secret and the other from the
 * previous secret. It encrypts with the current one, and decrypts what either has encrypted.
 */
export function keyringCipher(ciphers: Keyring<Cipher>): Cipher {
  return {
    seal: ciphers.current.seal,
    open: (sealed, associated) => underEither(ciphers, (cipher) => cipher.open(sealed, associated)),
  };
}
