import { type Keyring, underEither } from "../encoding/keyring.js";
import type { Cipher } from "./platform.js";

/** Encrypts with the cipher of the current secret, and decrypts what either has encrypted. */
export function keyringCipher(ciphers: Keyring<Cipher>): Cipher {
  return {
    seal: ciphers.current.seal,
    open: (sealed, associated) => underEither(ciphers, (cipher) => cipher.open(sealed, associated)),
  };
}
