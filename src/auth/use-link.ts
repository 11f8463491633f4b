import { isRefusal, Refusal } from "../http/refusal.js";
import type { Result, Statement } from "../platform/database.js";
import type { AuthContext } from "./context.js";
import type { LinkPurpose } from "./links.js";
import { passwordProblem } from "./passwords.js";
import { type NewlyMadeSession, newId, newSession } from "./sessions.js";
import { consumeLink, liveLink } from "./store/links.js";
import { openSessionByLink } from "./store/sessions.js";
import type { PublicUser } from "./token-response.js";

export interface LinkOpening {
  readonly purpose: LinkPurpose;
  readonly token: string;
  /** Null where the purpose asks for none. */
  readonly password: string | null;
}

export interface UsedLink {
  readonly user: PublicUser;
  readonly redirectTo: string | null;
}

/** Consumes a link for what it is for: the address is confirmed, and a password that comes with it is set. */
export async function useLink(context: AuthContext, opening: LinkOpening): Promise<UsedLink | Refusal> {
  return use(context, opening, newId(context), () => []);
}

/** The same, and signs the user in. */
export async function useLinkToSignIn(
  context: AuthContext,
  opening: LinkOpening,
): Promise<(UsedLink & { readonly session: NewlyMadeSession }) | Refusal> {
  const session = await newSession(context);
  const used = await use(context, opening, session.id, (hash) => openSessionByLink(session, hash));
  return isRefusal(used) ? used : { ...used, session };
}

async function use(
  context: AuthContext,
  { purpose, token, password }: LinkOpening,
  usedBy: string,
  andThen: (hash: string) => readonly Statement[],
): Promise<UsedLink | Refusal> {
  const { platform, linkTokens } = context;
  const hash = await linkTokens.hashOf(token);
  const passwordHash = password === null ? null : await hashFor(context, { hash, purpose, password });
  if (isRefusal(passwordHash)) return passwordHash;
  const now = platform.clock.now();
  const [consumed, user] = await platform.database.batch([
    ...consumeLink({ hash, purpose, passwordHash, usedBy, now }),
    ...andThen(hash),
  ]);
  const redirectTo = consumed!.rows[0]?.[0] as string | null | undefined;
  return redirectTo === undefined ? invalidToken : { user: publicUser(user!), redirectTo };
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

function publicUser({ rows: [row] }: Result): PublicUser {
  const [id, email, role] = row as [string, string, string];
  return { id, email, role };
}
