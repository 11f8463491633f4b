import { readAuthBody } from "../../auth/body.js";
import { unauthorized } from "../../auth/callers/authenticate.js";
import type { ConsoleOrigin } from "../../auth/callers/console-origin.js";
import type { Caller, ConsoleSession } from "../../auth/callers/principal.js";
import type { CallerRequest } from "../../auth/context.js";
import { emailKey } from "../../auth/email.js";
import { email, presentedPassword } from "../../auth/fields.js";
import { checkAccountPassword, finishAttempt } from "../../auth/passwords/password-check.js";
import { presentedPasswordProblem } from "../../auth/passwords/passwords.js";
import { signInWithPassword } from "../../auth/passwords/sign-in-with-password.js";
import { signIn } from "../../auth/sessions/complete-sign-in.js";
import { confirmedMs, consoleCookie, consoleCookieText, isConsoleToken } from "../../auth/sessions/console-cookie.js";
import { withCookies } from "../../auth/sessions/cookies.js";
import { type MadeConsoleSession, makeConsoleSession } from "../../auth/sessions/make-console-session.js";
import { confirmConsoleSession, openConsoleSession, revokeConsoleSession } from "../../auth/store/console-sessions.js";
import { instant } from "../../auth/store/instant.js";
import type { SessionHolder } from "../../auth/store/sessions.js";
import { hashSecret } from "../../encoding/hash-secret.js";
import { withFacts } from "../../http/answer-facts.js";
import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { followedBy, run } from "../../platform/query.js";
import { data, openObject } from "../../wire/schema.js";
import { type Revoked, revoked, type SignedInAdmin } from "../../wire/sessions.js";
import type { TokenUser } from "../../wire/users.js";
import { byConsole, type ConsoleEndpoint, type OwnPageRequest, passwordErrors, sessionAnswer } from "./endpoint.js";

/** POST /admin/api/session with `email, password` of an administrator: opens a session of the console. */
export const postSessionEndpoint: ConsoleEndpoint = {
  method: "POST",
  path: "/admin/api/session",
  summary: "Opens a session of the console, for pages of the server's own origin",
  takes: openObject({ email, password: presentedPassword }),
  answers: { 200: sessionAnswer },
  errors: passwordErrors,
  events: ["sign_in", "sign_in_failed"],
  needs: "own page",
  handle: postSession,
};

function postSession(given: OwnPageRequest): Promise<Response | Refusal> {
  const { context, origin } = given;
  return signInWithPassword(given, {
    refusalOf: ({ role }) => (role === "admin" ? null : adminsOnly),
    open: async (factor) => {
      const session = await makeConsoleSession(context);
      const user = await signIn(context, factor, (holder) => openConsoleSession(session, holder));
      return user === null ? null : openedResponse(user, session, origin, 200);
    },
  });
}

const adminsOnly = new Refusal("forbidden", "the console is for admins");

/**
 * Makes the answer to a request that has opened a session of the console. The body describes the session, and the
 * console's cookie holds its token.
 */
export function openedResponse(
  user: SessionHolder,
  session: MadeConsoleSession,
  origin: ConsoleOrigin,
  status: 200 | 201,
): Response {
  const lifetimeMs = session.expiresAtMs - session.now;
  const cookie = consoleCookieText(session.token, lifetimeMs, origin === "https");
  const answer = withCookies(sessionResponse(user, session, status), [cookie]);
  return withFacts(answer, { principal: { kind: "user", id: user.id } });
}

function sessionResponse(
  { id, email, role }: SessionHolder,
  { expiresAtMs, confirmedUntilMs }: ConsoleSession,
  status = 200,
): Response {
  const shown: SignedInAdmin = {
    user: { id, email, role: role as TokenUser["role"] },
    expires_at: instant(expiresAtMs),
    confirmed_until: instant(confirmedUntilMs),
  };
  return json({ data: shown }, status);
}

/**
 * GET /admin/api/session: shows the session of the console by which the caller is signed in; 401 where there is none.
 */
export const getSessionEndpoint: ConsoleEndpoint = {
  method: "GET",
  path: "/admin/api/session",
  summary: "The caller's session of the console",
  callers: byConsole,
  answers: { 200: sessionAnswer },
  errors: [401, 403, 500, 503],
  needs: "caller",
  handle: getSession,
};

async function getSession({ caller }: CallerRequest): Promise<Response | Refusal> {
  const found = ofConsole(caller);
  return isRefusal(found) ? found : sessionResponse(found.user, found.session);
}

/**
 * DELETE /admin/api/session: ends the session whose token is in the console's cookie. The answer deletes the cookie,
 * also where it is 401, because there is no such session or it has ended before.
 */
export const deleteSessionEndpoint: ConsoleEndpoint = {
  method: "DELETE",
  path: "/admin/api/session",
  summary: "Ends it, and deletes its cookie",
  callers: byConsole,
  answers: { 200: data(revoked) },
  errors: [401, 403, 500, 503],
  events: ["logout", null],
  needs: "own page",
  handle: deleteSession,
};

async function deleteSession({ request, context, origin }: OwnPageRequest): Promise<Response> {
  const { database, clock } = context.platform;
  const token = consoleCookie(request.headers)?.token ?? "";
  const deletion = [consoleCookieText("", 0, origin === "https")];
  if (!isConsoleToken(token)) return withCookies(noSession.toResponse(), deletion);
  const userId = await run(database, revokeConsoleSession(await hashSecret(token), clock.now()));
  if (userId === null) return withCookies(noSession.toResponse(), deletion);
  const answer = withCookies(json({ data: { revoked: true } satisfies Revoked }), deletion);
  return withFacts(answer, { principal: { kind: "user", id: userId } });
}

/**
 * POST /admin/api/session/confirm with `password`: lets a session of the console do for five minutes what needs a
 * password typed lately (`unconfirmedRefusal`). A wrong password counts like a failed login. The answer to it is 403,
 * because the console takes 401 for the end of the session.
 */
export const confirmSessionEndpoint: ConsoleEndpoint = {
  method: "POST",
  path: "/admin/api/session/confirm",
  summary: "Confirms it by the password, for the next five minutes",
  callers: byConsole,
  takes: openObject({ password: presentedPassword }),
  answers: { 200: sessionAnswer },
  errors: passwordErrors,
  events: ["session_confirmed", "sign_in_failed"],
  needs: "caller",
  handle: confirmSession,
};

async function confirmSession({ body: sent, context, address, caller }: CallerRequest): Promise<Response | Refusal> {
  const { platform } = context;
  const found = ofConsole(caller);
  if (isRefusal(found)) return found;
  const { user, session, sessionId } = found;
  const body = await readAuthBody(sent);
  if (isRefusal(body)) return body;
  const { password } = body;
  if (typeof password !== "string") return badRequest("password: expected a string");
  const problem = presentedPasswordProblem(password);
  if (problem !== null) return problem;
  const checked = await checkAccountPassword(context, emailKey(user.email), address, password);
  if (isRefusal(checked)) return checked;
  const { account, attempt } = checked;
  if (account === null) return wrong;
  const now = platform.clock.now();
  const confirmedUntilMs = now + confirmedMs;
  const { passwordHash } = account;
  const confirmation = { sessionId, userId: user.id, passwordHash, now, confirmedUntilMs };
  const isConfirmed = await finishAttempt(platform.database, attempt, () =>
    run(platform.database, followedBy(confirmConsoleSession(confirmation), ...attempt.forgive)),
  );
  return isConfirmed ? sessionResponse(user, { ...session, confirmedUntilMs }) : unauthorized;
}

const wrong = new Refusal("invalid_credentials", "the password is wrong", { status: 403 });

interface FoundSession {
  readonly user: SessionHolder;
  readonly session: ConsoleSession;
  readonly sessionId: string;
}

function ofConsole(caller: Caller): FoundSession | Refusal {
  if (caller.kind !== "user" || caller.console === undefined) return noSession;
  const { id, email, role, sessionId } = caller;
  return { user: { id, email, role }, session: caller.console, sessionId };
}

const noSession = new Refusal("unauthorized", "there is no session of the console, or it has ended");
