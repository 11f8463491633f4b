import { isRefusal, Refusal } from "../../http/refusal.js";
import { emailKey } from "../email.js";
import { passwordProblem } from "../passwords.js";
import { newId, prepareSession } from "../sessions.js";
import { insertUser } from "../store/users.js";
import { tokenResponse } from "../token-response.js";
import type { AuthContext } from "./context.js";
import { readCredentials } from "./credentials-body.js";

/** POST /auth/register: a user of role `user`, whatever the body says, and a first session. */
export async function register(request: Request, context: AuthContext): Promise<Response | Refusal> {
  const { platform, config } = context;
  const body = await readCredentials(request, config.api.max_body_bytes);
  if (isRefusal(body)) return body;
  const settings = await context.settings();
  if (isRefusal(settings)) return settings;
  // Until links can be sent nobody could confirm an address, so nobody gets in without.
  if (settings.registration !== "public" || settings.emailVerification.required)
    return new Refusal("registration_closed", "registration is not open to the public");
  const problem = passwordProblem(body.password, config.auth.password_min_length);
  if (problem !== null) return problem;
  const passwordHash = await platform.passwordHasher.hash(body.password);
  const id = newId(context);
  const session = await prepareSession(context, { id, passwordHash });
  const user = {
    id,
    email: body.email,
    emailKey: emailKey(body.email),
    passwordHash,
    role: "user",
    createdAtMs: platform.clock.now(),
  } as const;
  const [inserted] = await platform.database.batch([insertUser(user), ...session.statements]);
  if (inserted!.rows.length === 0) return new Refusal("conflict", "the address is registered already");
  return tokenResponse(context, user, session, 201);
}
