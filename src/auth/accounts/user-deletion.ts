import { closeTransaction, forgetUser, openTransaction } from "../../changes/transactions.js";
import { Refusal } from "../../http/refusal.js";
import { ConstraintError, StatementError } from "../../platform/database.js";
import { combined, effect, type Query, together } from "../../platform/query.js";
import { type Caller, idOf } from "../callers/principal.js";
import type { Condition } from "../store/condition.js";
import { deleteUser } from "../store/users.js";

/** The deletion of a user: who is deleted, by whom and when. */
export interface UserDeletion {
  readonly id: string;
  readonly by: Caller;
  /** The time of the deletion, in milliseconds since the epoch. */
  readonly now: number;
  /** A condition on `_users AS u` which the user has to match to be deleted; null where there is no such condition. */
  readonly owner: Condition | null;
}

/**
 * Deletes a user. Rows that refer to the user are deleted, changed or keep the user from being deleted, as their foreign
 * keys say. Returns whether the user was deleted: not where there is no such user, the condition does not hold, or it is
 * the last enabled administrator. `deletionRefusal` makes a refusal of an error of the batch.
 */
export function userDeletion({ id, by, now, owner }: UserDeletion): Query<boolean> {
  // The deletion also changes rows that refer to the user, so it is a transaction of the log of changes.
  const transaction = { at: now, principalKind: by.kind, principalId: idOf(by), attemptId: null };
  const begin = effect(openTransaction(transaction));
  const end = effect(...closeTransaction, forgetUser(id));
  return combined(together(begin, deleteUser(id, owner), end), ([, isDeleted]) => isDeleted);
}

/**
 * Makes the refusal of a user's deletion from the error of its batch, if that failed because of rows which refer to the
 * user; null for any other error.
 */
export function deletionRefusal(error: unknown): Refusal | null {
  if (error instanceof ConstraintError) return refusedBy(error);
  // The statement that deletes the user is itself sound, so the error comes from SQL of the tables that refer to users,
  // such as a trigger.
  return error instanceof StatementError ? notRemovable : null;
}

/**
 * The refusal of a user's deletion that violates a constraint. If a trigger of the project's schema has forbidden it,
 * its message is passed on.
 */
const refusedBy = ({ kind, detail }: ConstraintError): Refusal =>
  kind === "trigger" && detail !== null ? new Refusal("conflict", detail) : stillReferred;
const stillReferred = new Refusal("conflict", "rows of a table still refer to the user: delete those first");
const notRemovable = new Refusal(
  "conflict",
  "rows that refer to the user cannot be changed or removed, as a trigger or a check of theirs fails: see to those first",
);

/** The refusal to delete, demote or disable the only administrator who can sign in. */
export const lastAdmin = new Refusal("conflict", "this is the last enabled admin: make another one first");
