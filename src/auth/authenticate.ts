import { Refusal } from "../http/refusal.js";
import { type AtOnce, whenThere } from "../platform/at-once.js";
import type { Result, Statement } from "../platform/database.js";
import type { AccessClaims, AccessTokens } from "./access-token.js";
import { hashSecret } from "./api-key.js";
import type { Credential } from "./credential.js";
import { anonymous, type Caller } from "./principal.js";
import { apiKeyCheck, schemaVersionCheck, sessionCheck } from "./store/checks.js";

/** What a credential claims, its own signature or form verified; the database has the last word. */
export type Claim =
  | { readonly kind: "anonymous" }
  | { readonly kind: "user"; readonly claims: AccessClaims }
  | { readonly kind: "key"; readonly hash: string };

export const unauthorized = new Refusal("unauthorized", "the credential is malformed, expired or revoked");

export function claimOf(credential: Credential, tokens: AccessTokens, now: number): AtOnce<Claim | Refusal> {
  switch (credential.kind) {
    case "none":
      return { kind: "anonymous" };
    case "malformed":
      return unauthorized;
    case "api_key":
      return whenThere(hashSecret(credential.secret), (hash) => ({ kind: "key", hash }));
    case "access_token":
      return whenThere(tokens.verify(credential.token, now), (claims) =>
        claims === null ? unauthorized : { kind: "user", claims },
      );
  }
}

/** The statement that decides whether the claim holds at this moment. */
export function checkStatement(claim: Claim, now: number): Statement {
  switch (claim.kind) {
    case "anonymous":
      return schemaVersionCheck();
    case "user":
      return sessionCheck(claim.claims.sessionId);
    case "key":
      return apiKeyCheck(claim.hash, now);
  }
}

/** A row of the check: the version of the schema (NULL: none is applied yet), then who calls (NULL: nobody). */
export type CheckedRow = Result["rows"][number];

export function callerOf(claim: Claim, [, id, first, second]: CheckedRow): Caller | Refusal {
  switch (claim.kind) {
    case "anonymous":
      return anonymous;
    case "user": {
      const { userId, email, role, sessionId } = claim.claims;
      // A role that has changed since needs a token that says so.
      const holds = id === userId && first === email && second === role;
      return holds ? { kind: "user", id: userId, email, role, sessionId } : unauthorized;
    }
    case "key":
      return id === null
        ? unauthorized
        : { kind: "key", id: id as string, scopes: JSON.parse(first as string) };
  }
}
