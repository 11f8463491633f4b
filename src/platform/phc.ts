import { fromBase64, toBase64 } from "../encoding/base64.js";

/** A parsed Argon2id hash: the hash itself, and all inputs of its computation except the password. */
export interface StoredArgon2id {
  readonly kind: "argon2id";
  readonly salt: Uint8Array;
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
  readonly hash: Uint8Array;
}

/** Of new hashes, as the OWASP Password Storage Cheat Sheet recommends. */
export const currentArgon2id = { kind: "argon2id", memoryKib: 19456, passes: 2, lanes: 1 } as const;
/** Of new Argon2id hashes. */
export const saltBytes = 16;
/** Of new Argon2id hashes. */
export const hashBytes = 32;

/** Limits for a stored hash. The upper ones keep an imported hash from occupying the hasher for long. */
const memoryKibMax = 65536;
const passesMax = 10;
const lanesMax = 4;
const saltBytesMin = 8;
const hashBytesMin = 16;
const lengthBytesMax = 64;

/** The PHC string of a hash that was made with the current parameters. */
export function formatPhc(salt: Uint8Array, hash: Uint8Array): string {
  const { memoryKib, passes, lanes } = currentArgon2id;
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$${unpadded(salt)}$${unpadded(hash)}`;
}

const pattern =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,4}),t=([1-9]\d?),p=([1-9])\$([A-Za-z0-9+/]{1,100})\$([A-Za-z0-9+/]{1,100})$/;

/**
 * Parses the PHC string of an Argon2id hash (version 19). Null for any other string, and if a parameter is out of
 * bounds, so that verifying a password would be too costly or too weak.
 */
export function parsePhc(phc: string): StoredArgon2id | null {
  const match = pattern.exec(phc);
  if (!match) return null;
  const [memoryKib, passes, lanes] = match.slice(1, 4).map(Number) as [number, number, number];
  const salt = fromUnpadded(match[4]!);
  const hash = fromUnpadded(match[5]!);
  if (!salt || !hash) return null;
  const parsed = { kind: "argon2id", memoryKib, passes, lanes, salt, hash } as const;
  return isAcceptable(parsed) ? parsed : null;
}

/** Whether a stored hash has the current parameters, so that the next login need not replace it. */
export function isCurrent({ memoryKib, passes, lanes, salt, hash }: StoredArgon2id): boolean {
  return (
    memoryKib === currentArgon2id.memoryKib &&
    passes === currentArgon2id.passes &&
    lanes === currentArgon2id.lanes &&
    salt.length === saltBytes &&
    hash.length === hashBytes
  );
}

function isAcceptable({ memoryKib, passes, lanes, salt, hash }: StoredArgon2id): boolean {
  return (
    memoryKib >= 8 * lanes &&
    memoryKib <= memoryKibMax &&
    passes <= passesMax &&
    lanes <= lanesMax &&
    salt.length >= saltBytesMin &&
    salt.length <= lengthBytesMax &&
    hash.length >= hashBytesMin &&
    hash.length <= lengthBytesMax
  );
}

function unpadded(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("=", "");
}

function fromUnpadded(text: string): Uint8Array | null {
  return fromBase64(text + "=".repeat((4 - (text.length % 4)) % 4));
}
