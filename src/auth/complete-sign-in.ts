import { tell } from "../http/answer-facts.js";
import type { Statement } from "../platform/database.js";
import type { AuthContext } from "./context.js";
import { type MadeSession, makeSession } from "./make-session.js";
import type { Condition } from "./store/condition.js";
import { openSession } from "./store/sessions.js";
import { type PublicUser, tokenResponse } from "./token-response.js";

/** What somebody signs in with: a password, the link of a mail, or the code of a provider's sign-in. */
export interface FirstFactor {
  /**
   * Statements that run before those that open the session, in the same batch: they use up the link or the code, create
   * the user, or replace an imported password hash. They take effect even where `holder` then matches nobody.
   */
  readonly before: readonly Statement[];
  /**
   * The condition by which `openSession` finds the user who signs in. It matches nobody where the factor does not hold
   * any more.
   */
  readonly holder: Condition;
  /** Statements that run last, whether or not the session was opened. */
  readonly after?: readonly Statement[];
}

/**
 * Checks a first factor and opens a session with tokens, in one batch. Every sign-in ends here: login, registration, a
 * mailed link and a provider's code. Null where the factor does not hold any more.
 *
 * This is where a second factor would be asked for: as one more outcome of `SignIn`. `signIn` would open the session
 * only for users without a second factor and store a challenge for all others, and the answer would be that challenge
 * instead of tokens.
 */
export async function completeSignIn(
  context: AuthContext,
  factor: FirstFactor,
  status: 200 | 201,
): Promise<Response | null> {
  const result = await signIn(context, factor);
  switch (result.outcome) {
    case "signed_in": {
      const { user, session } = result;
      const response = await tokenResponse(context, user, session, status);
      return tell(response, { principal: { kind: "user", id: user.id } });
    }
    case "factor_void":
      return null;
  }
}

type SignIn =
  | { readonly outcome: "signed_in"; readonly user: PublicUser; readonly session: MadeSession }
  | { readonly outcome: "factor_void" };

async function signIn(context: AuthContext, { before, holder, after = [] }: FirstFactor): Promise<SignIn> {
  const session = await makeSession(context);
  const results = await context.platform.database.batch([
    ...before,
    ...openSession(session, holder),
    ...after,
  ]);
  const [row] = results[before.length]!.rows;
  if (row === undefined) return { outcome: "factor_void" };
  const [id, email, role] = row as [string, string, string];
  return { outcome: "signed_in", user: { id, email, role }, session };
}
