import { createCipheriv, createDecipheriv, createSecretKey } from "node:crypto";
import { fromBase64Url } from "../encoding/base64.js";
import type { Cipher } from "../platform/platform.js";

const algorithm = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

/**
 * AES-GCM, synchronously. Waiting for the thread in which Web Crypto encrypts takes longer than encrypting so short a
 * text as the cursor of a list.
 */
export function nodeCipher(bytes: Uint8Array): Cipher {
  const key = createSecretKey(bytes);
  return {
    seal: (plain, associated, iv) => {
      const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(associated));
      const sealed = [iv, cipher.update(plain, "utf8"), cipher.final()];
      return Buffer.concat([...sealed, cipher.getAuthTag()]).toString("base64url");
    },
    open: (text, associated) => {
      const sealed = fromBase64Url(text);
      if (sealed === null || sealed.length < ivBytes + tagBytes) return null;
      const end = sealed.length - tagBytes;
      const options = { authTagLength: tagBytes };
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivBytes), options)
        .setAAD(Buffer.from(associated))
        .setAuthTag(sealed.subarray(end));
      try {
        const plain = Buffer.concat([decipher.update(sealed.subarray(ivBytes, end)), decipher.final()]);
        return new TextDecoder().decode(plain);
      } catch {
        return null;
      }
    },
  };
}
