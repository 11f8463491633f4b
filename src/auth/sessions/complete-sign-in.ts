import { withFacts } from "../../http/answer-facts.js";
import type { Statement } from "../../platform/database.js";
import { effect, type Query, run, together } from "../../platform/query.js";
import type { Condition } from "../store/condition.js";
import { openSession, type SessionHolder } from "../store/sessions.js";
import { makeSession, type SessionServices } from "./make-session.js";
import { tokenResponse } from "./token-response.js";

/**
 * What proves who signs in (a password, the link of a mail, or the code of a social sign-in), as parts of the batch
 * that opens the session.
 */
export interface FirstFactor {
  /**
   * Statements that run before those that open the session, in the same batch: they use up the link or the code, create
   * the user, or replace an imported password hash. They take effect even where the condition `holder` then matches
   * nobody.
   */
  readonly before: readonly Statement[];
  /**
   * The condition by which `openSession` finds the user who signs in. It matches nobody where the link or code is used
   * up, or the password was changed since it was checked.
   */
  readonly holder: Condition;
  /** Statements that run last in the batch, whether or not the session was opened. */
  readonly after?: readonly Statement[];
}

/**
 * Completes a sign-in whose first factor (such as a password) is proven by `factor`: opens a session, in one batch, and
 * answers with its tokens. Null where the factor is no longer valid.
 */
export async function completeSignIn(
  services: SessionServices,
  factor: FirstFactor,
  status: 200 | 201,
): Promise<Response | null> {
  const session = await makeSession(services);
  const user = await signIn(services, factor, (holder) => openSession(session, holder));
  if (user === null) return null;
  const response = await tokenResponse(services, user, session, status);
  return withFacts(response, { principal: { kind: "user", id: user.id } });
}

/**
 * Opens a session by the query of `open` (that of `openSession` or `openConsoleSession`), if the first factor,
 * such as a password, is still valid. Every sign-in ends here: login, registration, a mailed link, a provider's code,
 * and that to the console. Returns who has signed in; null where the factor is no longer valid. A second factor, which
 * does not exist yet, would be asked for at this place: for a user who has one, a challenge would be stored and
 * answered instead of opening the session.
 */
export async function signIn(
  { platform }: Pick<SessionServices, "platform">,
  { before, holder, after = [] }: FirstFactor,
  open: (holder: Condition) => Query<SessionHolder | null>,
): Promise<SessionHolder | null> {
  const queries = together(effect(...before), open(holder), effect(...after));
  const [, user] = await run(platform.database, queries);
  return user;
}
