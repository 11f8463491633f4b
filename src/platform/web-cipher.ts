import { aesKey, open, seal } from "../encoding/secret-keys.js";
import type { Cipher } from "./platform.js";

/** Of Web Crypto, which every runtime has. No key is kept: the request that imports it may vanish half-way. */
export function webCipher(bytes: Uint8Array<ArrayBuffer>): Cipher {
  return {
    seal: async (plain, associated, iv) => seal(await aesKey(bytes), plain, associated, iv),
    open: async (sealed, associated) => open(await aesKey(bytes), sealed, associated),
  };
}
