import { fromBase64Url, toBase64Url } from "../encoding/base64.js";
import { aesKey, hkdf, open, type SecretKey, seal } from "../encoding/secret-keys.js";

/** What the database says of a presented refresh token after `rotateRefreshToken` has run. Times in milliseconds. */
export interface TokenFacts {
  readonly usedAtMs: number | null;
  /** The time as the token's family knows it: never before any of its events. */
  readonly familyTimeMs: number;
  readonly sealedSuccessor: string | null;
  readonly sessionId: string;
  readonly sessionRevoked: boolean;
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly role: string;
    readonly disabled: boolean;
  };
}

export type RotationVerdict =
  /** The token was consumed just now: our successor is the one. */
  | { readonly kind: "issue"; readonly facts: TokenFacts }
  /** It was consumed within the grace window: the same successor again. */
  | { readonly kind: "replay"; readonly facts: TokenFacts; readonly sealedSuccessor: string }
  | { readonly kind: "reject" };

/**
 * Decides a refresh from what its batch reports. `sealedSuccessor` is the one that this request offered; it is found
 * in the row exactly if this request consumed the token. `now` and `graceMs` are milliseconds.
 */
export function judgeRotation(
  facts: TokenFacts | null,
  sealedSuccessor: string,
  now: number,
  graceMs: number,
): RotationVerdict {
  if (facts === null) return reject;
  const { usedAtMs, familyTimeMs, sessionRevoked, user } = facts;
  if (user.disabled || sessionRevoked) return reject;
  if (facts.sealedSuccessor === sealedSuccessor) return { kind: "issue", facts };
  // Not used: it has expired. Used without a successor: that was erased when the window had closed.
  if (usedAtMs === null || facts.sealedSuccessor === null) return reject;
  const isClosed = familyTimeMs - usedAtMs > graceMs;
  // By a clock that far behind nobody can tell whether the window is still open.
  const isClockBehind = usedAtMs - now > graceMs;
  if (isClosed || isClockBehind) return reject;
  return { kind: "replay", facts, sealedSuccessor: facts.sealedSuccessor };
}

const reject: RotationVerdict = { kind: "reject" };

const prefix = "svc_rt_";
export const refreshTokenRandomBytes = 32;

export function newRefreshToken(random: Uint8Array): string {
  return prefix + toBase64Url(random.subarray(0, refreshTokenRandomBytes));
}

/**
 * The successor, sealed under a key of the server's secret and the predecessor together: a dump of the database opens
 * nothing, and neither does the secret alone. `iv` are 12 random bytes.
 */
export async function sealSuccessor(
  successor: string,
  predecessor: string,
  serverKey: Uint8Array<ArrayBuffer>,
  iv: Uint8Array<ArrayBuffer>,
): Promise<string> {
  return toBase64Url(await seal(await successorKey(predecessor, serverKey), successor, prefix, iv));
}

/** Null where the predecessor is not the one. */
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
