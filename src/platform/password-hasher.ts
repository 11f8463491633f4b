import { type Bcrypt, bcryptPasswordBytesMax, parseBcrypt } from "./modular-crypt.js";
import { currentArgon2id, formatPhc, hashBytes, isCurrent, parsePhc, type StoredArgon2id, saltBytes } from "./phc.js";
import type { HashTurn, PasswordHasher, Random } from "./platform.js";

/** What one hash of a password is computed from. */
export type HashJob = Argon2Job | BcryptJob;

/** The input of Argon2id (RFC 9106, section 3.1). The result has `hashBytes` bytes. */
export interface Argon2Job extends Omit<StoredArgon2id, "hash"> {
  readonly password: Uint8Array;
  readonly hashBytes: number;
}

/**
 * The input of bcrypt to check a password against a stored hash. The result is the raw hash of 23 bytes, which a bcrypt
 * string has, encoded, at its end.
 */
export interface BcryptJob extends Omit<Bcrypt, "hash"> {
  readonly password: Uint8Array;
}

const operatorsTurn: HashTurn = { address: "", isFor: "sign_in" };

/**
 * Makes a password hasher from the runtime's Argon2id and bcrypt. `compute` may throw HasherBusyError if `hasRoomFor`
 * says no; its other errors are logged, so they must not quote a password.
 */
export function createPasswordHasher(
  compute: (job: HashJob, turn: HashTurn) => Promise<Uint8Array>,
  random: Random,
  hasRoomFor: PasswordHasher["hasRoomFor"] = () => true,
): PasswordHasher {
  return {
    hasRoomFor,

    async hash(password, turn = operatorsTurn) {
      const salt = random.bytes(saltBytes);
      const job = { ...currentArgon2id, password: encode(password), salt, hashBytes };
      const hash = await compute(job, turn);
      return formatPhc(salt, hash);
    },

    async verify(password, stored, turn = operatorsTurn) {
      const parsed = parseStored(stored);
      // The empty password matches no hash; hash-wasm would refuse to compute one.
      if (!parsed || password === "") return false;
      const { hash: expected, ...parameters } = parsed;
      const bytes = encode(password);
      if (parameters.kind === "argon2id")
        return areEqual(await compute({ ...parameters, password: bytes, hashBytes: expected.length }, turn), expected);
      // bcrypt ignores bytes beyond the 72nd, so a longer password is refused, but only after the computation: it takes
      // as long as any wrong password.
      const taken = bytes.subarray(0, bcryptPasswordBytesMax);
      const hash = await compute({ ...parameters, password: taken }, turn);
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

/** In constant time, so that the time does not reveal the first difference. */
function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}
