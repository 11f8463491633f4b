/** What bcrypt looks at of a password. */
export const bcryptPasswordBytesMax = 72;

/** More would occupy the hasher for seconds: each step up doubles 1.3 s. */
const costFactorMax = 14;
const costFactorMin = 4;
const saltBytes = 16;
const hashBytes = 23;

const alphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const pattern = /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/;

export interface Bcrypt {
  readonly kind: "bcrypt";
  readonly costFactor: number;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

/** Modular crypt format of bcrypt: $2a$, $2b$ and $2y$ are one algorithm for passwords without NUL. */
export function parseBcrypt(text: string): Bcrypt | null {
  const [, cost, saltText, hashText] = pattern.exec(text) ?? [];
  const costFactor = Number(cost);
  if (cost === undefined || costFactor < costFactorMin || costFactor > costFactorMax) return null;
  const salt = decode(saltText!, saltBytes);
  const hash = decode(hashText!, hashBytes);
  return { kind: "bcrypt", costFactor, salt, hash };
}

/** bcrypt's own base64: another alphabet, no padding. Bits beyond the last byte are ignored, as others do. */
function decode(text: string, bytes: number): Uint8Array {
  let bits = 0n;
  for (const character of text) bits = (bits << 6n) | BigInt(alphabet.indexOf(character));
  bits >>= BigInt(text.length * 6 - bytes * 8);
  return Uint8Array.from({ length: bytes }, (_, i) => Number((bits >> BigInt(8 * (bytes - 1 - i))) & 0xffn));
}
