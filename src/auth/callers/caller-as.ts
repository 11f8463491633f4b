import { Refusal } from "../../http/refusal.js";
import type { Statements } from "../../platform/database.js";
import { ask } from "../../platform/query.js";
import { emailKey } from "../email.js";
import { serviceKeyById } from "../store/service-keys.js";
import { accountById, userByEmail } from "../store/users.js";
import { anonymous, type Caller } from "./principal.js";

/**
 * How an administrator names a caller, to see what that caller may do: the anonymous one, a user by id or email
 * address, or an API key by its id.
 */
export type CallerName =
  | { readonly kind: "anonymous" }
  | { readonly kind: "user"; readonly by: "id" | "email"; readonly value: string }
  | { readonly kind: "key"; readonly id: string };

/** The caller whom an administrator has named, as `callerAs` finds them in the database. */
export interface FoundCaller {
  readonly caller: Caller;
  /**
   * Why every request of this caller is refused, such as that the account is disabled; null where requests are
   * accepted.
   */
  readonly shutOut: string | null;
}

/**
 * Finds the caller whom an administrator names, with the data that a request of that caller would have. Refuses with
 * `not_found` where the database has no such user or key. `nowMs` is the time in milliseconds since the epoch.
 */
export async function callerAs(
  database: Pick<Statements, "query">,
  named: CallerName,
  nowMs: number,
): Promise<FoundCaller | Refusal> {
  switch (named.kind) {
    case "anonymous":
      return { caller: anonymous, shutOut: null };
    case "user":
      return userAs(database, named.by, named.value);
    case "key":
      return keyAs(database, named.id, nowMs);
  }
}

async function userAs(
  database: Pick<Statements, "query">,
  by: "id" | "email",
  value: string,
): Promise<FoundCaller | Refusal> {
  const found = await ask(database, by === "id" ? accountById(value) : userByEmail(emailKey(value)));
  if (found === null) return new Refusal("not_found", "there is no such user");
  const { id, email, role, disabled, emailVerified } = found;
  return {
    caller: { kind: "user", id, email, role, emailVerified, sessionId: "" },
    shutOut: disabled ? "the user is disabled" : null,
  };
}

async function keyAs(database: Pick<Statements, "query">, id: string, nowMs: number): Promise<FoundCaller | Refusal> {
  const found = await ask(database, serviceKeyById(id, nowMs));
  if (found === null) return new Refusal("not_found", "there is no such key");
  const { scopes, isRevoked, isExpired } = found;
  return {
    caller: { kind: "key", id, scopes },
    shutOut: isRevoked ? "the key is revoked" : isExpired ? "the key has expired" : null,
  };
}
