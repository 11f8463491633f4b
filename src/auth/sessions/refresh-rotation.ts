import { fromBase64Url, toBase64Url } from "../../encoding/base64.js";
import { aesKey, hkdf, open, type SecretKey, seal } from "../../encoding/secret-keys.js";
import { refreshDelayMaxMs, type TokenFacts } from "../store/refresh-tokens.js";

/** How a refresh (the exchange of a refresh token for new tokens) is answered. */
export type RotationVerdict =
  /**
   * This request was the first to use the token. The answer has the new token (the successor) that this request has
   * made, and the database has stored it.
   */
  | { readonly kind: "issue"; readonly facts: TokenFacts }
  /**
   * The token was used before, but its grace window has not ended. The answer has the same new token (the successor) as
   * the first time, which is given here encrypted.
   */
  | { readonly kind: "replay"; readonly facts: TokenFacts; readonly sealedSuccessor: string }
  | { readonly kind: "reject" };

/**
 * Decides how a refresh is answered (docs/reference/auth.md#rotation-and-its-grace-window). `facts` are null where the
 * presented token is not stored. `sealedSuccessor` is the encrypted new token that this request has made: the facts
 * have the same one exactly if this request was the first to use the presented token. `now`, when the request arrived,
 * and `graceMs` are milliseconds.
 */
export function judgeRotation(
  facts: TokenFacts | null,
  sealedSuccessor: string,
  now: number,
  graceMs: number,
): RotationVerdict {
  // The presented token was never stored, or is an old one that was deleted since. If it is an old token of a live
  // session, the batch of `rotateRefreshToken` has ended that session.
  if (facts === null) return reject;
  const { usedAtMs, sessionEnded, user } = facts;
  // A token that was used again after its grace window is refused here as well, because the batch of
  // `rotateRefreshToken` has just ended its session.
  if (user.disabled || sessionEnded) return reject;
  if (facts.sealedSuccessor === sealedSuccessor) return { kind: "issue", facts };
  // If the token is not marked as used although this request has tried to use it, it has expired. If it is used and has
  // no successor, it came back so late that the successor was erased.
  if (usedAtMs === null || facts.sealedSuccessor === null) return reject;
  // The token's first use lies in this server's future. Either a later request has overtaken this one, or the clock is
  // behind: then the server cannot tell whether the window is still open, and refuses the token.
  if (usedAtMs - now > Math.max(graceMs, refreshDelayMaxMs)) return reject;
  return { kind: "replay", facts, sealedSuccessor: facts.sealedSuccessor };
}

const reject: RotationVerdict = { kind: "reject" };

const prefix = "svc_rt_";
/** How many random bytes `newRefreshToken` takes. */
export const refreshTokenRandomBytes = 32;
const wellFormed = /^svc_rt_[\w-]{43}$/;
/**
 * How many characters the family of a refresh token has: all tokens of one session begin with it. Its 21 characters are
 * 126 bits, and the 22 that follow have 130, so that neither part can be guessed.
 */
const familyCharacters = 21;

/**
 * Makes a refresh token from `refreshTokenRandomBytes` random bytes. The database stores only its hash. A token that
 * replaces another one begins with the same `family` as that (`familyOf`); the rest is random.
 */
export function newRefreshToken(random: Uint8Array, family = ""): string {
  const characters = toBase64Url(random.subarray(0, refreshTokenRandomBytes));
  return prefix + family + characters.slice(family.length);
}

/**
 * The family of a refresh token: its characters behind `svc_rt_` that all tokens of one session share; null where the
 * text is no refresh token. Used tokens are deleted from the database before long. A token that is not stored, but has
 * the family of a live session, is therefore an old one that is used again
 * (docs/reference/auth.md#rotation-and-its-grace-window). The database stores only the family's hash.
 */
export function familyOf(token: string): string | null {
  return wellFormed.test(token) ? token.slice(prefix.length, prefix.length + familyCharacters) : null;
}

/**
 * Encrypts the successor of a refresh token (the new token that replaces it), so that the same one can be answered if
 * the old token comes again within its grace window. The key is derived from the server's key and the old token, which
 * the database does not hold: even with a dump of it and the server's key, nobody can decrypt the successor without the
 * old token. `iv` is 12 random bytes.
 */
export async function sealSuccessor(
  successor: string,
  predecessor: string,
  serverKey: Uint8Array<ArrayBuffer>,
  iv: Uint8Array<ArrayBuffer>,
): Promise<string> {
  return toBase64Url(await seal(await successorKey(predecessor, serverKey), successor, prefix, iv));
}

/**
 * Decrypts the successor of a refresh token that `sealSuccessor` encrypted; null where it was encrypted for another
 * predecessor or with another server key, or is damaged.
 */
export async function openSuccessor(
  sealed: string,
  predecessor: string,
  serverKey: Uint8Array<ArrayBuffer>,
): Promise<string | null> {
  const bytes = fromBase64Url(sealed);
  return bytes === null ? null : open(await successorKey(predecessor, serverKey), bytes, prefix);
}

async function successorKey(predecessor: string, serverKey: Uint8Array<ArrayBuffer>): Promise<SecretKey> {
  const material = new TextEncoder().encode(predecessor);
  return aesKey(await hkdf(material, serverKey, "svc sealed successor"));
}
