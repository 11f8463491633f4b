import { fromBase64Url, toBase64Url } from "../encoding/base64.js";
import { aesKey, hkdf, open, type SecretKey, seal } from "../encoding/secret-keys.js";

/**
 * What the database says of a presented refresh token after the batch of `rotateRefreshToken`. Times are milliseconds
 * since the epoch.
 */
export interface TokenFacts {
  readonly usedAtMs: number | null;
  readonly sealedSuccessor: string | null;
  readonly sessionId: string;
  /** Whether the token's session was revoked or is over its maximum age. */
  readonly sessionEnded: boolean;
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly role: string;
    readonly disabled: boolean;
  };
}

/** How a refresh (the exchange of a refresh token for new tokens) is answered. */
export type RotationVerdict =
  /**
   * This request was the first to use the token, so its answer has the successor (the new token) that it has offered
   * and that was stored.
   */
  | { readonly kind: "issue"; readonly facts: TokenFacts }
  /**
   * The token was used before, within the grace window: the answer has the same successor as then, which is given here
   * encrypted.
   */
  | { readonly kind: "replay"; readonly facts: TokenFacts; readonly sealedSuccessor: string }
  | { readonly kind: "reject" };

/**
 * Decides how a refresh is answered (docs/reference/auth.md#rotation-and-its-grace-window). `facts` are null for a
 * token that is not stored. `sealedSuccessor` is the encrypted new token that this request offered; it is stored with
 * the old one exactly if this request was the one to use it up. `now` and `graceMs` are milliseconds.
 */
export function judgeRotation(
  facts: TokenFacts | null,
  sealedSuccessor: string,
  now: number,
  graceMs: number,
): RotationVerdict {
  // A token that is not stored is unknown, or an old one that was deleted. If it is an old token of a live session, the
  // batch has ended that session.
  if (facts === null) return reject;
  const { usedAtMs, sessionEnded, user } = facts;
  // A token that came back after its grace window is refused here: the batch has ended its session.
  if (user.disabled || sessionEnded) return reject;
  if (facts.sealedSuccessor === sealedSuccessor) return { kind: "issue", facts };
  // A token that is not marked as used, and yet was not used up by this request, has expired. One that is used and has
  // no successor came back so late that its successor has been erased.
  if (usedAtMs === null || facts.sealedSuccessor === null) return reject;
  // This server's clock is behind the time of the token's first use by more than the grace window, so it cannot tell
  // whether the window is still open.
  if (usedAtMs - now > graceMs) return reject;
  return { kind: "replay", facts, sealedSuccessor: facts.sealedSuccessor };
}

const reject: RotationVerdict = { kind: "reject" };

const prefix = "svc_rt_";
/** How many random bytes `newRefreshToken` takes. */
export const refreshTokenRandomBytes = 32;
const wellFormed = /^svc_rt_[\w-]{43}$/;
/**
 * How many characters the family has, with which all refresh tokens of one session begin. That is 126 bits, and the
 * other 22 characters have 130, so neither part can be guessed.
 */
const familyCharacters = 21;

/**
 * Makes a refresh token from `refreshTokenRandomBytes` random bytes. The database stores only its hash. A successor
 * begins with the family of its predecessor (`familyOf`), and is random otherwise.
 */
export function newRefreshToken(random: Uint8Array, family = ""): string {
  const characters = toBase64Url(random.subarray(0, refreshTokenRandomBytes));
  return prefix + family + characters.slice(family.length);
}

/**
 * The family of a refresh token: the characters behind `svc_rt_` that all tokens of one session share and only their
 * holders know; null where the text is no refresh token. Used tokens are not stored for long: a token that is not
 * stored and has the family of a live session is an old one (docs/reference/auth.md#rotation-and-its-grace-window). The
 * database stores only the family's hash.
 */
export function familyOf(token: string): string | null {
  return wellFormed.test(token) ? token.slice(prefix.length, prefix.length + familyCharacters) : null;
}

/**
 * Encrypts the successor of a refresh token, so that the same answer can be given again. The key is derived from both
 * the server's key and the predecessor, so that neither a dump of the database nor the server's secret alone can
 * decrypt it. `iv` is 12 random bytes.
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
