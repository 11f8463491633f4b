import { readAuthBody } from "../../auth/body.js";
import { emailKey, isEmail } from "../../auth/email.js";
import { email, secret } from "../../auth/fields.js";
import { isSetupToken } from "../../auth/links/setup-link.js";
import { hashPassword, ownAddressProblem, passwordProblem } from "../../auth/passwords/passwords.js";
import { signIn } from "../../auth/sessions/complete-sign-in.js";
import { makeConsoleSession } from "../../auth/sessions/make-console-session.js";
import { openConsoleSession } from "../../auth/store/console-sessions.js";
import { endSetup, firstAdmin, insertFirstAdmin, liveSetup } from "../../auth/store/setup.js";
import { hashSecret } from "../../encoding/hash-secret.js";
import type { RequestBody } from "../../http/body.js";
import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import { newId } from "../../platform/new-id.js";
import { ask } from "../../platform/query.js";
import { openObject } from "../../wire/schema.js";
import { type ConsoleEndpoint, type OwnPageRequest, sessionAnswer } from "./endpoint.js";
import { openedResponse } from "./session.js";

/**
 * POST /admin/api/setup with `token, email, password`: makes the first administrator and opens a session of the
 * console. The token is that of the setup link which the server has printed at its start.
 */
export const postSetupEndpoint: ConsoleEndpoint = {
  method: "POST",
  path: "/admin/api/setup",
  summary: "Makes the first administrator by the link that the server has printed, and opens a session",
  takes: (password) => openObject({ token: secret, email, password }),
  answers: { 201: sessionAnswer },
  errors: [400, 403, 409, 413, 415, 500, 503],
  events: ["first_admin_made", "link_refused"],
  needs: "own page",
  handle: postSetup,
};

async function postSetup(given: OwnPageRequest): Promise<Response | Refusal> {
  const { body, context, address, origin } = given;
  const { platform, config } = context;
  const { database, clock, passwordHasher } = platform;
  const asked = await readSetup(body, config.auth.password_min_length);
  if (isRefusal(asked)) return asked;
  const { token, email, password } = asked;
  if (!isSetupToken(token)) return noLink;
  const setupHash = await hashSecret(token);
  // The setup link is checked before the password is hashed, because hashing is costly: nobody without a link can make
  // the server hash.
  if (!(await ask(database, liveSetup(setupHash, clock.now())))) return noLink;
  const passwordHash = await hashPassword(passwordHasher, password, { address, isFor: "sign_in" });
  const now = clock.now();
  const admin = { id: newId(context.platform.random), email, emailKey: emailKey(email), passwordHash, now };
  const session = await makeConsoleSession(context);
  const factor = {
    before: [insertFirstAdmin(setupHash, admin)],
    holder: firstAdmin(admin),
    after: [endSetup()],
  };
  const user = await signIn(context, factor, (holder) => openConsoleSession(session, holder));
  if (user !== null) return openedResponse(user, session, origin, 201);
  // No administrator was made. If the setup link is still live, that is because the email address is taken, and the
  // link can be used again with another address.
  return (await ask(database, liveSetup(setupHash, now))) ? taken : noLink;
}

const noLink = new Refusal(
  "invalid_token",
  "the link is unknown, used or over half an hour old, or there is an administrator already: another start of the server makes another link",
);
const taken = new Refusal(
  "conflict",
  "the address is registered already: take another, or make that user an administrator by svc admin set-user",
);

interface Setup {
  readonly token: string;
  readonly email: string;
  readonly password: string;
}

async function readSetup(sent: RequestBody, passwordLengthMin: number): Promise<Setup | Refusal> {
  const body = await readAuthBody(sent);
  if (isRefusal(body)) return body;
  const { token, email, password } = body;
  if (typeof token !== "string") return badRequest("token: expected a string");
  if (typeof email !== "string" || !isEmail(email)) return badRequest("email: expected local@domain.tld");
  if (typeof password !== "string") return badRequest("password: expected a string");
  return (
    passwordProblem(password, passwordLengthMin) ?? ownAddressProblem(password, email) ?? { token, email, password }
  );
}
