/** A key of Web Crypto, under one name on every runtime. */
export type SecretKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** What the project's secret is used for. No purpose can stand in for another. */
export type KeyPurpose =
  | "access token"
  | "cursor"
  | "oauth state"
  | "refresh successor"
  | "throttle"
  | "link";

/** 32 bytes for one purpose out of the project's secret. */
export function deriveBytes(
  secret: Uint8Array<ArrayBuffer>,
  purpose: KeyPurpose,
): Promise<Uint8Array<ArrayBuffer>> {
  return hkdf(secret, new Uint8Array(), `svc ${purpose}`);
}

/** HKDF with SHA-256 (RFC 5869): 32 bytes. `info` keeps apart what comes of the same material. */
export async function hkdf(
  material: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  info: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey("raw", material, "HKDF", false, ["deriveBits"]);
  const algorithm = { name: "HKDF", hash: "SHA-256", salt, info: new TextEncoder().encode(info) };
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, 256));
}

export async function aesKey(bytes: Uint8Array<ArrayBuffer>): Promise<SecretKey> {
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}

const ivBytes = 12;

/** AES-256-GCM: the initialisation vector (12 bytes, never used twice) and the sealed text, in one piece. */
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

/** Null where the key, the associated data or the bytes are not those of `seal`. */
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
