import { type Keyring, mapKeyring } from "../encoding/keyring.js";
import { hashSecret } from "./api-key.js";

/** What a counter, or an address, is known by in the database: a hash of `parts` with each secret's pepper. */
export function throttleKeys(
  peppers: Keyring<string>,
  ...parts: readonly string[]
): Promise<Keyring<string>> {
  return mapKeyring(peppers, (pepper) => hashSecret(JSON.stringify([pepper, ...parts])));
}
