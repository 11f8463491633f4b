import { type Bcrypt, bcryptPasswordBytesMax, parseBcrypt } from "./modular-crypt.js";
import {
  currentArgon2id,
  formatPhc,
  hashBytes,
  isCurrent,
  parsePhc,
  type StoredArgon2id,
  saltBytes,
} from "./phc.js";
import type { PasswordHasher, Random } from "./platform.js";

/** One computation. */
export type HashJob = Argon2Job | BcryptJob;

/** The input of Argon2id (RFC 9106, section 3.1). */
export interface Argon2Job extends Omit<StoredArgon2id, "hash"> {
  readonly password: Uint8Array;
  readonly hashBytes: number;
}

/** The input of bcrypt, whose result are the 23 bytes that its encoding ends in. */
export interface BcryptJob extends Omit<Bcrypt, "hash"> {
  readonly password: Uint8Array;
}

/** `compute` may throw HasherBusyError. Its other errors must not quote a password. */
export function createPasswordHasher(
  compute: (job: HashJob) => Promise<Uint8Array>,
  random: Random,
): PasswordHasher {
  return {
    async hash(password) {
      const salt = random.bytes(saltBytes);
      const hash = await compute({ ...currentArgon2id, password: encode(password), salt, hashBytes });
      return formatPhc(salt, hash);
    },

    async verify(password, stored) {
      const parsed = parseStored(stored);
      // The empty password has no hash: hash-wasm refuses to compute one.
      if (!parsed || password === "") return false;
      const { hash: expected, ...parameters } = parsed;
      const bytes = encode(password);
      if (parameters.kind === "argon2id")
        return areEqual(
          await compute({ ...parameters, password: bytes, hashBytes: expected.length }),
          expected,
        );
      // What bcrypt would cut off is wrong, and costs what a wrong one costs.
      const taken = bytes.subarray(0, bcryptPasswordBytesMax);
      const hash = await compute({ ...parameters, password: taken });
      return areEqual(hash, expected) && taken.length === bytes.length;
    },

    standing(stored) {
      const parsed = parseStored(stored);
      if (!parsed) return "unusable";
      return parsed.kind === "argon2id" && isCurrent(parsed) ? "current" : "outdated";
    },
  };
}

function encode(password: string): Uint8Array {
  return new TextEncoder().encode(password);
}

function parseStored(stored: string): StoredArgon2id | Bcrypt | null {
  return parseBcrypt(stored) ?? parsePhc(stored);
}

/** In a time that does not tell where they differ. */
function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}
