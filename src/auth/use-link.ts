import { isRefusal, Refusal } from "../http/refusal.js";
import { completeSignIn } from "./complete-sign-in.js";
import type { AuthContext } from "./context.js";
import type { LinkPurpose } from "./links.js";
import { newId } from "./new-id.js";
import { passwordProblem } from "./passwords.js";
import { consumeLink, type LinkUse, liveLink, userOfLink } from "./store/links.js";

/** A request to use a mailed link. */
export interface LinkOpening {
  readonly purpose: LinkPurpose;
  readonly token: string;
  /** The password to set; null where the purpose sets none. */
  readonly password: string | null;
}

/**
 * Uses a link: confirms the address and sets the password that came with the request. Refuses with `invalid_token`
 * where the link is not live, and a password that is not acceptable, which leaves the link unused.
 */
export async function useLink(
  context: AuthContext,
  opening: LinkOpening,
): Promise<{ readonly redirectTo: string | null; readonly userId: string } | Refusal> {
  const use = await prepareUse(context, opening);
  if (isRefusal(use)) return use;
  const [consumed] = await context.platform.database.batch(consumeLink(use));
  const [row] = consumed!.rows;
  return row === undefined ? invalidToken : { redirectTo: row[0] as string | null, userId: row[1] as string };
}

/** As `useLink`, but also signs the user in and responds with their tokens. */
export async function signInByLink(context: AuthContext, opening: LinkOpening): Promise<Response | Refusal> {
  const use = await prepareUse(context, opening);
  if (isRefusal(use)) return use;
  const factor = { before: consumeLink(use), holder: userOfLink(use) };
  return (await completeSignIn(context, factor, 200)) ?? invalidToken;
}

async function prepareUse(
  context: AuthContext,
  { purpose, token, password }: LinkOpening,
): Promise<LinkUse | Refusal> {
  const hash = await context.linkTokens.hashOf(token);
  const passwordHash = password === null ? null : await hashFor(context, { hash, purpose, password });
  if (isRefusal(passwordHash)) return passwordHash;
  return { hash, purpose, passwordHash, usedBy: newId(context), now: context.platform.clock.now() };
}

const invalidToken = new Refusal(
  "invalid_token",
  "the link is unknown, used, expired, replaced by a newer one, or for something else",
);

/**
 * Hashes the password, after checking that it is acceptable and that the link is live: tokens that open nothing cost
 * no hash, and a weak password does not use the link up.
 */
async function hashFor(
  { platform, config }: AuthContext,
  {
    hash,
    purpose,
    password,
  }: { readonly hash: string; readonly purpose: LinkPurpose; readonly password: string },
): Promise<string | Refusal> {
  const problem = passwordProblem(password, config.auth.password_min_length);
  if (problem !== null) return problem;
  const [found] = await platform.database.query([liveLink(hash, purpose, platform.clock.now())]);
  return found!.rows.length === 0 ? invalidToken : platform.passwordHasher.hash(password);
}
