import { hashSecret } from "../../encoding/hash-secret.js";
import { Refusal } from "../../http/refusal.js";
import { type AtOnce, whenThere } from "../../platform/at-once.js";
import type { AccessClaims, AccessTokens } from "../sessions/access-token.js";
import {
  anonymousCheck,
  apiKeyCheck,
  type Check,
  type CheckedRow,
  checkedKey,
  consoleCheck,
  consoleIn,
  lookedUpKey,
  lookedUpUser,
  sessionCheck,
  userIn,
  withKeyLookUp,
  withUserLookUp,
} from "../store/checks.js";
import type { Credential } from "./credential.js";
import { anonymous, type Caller } from "./principal.js";
import type { ProcessKey, ProcessKeys } from "./process-keys.js";

/**
 * Who sends a request, according to its credential. The signature of an access token, or the form of an API key, was
 * verified already. Whether the session or the key still exists is what `checkOf` asks the database.
 */
export type Claim =
  | { readonly kind: "anonymous" }
  | { readonly kind: "user"; readonly claims: AccessClaims }
  | { readonly kind: "key"; readonly hash: string }
  | { readonly kind: "process_key"; readonly key: ProcessKey }
  /** A session of the console (the web page for administrators), by the hash of its token. */
  | { readonly kind: "console"; readonly hash: string }
  | ClaimAs;

/**
 * Who sends a request with the header `Svc-As`, by which an administrator sees the data as another caller would: the
 * sender's own claim, and the other caller.
 */
export interface ClaimAs {
  readonly kind: "as";
  readonly by: Exclude<Claim, ClaimAs>;
  readonly as: NamedCaller;
}

/** A caller whom the header `Svc-As` of an administrator's request names. */
export type NamedCaller = { readonly kind: "anonymous" } | { readonly kind: "user" | "key"; readonly id: string };

/** The refusal, 401, of every credential that is not accepted. */
export const unauthorized = new Refusal("unauthorized", "the credential is malformed, expired or revoked");

/**
 * Finds out whom a credential names, at the time `now` (milliseconds since the epoch). Refuses malformed credentials,
 * and access tokens that do not verify. Returns a promise only where a hash or a signature has to be computed.
 */
export function claimOf(
  credential: Credential,
  { tokens, processKeys }: { readonly tokens: AccessTokens; readonly processKeys: ProcessKeys },
  now: number,
): AtOnce<ClaimAs["by"] | Refusal> {
  switch (credential.kind) {
    case "none":
      return { kind: "anonymous" };
    case "malformed":
      return unauthorized;
    case "api_key":
      return whenThere(hashSecret(credential.secret), (hash) => {
        const key = processKeys.find(hash);
        return key === undefined ? { kind: "key", hash } : { kind: "process_key", key };
      });
    case "console_token":
      return whenThere(hashSecret(credential.token), (hash) => ({ kind: "console", hash }));
    case "access_token":
      return whenThere(tokens.verify(credential.token, now), (claims) =>
        claims === null ? unauthorized : { kind: "user", claims },
      );
  }
}

/**
 * The check that asks the database whether the session or API key behind a claim (what a credential says of its sender)
 * is valid at the time `now` (milliseconds since the epoch), where sessions last `sessionMaxAgeMs`.
 */
export function checkOf(claim: Claim, now: number, sessionMaxAgeMs: number): Check {
  switch (claim.kind) {
    case "anonymous":
    case "process_key":
      return anonymousCheck();
    case "user":
      return sessionCheck(claim.claims.sessionId, now - sessionMaxAgeMs);
    case "key":
      return apiKeyCheck(claim.hash, now);
    case "console":
      return consoleCheck(claim.hash, now, now - sessionMaxAgeMs);
    case "as": {
      const { by, as } = claim;
      const check = checkOf(by, now, sessionMaxAgeMs);
      if (as.kind === "anonymous") return check;
      return as.kind === "user" ? withUserLookUp(check, as.id) : withKeyLookUp(check, as.id, now);
    }
  }
}

/**
 * The caller of a request, where the row of its check confirms what the credential has claimed; otherwise the refusal
 * `unauthorized`.
 */
export function callerOf(claim: Claim, row: CheckedRow): Caller | Refusal {
  switch (claim.kind) {
    case "as":
      return callerOf(claim.by, row);
    case "anonymous":
      return anonymous;
    case "process_key":
      return { kind: "key", ...claim.key };
    case "user": {
      const { userId, email, role, sessionId } = claim.claims;
      const user = userIn(row);
      // An access token is not accepted any more where the user's email or role has changed since it was issued: the
      // client has to refresh it.
      const holds = user?.id === userId && user.email === email && user.role === role;
      return holds ? { kind: "user", ...user, sessionId } : unauthorized;
    }
    case "key": {
      const key = checkedKey(row);
      return key === null ? unauthorized : { kind: "key", ...key };
    }
    case "console": {
      const session = consoleIn(row);
      return session === null ? unauthorized : { kind: "user", ...session };
    }
  }
}

/**
 * The caller as whom an administrator wants to see the data (`Svc-As`), taken from the row of the check. Returns the
 * refusal that this caller would get, such as 401 for a disabled user; 404 where there is no such caller.
 */
export function seenAs({ as }: ClaimAs, row: CheckedRow): Caller | Refusal {
  if (as.kind === "anonymous") return anonymous;
  if (as.kind === "key") {
    const found = lookedUpKey(row);
    if (found === null) return noSuchKey;
    return found.isValid ? { kind: "key", id: found.id, scopes: found.scopes } : unauthorized;
  }
  const found = lookedUpUser(row);
  if (found === null) return noSuchUser;
  const { disabled, ...user } = found;
  // The session id is empty: the administrator sees the data as this user would, but has no session of the user's.
  return disabled ? unauthorized : { kind: "user", ...user, sessionId: "" };
}

const noSuchUser = new Refusal("not_found", "Svc-As: no such user");
const noSuchKey = new Refusal("not_found", "Svc-As: no such key");
