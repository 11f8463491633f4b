import { badRequest, Refusal } from "../../http/refusal.js";
import type { HashTurn, PasswordHasher } from "../../platform/platform.js";
import { emailKey } from "../email.js";
import { isCommonPassword } from "./is-common-password.js";

/** How many bytes of UTF-8 a password may have in NFC. */
export const passwordBytesMax = 1024;

/**
 * A password in NFC (RFC 8265, section 4.2). Keyboards and systems compose accented letters in different ways, which
 * look the same.
 */
const normalized = (password: string): string => password.normalize("NFC");

/**
 * Why a new password is refused, whoever sets it; null where it is acceptable (`ownAddressProblem` also compares it
 * with the account's address). Passwords are never truncated. `lengthMin` counts characters in NFC.
 */
export function passwordProblem(sent: string, lengthMin: number): Refusal | null {
  const password = normalized(sent);
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
  const address = normalized(emailKey(email));
  const guesses = [address, address.slice(0, address.lastIndexOf("@"))];
  return guesses.includes(emailKey(normalized(password))) ? ownAddress : null;
}

/**
 * Why a password that is to be checked is refused before it is hashed; null where it may be hashed. Only its size
 * matters, because older passwords may be shorter than new ones have to be.
 */
export function presentedPasswordProblem(password: string): Refusal | null {
  return isTooLong(normalized(password)) ? tooLong : null;
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

/** Hashes a new password, in NFC. */
export function hashPassword(hasher: PasswordHasher, password: string, turn?: HashTurn): Promise<string> {
  return hasher.hash(normalized(password), turn);
}

/**
 * The form of a password that a hash was made of: in NFC, or as it was sent. The latter is so for hashes of releases
 * before 0.2.0 and for imported ones.
 */
export type PasswordForm = "nfc" | "sent";

/**
 * Which form of a password fits the stored hash; null where neither does, or there is no hash. How many hashes it
 * computes for a wrong password depends on the password alone, so that the time does not tell whether there is a stored
 * hash: one, or two where the password is not in NFC.
 */
export async function checkPassword(
  hasher: PasswordHasher,
  password: string,
  stored: string | null,
  turn: HashTurn,
): Promise<PasswordForm | null> {
  const verify = async (text: string) => (await hasher.verify(text, stored ?? nobodysHash, turn)) && stored !== null;
  const inNfc = normalized(password);
  if (await verify(inNfc)) return "nfc";
  return password !== inNfc && (await verify(password)) ? "sent" : null;
}
