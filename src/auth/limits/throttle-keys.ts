import { hashSecret } from "../../encoding/hash-secret.js";
import { type Keyring, mapKeyring } from "../../encoding/keyring.js";

/**
 * Makes the keys under which the database holds a counter or a client's address: hashes of `parts` with a secret of the
 * server (a pepper). One is made with the current secret, and one with the previous secret if there is one.
 */
export function throttleKeys(peppers: Keyring<string>, ...parts: readonly string[]): Promise<Keyring<string>> {
  return mapKeyring(peppers, (pepper) => hashSecret(JSON.stringify([pepper, ...parts])));
}
