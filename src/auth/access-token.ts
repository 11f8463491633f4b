import { errors, jwtVerify, SignJWT } from "jose";
import type { AtOnce } from "../platform/at-once.js";
import { Memo } from "../platform/memo.js";

/** Claims of an access token (RFC 9068 in spirit: `typ` is `at+jwt`). */
export interface AccessClaims {
  /** `sub` */
  readonly userId: string;
  /** `sid`: the session that the token belongs to. */
  readonly sessionId: string;
  readonly email: string;
  /** A hint: every request checks it against the database. */
  readonly role: string;
}

/** Signs and verifies access tokens under one key. Times are milliseconds since the epoch, lifetimes seconds. */
export interface AccessTokens {
  /** `id` is the token's own, its `jti`. */
  issue(claims: AccessClaims, id: string, now: number, lifetimeSeconds: number): Promise<string>;
  /** Null for a token that is malformed, expired, of another key, algorithm, issuer or type; at once for one that is known. */
  verify(token: string, now: number): AtOnce<AccessClaims | null>;
}

const algorithm = "HS256";
const type = "at+jwt";
const issuer = "svc";
const rememberedMax = 10_000;
/** Of HMAC with SHA-256, in base64url. */
const signatureCharacters = 43;

/** `key` are at least 32 bytes that serve no other purpose. */
export function createAccessTokens(key: Uint8Array): AccessTokens {
  // A signature that was found good stays good; only the clock can end it. By the signature: to hash a whole token takes longer.
  const remembered = new Memo<VerifiedToken & { readonly token: string }>(rememberedMax);
  const signatureOf = (token: string) => token.slice(-signatureCharacters);
  const verifyNew = async (token: string, now: number): Promise<AccessClaims | null> => {
    // jose reads more spellings of one token than one, and each would be remembered.
    if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return null;
    const verified = await verifySignature(token, key, now);
    if (verified === null) return null;
    remembered.set(signatureOf(token), { token, ...verified });
    return verified.claims;
  };
  return {
    issue: ({ userId, sessionId, email, role }, id, now, lifetimeSeconds) => {
      const issuedAt = Math.floor(now / 1000);
      return new SignJWT({ sid: sessionId, email, role })
        .setProtectedHeader({ alg: algorithm, typ: type })
        .setIssuer(issuer)
        .setSubject(userId)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + lifetimeSeconds)
        .setJti(id)
        .sign(key);
    },
    verify: (token, now) => {
      const signature = signatureOf(token);
      const known = remembered.find(signature);
      if (known?.token !== token) return verifyNew(token, now);
      if (now < known.expiresAtMs) return known.claims;
      remembered.delete(signature);
      return null;
    },
  };
}

interface VerifiedToken {
  readonly claims: AccessClaims;
  readonly expiresAtMs: number;
}

async function verifySignature(token: string, key: Uint8Array, now: number): Promise<VerifiedToken | null> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [algorithm],
      typ: type,
      issuer,
      requiredClaims: ["sub", "sid", "email", "role", "exp", "iat"],
      currentDate: new Date(now),
    });
    const { sub, sid, email, role, exp } = payload;
    if (typeof sid !== "string" || typeof email !== "string" || typeof role !== "string") return null;
    return { claims: { userId: sub!, sessionId: sid, email, role }, expiresAtMs: exp! * 1000 };
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}
