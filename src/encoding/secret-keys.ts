/** A Web Crypto key. Not every runtime declares a global type `CryptoKey`. */
export type SecretKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/**
 * What a key is derived for. Nothing made for one purpose is accepted for another. What is made with these keys, such
 * as tokens, must stay valid while the secret is being changed: docs/deploy.md#changing-the-secret lists it, and
 * test/conformance/secrets/ tries it under either secret.
 */
export type KeyPurpose = "access token" | "cursor" | "oauth state" | "refresh successor" | "throttle" | "link";

/** Derives 32 bytes for one purpose from the project's secret. */
export function deriveBytes(secret: Uint8Array<ArrayBuffer>, purpose: KeyPurpose): Promise<Uint8Array<ArrayBuffer>> {
  return hkdf(secret, new Uint8Array(), `svc ${purpose}`);
}

/** HKDF with SHA-256 (RFC 5869): derives 32 bytes from `material`. */
export async function hkdf(
  material: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  info: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey("raw", material, "HKDF", false, ["deriveBits"]);
  const algorithm = { name: "HKDF", hash: "SHA-256", salt, info: new TextEncoder().encode(info) };
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, 256));
}

/** An AES-256 key of 32 bytes for `seal` and `open`. */
export async function aesKey(bytes: Uint8Array<ArrayBuffer>): Promise<SecretKey> {
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}

const ivBytes = 12;

/**
 * Encrypts and authenticates text with AES-GCM. `iv` is the initialisation vector: 12 bytes that are never used twice
 * with the same key. `associated` is not part of the result, but `open` needs the same text. Returns the `iv` followed
 * by the ciphertext.
 */
export async function seal(
  key: SecretKey,
  plain: string,
  associated: string,
  iv: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const algorithm = { name: "AES-GCM", iv, additionalData: encoder.encode(associated) };
  const sealed = await crypto.subtle.encrypt(algorithm, key, encoder.encode(plain));
  return new Uint8Array([...iv, ...new Uint8Array(sealed)]);
}

/** Decrypts what `seal` returned; null if the key or the associated text is another, or the bytes were changed. */
export async function open(
  key: SecretKey,
  sealed: Uint8Array<ArrayBuffer>,
  associated: string,
): Promise<string | null> {
  if (sealed.length <= ivBytes) return null;
  const algorithm = {
    name: "AES-GCM",
    iv: sealed.subarray(0, ivBytes),
    additionalData: new TextEncoder().encode(associated),
  };
  try {
    return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, sealed.subarray(ivBytes)));
  } catch {
    return null;
  }
}
