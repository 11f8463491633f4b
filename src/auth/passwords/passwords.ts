import { badRequest, Refusal } from "../../http/refusal.js";
import type { HashTurn, PasswordHasher } from "../../platform/platform.js";
import { emailKey } from "../email.js";
import { isCommonPassword } from "./is-common-password.js";

/** How many bytes of UTF-8 a password may have. */
export const passwordBytesMax = 1024;

/**
 * Why a new password is refused, whoever sets it; null where it is acceptable (`ownAddressProblem` also compares it
 * with the account's address). Passwords are never truncated. `lengthMin` counts characters.
 */
export function passwordProblem(password: string, lengthMin: number): Refusal | null {
  if (isTooLong(password)) return tooLong;
  if ([...password].length < lengthMin)
    return new Refusal("weak_password", `a password has at least ${lengthMin} characters`);
  return isCommonPassword(password) ? tooCommon : null;
}

/**
 * Why a new password is refused as too close to the account's email address: it is the address, or what stands before
 * the @. Null where it is neither.
 */
export function ownAddressProblem(password: string, email: string): Refusal | null {
  const address = emailKey(email);
  const guesses = [address, address.slice(0, address.lastIndexOf("@"))];
  return guesses.includes(emailKey(password)) ? ownAddress : null;
}

/**
 * Why a password that is to be checked is refused before it is hashed; null where it may be hashed. Only its size
 * matters, because older passwords may be shorter than new ones have to be.
 */
export function presentedPasswordProblem(password: string): Refusal | null {
  return isTooLong(password) ? tooLong : null;
}

const tooLong = badRequest(`a password has at most ${passwordBytesMax} bytes`);
const tooCommon = new Refusal("weak_password", "the password is one of the most used ones, which are guessed first");
const ownAddress = new Refusal("weak_password", "the password is the account's own address");

function isTooLong(password: string): boolean {
  return new TextEncoder().encode(password).length > passwordBytesMax;
}

/**
 * A hash with the current parameters that no password matches. For an unknown address the password is checked against
 * this hash, which takes as long as a real check.
 */
const nobodysHash = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/**
 * Whether a password fits the stored hash; false where there is no hash. Computes exactly one hash in any case, so that
 * the time does not tell whether there is a stored one.
 */
export async function checkPassword(
  hasher: PasswordHasher,
  password: string,
  stored: string | null,
  turn: HashTurn,
): Promise<boolean> {
  const matches = await hasher.verify(password, stored ?? nobodysHash, turn);
  return matches && stored !== null;
}
