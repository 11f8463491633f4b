import { hashSecret } from "../../encoding/hash-secret.js";
import { Refusal } from "../../http/refusal.js";
import { type AtOnce, whenThere } from "../../platform/at-once.js";
import type { Result, Statement } from "../../platform/database.js";
import type { AccessClaims, AccessTokens } from "../sessions/access-token.js";
import {
  apiKeyCheck,
  besideKey,
  besideUser,
  consoleCheck,
  schemaVersionCheck,
  sessionCheck,
} from "../store/checks.js";
import type { Credential } from "./credential.js";
import { anonymous, type Caller } from "./principal.js";

/**
 * Who sends a request, according to its credential. The signature of an access token, or the form of an API key, was
 * verified already. Whether the session or the key still exists is what `checkStatement` asks the database.
 */
export type Claim =
  | { readonly kind: "anonymous" }
  | { readonly kind: "user"; readonly claims: AccessClaims }
  | { readonly kind: "key"; readonly hash: string }
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
export type NamedCaller =
  | { readonly kind: "anonymous" }
  | { readonly kind: "user" | "key"; readonly id: string };

/** The refusal, 401, of every credential that is not accepted. */
export const unauthorized = new Refusal("unauthorized", "the credential is malformed, expired or revoked");

/**
 * Finds out whom a credential names, at the time `now` (milliseconds since the epoch). Refuses malformed credentials,
 * and access tokens that do not verify. Returns a promise only where a hash or a signature has to be computed.
 */
export function claimOf(
  credential: Credential,
  tokens: AccessTokens,
  now: number,
): AtOnce<ClaimAs["by"] | Refusal> {
  switch (credential.kind) {
    case "none":
      return { kind: "anonymous" };
    case "malformed":
      return unauthorized;
    case "api_key":
      return whenThere(hashSecret(credential.secret), (hash) => ({ kind: "key", hash }));
    case "console_token":
      return whenThere(hashSecret(credential.token), (hash) => ({ kind: "console", hash }));
    case "access_token":
      return whenThere(tokens.verify(credential.token, now), (claims) =>
        claims === null ? unauthorized : { kind: "user", claims },
      );
  }
}

/**
 * The statement that asks the database whether the session or API key behind a claim (what a credential says of its
 * sender) is valid at the time `now` (milliseconds since the epoch), where sessions last `sessionMaxAgeMs`. It returns
 * one `CheckedRow`.
 */
export function checkStatement(claim: Claim, now: number, sessionMaxAgeMs: number): Statement {
  switch (claim.kind) {
    case "anonymous":
      return schemaVersionCheck();
    case "user":
      return sessionCheck(claim.claims.sessionId, now - sessionMaxAgeMs);
    case "key":
      return apiKeyCheck(claim.hash, now);
    case "console":
      return consoleCheck(claim.hash, now, now - sessionMaxAgeMs);
    case "as": {
      const { by, as } = claim;
      const check = checkStatement(by, now, sessionMaxAgeMs);
      if (as.kind === "anonymous") return check;
      return as.kind === "user"
        ? besideUser(check, checkedLengths[by.kind], as.id)
        : besideKey(check, checkedLengths[by.kind], as.id, now);
    }
  }
}

/**
 * How many columns the statement of `checkStatement` returns for each kind of claim, without those that it adds for the
 * caller whom the header `Svc-As` names.
 */
const checkedLengths: Readonly<Record<ClaimAs["by"]["kind"], number>> = {
  anonymous: 1,
  user: 5,
  key: 3,
  console: 8,
};

/**
 * The row that `checkStatement` returns: first the version of the schema in force (NULL where no schema was applied
 * yet), then the columns of the user or the API key (NULL where the credential is not valid any more).
 */
export type CheckedRow = Result["rows"][number];

/**
 * The caller of a request, where the row of `checkStatement` confirms what the credential has claimed; otherwise the
 * refusal `unauthorized`.
 */
export function callerOf(claim: Claim, row: CheckedRow): Caller | Refusal {
  const [, id, first, second, third] = row;
  switch (claim.kind) {
    case "as":
      return callerOf(claim.by, row);
    case "anonymous":
      return anonymous;
    case "user": {
      const { userId, email, role, sessionId } = claim.claims;
      // An access token is not accepted any more where the user's email or role has changed since it was issued: the
      // client has to refresh it.
      const holds = id === userId && first === email && second === role;
      if (!holds) return unauthorized;
      return { kind: "user", id: userId, email, emailVerified: third === 1, role, sessionId };
    }
    case "key":
      return id === null
        ? unauthorized
        : { kind: "key", id: id as string, scopes: JSON.parse(first as string) };
    case "console":
      return id === null ? unauthorized : consoleCaller(row);
  }
}

function consoleCaller(row: CheckedRow): Caller {
  const [, id, email, role, verified, sessionId, expiresAtMs, confirmedUntilMs] = row as readonly [
    version: number | null,
    id: string,
    email: string,
    role: string,
    verified: number,
    sessionId: string,
    expiresAtMs: number,
    confirmedUntilMs: number,
  ];
  const emailVerified = verified === 1;
  return {
    kind: "user",
    id,
    email,
    emailVerified,
    role,
    sessionId,
    console: { expiresAtMs, confirmedUntilMs },
  };
}

/**
 * The caller as whom an administrator wants to see the data (`Svc-As`), taken from the row of `checkStatement`. Returns
 * the refusal that this caller would get, such as 401 for a disabled user; 404 where there is no such caller.
 */
export function seenAs({ by, as }: ClaimAs, row: CheckedRow): Caller | Refusal {
  if (as.kind === "anonymous") return anonymous;
  const [id, ...found] = row.slice(checkedLengths[by.kind]);
  if (id === null) return as.kind === "user" ? noSuchUser : noSuchKey;
  if (as.kind === "key") {
    const [scopes, isAlive] = found;
    return isAlive === 1 ? { kind: "key", id: as.id, scopes: JSON.parse(scopes as string) } : unauthorized;
  }
  const [email, role, verified, isDisabled] = found;
  if (isDisabled === 1) return unauthorized;
  // The session id is empty: the administrator sees the data as this user would, but has no session of the user's.
  const named = { id: as.id, email: email as string, role: role as string, sessionId: "" };
  return { kind: "user", ...named, emailVerified: verified === 1 };
}

const noSuchUser = new Refusal("not_found", "Svc-As: no such user");
const noSuchKey = new Refusal("not_found", "Svc-As: no such key");
