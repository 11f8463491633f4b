import { fromBase64Url, toBase64Url } from "../encoding/base64.js";
import { aesKey, open, seal } from "../encoding/secret-keys.js";
import type { Cipher } from "./platform.js";

/**
 * A cipher with Web Crypto, which every runtime has. The imported key is not cached: on a Worker the request that is
 * importing it may be cancelled, and other requests that wait for the same import would wait forever.
 */
export function webCipher(key: Uint8Array<ArrayBuffer>): Cipher {
  return {
    seal: async (plain, associated, iv) => toBase64Url(await seal(await aesKey(key), plain, associated, iv)),
    open: async (sealed, associated) => {
      const bytes = fromBase64Url(sealed);
      return bytes && open(await aesKey(key), bytes, associated);
    },
  };
}
