import { type Keyring, underEither } from "../encoding/keyring.js";
import type { Cipher } from "./platform.js";

/** A cipher that seals with the current secret's cipher, and opens what either has sealed. */
export function keyringCipher(ciphers: Keyring<Cipher>): Cipher {
  return {
    seal: ciphers.current.seal,
    open: (sealed, associated) => underEither(ciphers, (cipher) => cipher.open(sealed, associated)),
  };
}
