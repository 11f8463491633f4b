import { badRequest, Refusal } from "../http/refusal.js";
import type { PasswordHasher } from "../platform/platform.js";

/** Bytes of UTF-8. */
export const passwordBytesMax = 1024;

/** A password that someone sets: long enough, and never truncated. `lengthMin` counts characters. */
export function passwordProblem(password: string, lengthMin: number): Refusal | null {
  if (isTooLong(password)) return tooLong;
  if ([...password].length < lengthMin)
    return new Refusal("weak_password", `a password has at least ${lengthMin} characters`);
  return null;
}

/** A password that someone presents: only its size is judged before a hash is run. */
export function presentedPasswordProblem(password: string): Refusal | null {
  return isTooLong(password) ? tooLong : null;
}

const tooLong = badRequest(`a password has at most ${passwordBytesMax} bytes`);

function isTooLong(password: string): boolean {
  return new TextEncoder().encode(password).length > passwordBytesMax;
}

/** A hash of the current parameters that no password matches: it costs a stranger's login what an owner's costs. */
const nobodysHash =
  "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/** Runs exactly one hash, whether or not there is a password to compare with. */
export async function checkPassword(
  hasher: PasswordHasher,
  password: string,
  stored: string | null,
): Promise<boolean> {
  const matches = await hasher.verify(password, stored ?? nobodysHash);
  return matches && stored !== null;
}
