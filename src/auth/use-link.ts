import { isRefusal, Refusal } from "../http/refusal.js";
import { completeSignIn } from "./complete-sign-in.js";
import type { AuthContext } from "./context.js";
import type { LinkPurpose } from "./links.js";
import { passwordProblem } from "./passwords.js";
import { newId } from "./sessions.js";
import { consumeLink, type LinkUse, liveLink, userOfLink } from "./store/links.js";

export interface LinkOpening {
  readonly purpose: LinkPurpose;
  readonly token: string;
  /** Null where the purpose asks for none. */
  readonly password: string | null;
}

/** Consumes a link for what it is for: the address is confirmed, and a password that comes with it is set. */
export async function useLink(
  context: AuthContext,
  opening: LinkOpening,
): Promise<{ readonly redirectTo: string | null } | Refusal> {
  const use = await prepareUse(context, opening);
  if (isRefusal(use)) return use;
  const [consumed] = await context.platform.database.batch(consumeLink(use));
  const [row] = consumed!.rows;
  return row === undefined ? invalidToken : { redirectTo: row[0] as string | null };
}

/** The same, and signs the user in: the answer has their tokens. */
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

/** No hash is run for a token that opens nothing, and a password that is too weak uses no link up. */
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
