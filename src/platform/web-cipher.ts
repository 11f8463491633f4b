import { fromBase64Url, toBase64Url } from "../encoding/base64.js";
import { aesKey, open, seal } from "../encoding/secret-keys.js";
import type { Cipher } from "./platform.js";

/** Of Web Crypto, which every runtime has. No key is kept: the request that imports it may vanish half-way. */
export function webCipher(key: Uint8Array<ArrayBuffer>): Cipher {
  return {
    seal: async (plain, associated, iv) => toBase64Url(await seal(await aesKey(key), plain, associated, iv)),
    open: async (sealed, associated) => {
      const bytes = fromBase64Url(sealed);
      return bytes && open(await aesKey(key), bytes, associated);
    },
  };
}
