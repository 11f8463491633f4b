import { errors, jwtVerify, SignJWT } from "jose";
import { fromBase64Url } from "../../encoding/base64.js";
import { type Keyring, underEither } from "../../encoding/keyring.js";
import type { AtOnce } from "../../platform/at-once.js";
import { Memo } from "../../platform/memo.js";

/**
 * What an access token says (its claims). The token's header has the `typ` `at+jwt` (RFC 9068), but not all claims of
 * that RFC are there.
 */
export interface AccessClaims {
  /** The claim `sub`: the id of the user. */
  readonly userId: string;
  /** The claim `sid`: the session that the token belongs to. */
  readonly sessionId: string;
  readonly email: string;
  /**
   * The user's role when the token was issued. Each request compares it with the role in the database, and refuses the
   * token where they differ.
   */
  readonly role: string;
}

/**
 * Signs access tokens under the key of the current secret, and verifies them under that key or the one of the previous
 * secret. Times are milliseconds since the epoch, lifetimes are seconds.
 */
export interface AccessTokens {
  /** Makes a signed token with these claims; `id` becomes its `jti`. */
  issue(claims: AccessClaims, id: string, now: number, lifetimeSeconds: number): Promise<string>;
  /**
   * The claims of a token. Null where the token is malformed or expired, is signed by neither key, or has another
   * algorithm, issuer or type. The answer comes without a promise where the token was verified before.
   */
  verify(token: string, now: number): AtOnce<AccessClaims | null>;
}

const algorithm = "HS256";
const type = "at+jwt";
const issuer = "svc";
const rememberedBytesMax = 8_388_608;
/** The length of an HMAC-SHA-256 signature (32 bytes) in base64url. */
const signatureCharacters = 43;

/**
 * Makes the `AccessTokens` that sign and verify with these keys. Each key is at least 32 bytes long and serves no other
 * purpose.
 */
export function createAccessTokens(keys: Keyring<Uint8Array>): AccessTokens {
  // A signature that was verified stays valid, so verified tokens are kept in a cache, and only the expiry of a cached
  // token is checked. The key of the cache is the signature, because hashing the whole token takes longer; the whole
  // token is then compared.
  const remembered = new Memo<VerifiedToken & { readonly token: string }>(rememberedBytesMax, {
    weigh: (_, { token }) => 2 * token.length,
  });
  const signatureOf = (token: string) => token.slice(-signatureCharacters);
  const verifyNew = async (token: string, now: number): Promise<AccessClaims | null> => {
    // A token that is spelled in another way, such as with padding, is refused, although the JWT library (jose) would
    // accept it: each spelling of the same token would take a place in the cache.
    if (token.split(".").some((part) => fromBase64Url(part) === null)) return null;
    const verified = await underEither(keys, (key) => verifySignature(token, key, now));
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
        .sign(keys.current);
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
