/** bcrypt ignores everything beyond the first 72 bytes of a password. */
export const bcryptPasswordBytesMax = 72;

/**
 * Verifying a password against a hash of cost 14 takes about 1.3 s, and each further step doubles the time, so a higher
 * cost would block the hasher for seconds.
 */
const costFactorMax = 14;
const costFactorMin = 4;
const saltBytes = 16;
const hashBytes = 23;

const alphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const pattern = /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/;

/** A stored bcrypt hash: `salt` has 16 bytes, `hash` has 23, and the work is 2^`costFactor` rounds. */
export interface Bcrypt {
  readonly kind: "bcrypt";
  readonly costFactor: number;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

/**
 * Parses bcrypt's modular crypt format; null for anything else, and if the cost is too high. The prefixes $2a$, $2b$
 * and $2y$ mean the same algorithm for passwords without NUL.
 */
export function parseBcrypt(text: string): Bcrypt | null {
  const [, cost, saltText, hashText] = pattern.exec(text) ?? [];
  const costFactor = Number(cost);
  if (cost === undefined || costFactor < costFactorMin || costFactor > costFactorMax) return null;
  const salt = decode(saltText!, saltBytes);
  const hash = decode(hashText!, hashBytes);
  return { kind: "bcrypt", costFactor, salt, hash };
}

/**
 * bcrypt's own base64 has another alphabet and no padding. Bits beyond the last byte are ignored, as other
 * implementations do.
 */
function decode(text: string, bytes: number): Uint8Array {
  let bits = 0n;
  for (const character of text) bits = (bits << 6n) | BigInt(alphabet.indexOf(character));
  bits >>= BigInt(text.length * 6 - bytes * 8);
  return Uint8Array.from({ length: bytes }, (_, i) => Number((bits >> BigInt(8 * (bytes - 1 - i))) & 0xffn));
}
