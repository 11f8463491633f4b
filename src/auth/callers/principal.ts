import type { Principal } from "../../http/answer-facts.js";
import type { LongWork } from "../../platform/database.js";
import type { Config } from "../../project/config.js";
import type { AuthValues } from "../../rules/ast.js";

/** Who sends a request, after the database has confirmed the session or the API key. */
export type Caller =
  | { readonly kind: "anonymous" }
  | {
      readonly kind: "user";
      readonly id: string;
      readonly email: string;
      readonly emailVerified: boolean;
      readonly role: string;
      readonly sessionId: string;
      /**
       * The session of the console (the web page for administrators) whose cookie the request has sent; absent where it
       * came with an access token.
       */
      readonly console?: ConsoleSession;
    }
  | { readonly kind: "key"; readonly id: string; readonly scopes: readonly string[] };

/**
 * When a session of the console ends, and until when it counts as confirmed by its user's password; milliseconds since
 * the epoch.
 */
export interface ConsoleSession {
  readonly expiresAtMs: number;
  readonly confirmedUntilMs: number;
}

/** Whoever works with rows: a caller, or an administrator whom the rules of tables do not bind. */
export type Actor = Caller | Administrator;

/**
 * A user with the role `admin` who works with rows under `/admin/api/data`, where the rules of tables do not bind them
 * (`docs/reference/http.md#access-without-rules`). Everywhere else the same person is a caller of the kind `user`.
 */
export interface Administrator {
  readonly kind: "admin";
  readonly id: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly role: string;
  readonly sessionId: string;
}

/** The caller of a request without a credential. */
export const anonymous: Caller = { kind: "anonymous" };

/**
 * A text that identifies the caller: `anonymous`, `user:<id>`, `admin:<id>` or `key:<id>`. A list's cursor is bound to
 * it, so that no other caller can use the cursor.
 */
export function principalOf(caller: Actor): string {
  return caller.kind === "anonymous" ? caller.kind : `${caller.kind}:${caller.id}`;
}

/** The id of the caller, a user or an API key; null for an anonymous caller. */
export function idOf(caller: Actor): string | null {
  return caller.kind === "anonymous" ? null : caller.id;
}

/** The account of a caller, as the log of changes and the request log name it: an administrator is named as a user. */
export function accountOf(caller: Actor): Principal {
  if (caller.kind === "anonymous") return { kind: "anonymous" };
  return { kind: caller.kind === "key" ? "key" : "user", id: caller.id };
}

/**
 * Whether the rules of tables do not bind the caller: an administrator under `/admin/api/data`, or an API key, which
 * may do what its scopes say.
 */
export function isPastRules(caller: Actor): boolean {
  return caller.kind === "key" || caller.kind === "admin";
}

/**
 * What the database has to know of statements that may take long: for whom they are run, and after how many
 * milliseconds they are stopped (`docs/reference/limits.md#long-work`). `takenMs` is how long the request has taken
 * already. `address` is the client's.
 */
export function longWorkFor(caller: Actor, api: Config["api"], takenMs = 0, address?: string): LongWork {
  const isKey = caller.kind === "key";
  const withinMs = Math.max(0, (isKey ? api.key_deadline_ms : api.deadline_ms) - takenMs);
  const who = { principal: principalOf(caller), isKey, withinMs };
  return address === undefined ? who : { ...who, address };
}

/**
 * The values of `auth.id`, `auth.email` and so on in rules. They are null for anonymous callers, and for API keys,
 * because a key's scopes alone decide what it may do.
 */
export function authValues(caller: Actor): AuthValues {
  return caller.kind === "user" || caller.kind === "admin"
    ? { id: caller.id, email: caller.email, email_verified: caller.emailVerified, role: caller.role }
    : { id: null, email: null, email_verified: null, role: null };
}

/** Whether an API key with these scopes may run an operation. The legacy scope `operations:*` grants nothing. */
export function permitsOperation(scopes: readonly string[], operation: string): boolean {
  return scopes.includes("project:backend") || scopes.includes(`operation:${operation}`);
}

/**
 * Whether an API key with these scopes may read or write a table. The legacy scopes `*` and `operations:…` grant
 * nothing.
 */
export function permits(scopes: readonly string[], table: string, access: "read" | "write"): boolean {
  return scopes.includes("project:backend") || scopes.includes(`resource:${table}:${access}`);
}
