import { tell } from "../http/answer-facts.js";
import type { Statement } from "../platform/database.js";
import type { AuthContext } from "./context.js";
import { makeSession } from "./make-session.js";
import type { Condition } from "./store/condition.js";
import { openSession } from "./store/sessions.js";
import { type PublicUser, tokenResponse } from "./token-response.js";

/** What somebody signs in with: a password, the link of a mail, or the code of a social sign-in. */
export interface FirstFactor {
  /**
   * Statements that run before those that open the session, in the same batch: they use up the link or the code, create
   * the user, or replace an imported password hash. They take effect even where the condition `holder` then matches
   * nobody.
   */
  readonly before: readonly Statement[];
  /**
   * The condition by which `openSession` finds the user who signs in. It matches nobody where the link or code is used
   * up, or the password is no longer this one.
   */
  readonly holder: Condition;
  /** Statements that run last in the batch, whether or not the session was opened. */
  readonly after?: readonly Statement[];
}

/**
 * Checks a first factor (such as a password) and opens a session with tokens, in one batch. Null where the factor is no
 * longer valid.
 */
export async function completeSignIn(
  context: AuthContext,
  factor: FirstFactor,
  status: 200 | 201,
): Promise<Response | null> {
  const session = await makeSession(context);
  const user = await signIn(context, factor, (holder) => openSession(session, holder));
  if (user === null) return null;
  const response = await tokenResponse(context, user, session, status);
  return tell(response, { principal: { kind: "user", id: user.id } });
}

/**
 * Checks a first factor (such as a password) and opens a session by the statements of `open`, which are those of
 * `openSession` or `openConsoleSession`. Every sign-in ends here: login, registration, a mailed link, a provider's
 * code, and the console's. Returns who has signed in; null where the factor is no longer valid. This is where a second
 * factor would be asked for: as one more outcome. The session would be opened only for users without a second factor
 * and a challenge stored for all others, and the answer would be that challenge instead of tokens.
 */
export async function signIn(
  { platform }: AuthContext,
  { before, holder, after = [] }: FirstFactor,
  open: (holder: Condition) => readonly Statement[],
): Promise<PublicUser | null> {
  const results = await platform.database.batch([...before, ...open(holder), ...after]);
  const [row] = results[before.length]!.rows;
  if (row === undefined) return null;
  const [id, email, role] = row as [string, string, string];
  return { id, email, role };
}
