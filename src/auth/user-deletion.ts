import { closeTransaction, forgetUser, openTransaction } from "../changes/transactions.js";
import { Refusal } from "../http/refusal.js";
import { ConstraintError, type Statement, StatementError } from "../platform/database.js";
import { type Caller, idOf } from "./principal.js";
import type { Condition } from "./store/condition.js";
import { deleteUser } from "./store/users.js";

/** The deletion of a user: who is deleted, by whom and when. */
export interface UserDeletion {
  readonly id: string;
  readonly by: Caller;
  /** The time of the deletion, in milliseconds since the epoch. */
  readonly now: number;
  /** A condition on the columns of `_users AS u`, which has to match the user; null where there is no condition. */
  readonly owner: Condition | null;
}

/**
 * Makes the statements that delete a user, and do to rows that refer to the user what their foreign keys say. The
 * second one returns the id; no row where there is no such user, the condition does not hold, or it is the last enabled
 * administrator. An error that the batch throws is judged by `deletionRefusal`.
 */
export function userDeletion({ id, by, now, owner }: UserDeletion): readonly Statement[] {
  // A transaction of the log of changes is opened, because rows that refer to the user are changed with it.
  const transaction = { at: now, principalKind: by.kind, principalId: idOf(by), attemptId: null };
  return [openTransaction(transaction), deleteUser(id, owner), ...closeTransaction, forgetUser(id)];
}

/**
 * The refusal of a user's deletion that has failed because of rows which refer to the user; null for any other error.
 */
export function deletionRefusal(error: unknown): Refusal | null {
  if (error instanceof ConstraintError) return refusedBy(error);
  // The statement that deletes the user is sound, so the error is in SQL of the tables that refer to users, such as a
  // trigger.
  return error instanceof StatementError ? notRemovable : null;
}

/**
 * The refusal of a user's deletion that violates a constraint. A trigger of the schema's says in its own words why the
 * user has to stay.
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
