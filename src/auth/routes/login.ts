import { isRefusal, Refusal } from "../../http/refusal.js";
import type { Result } from "../../platform/database.js";
import { emailKey } from "../email.js";
import { checkPassword, presentedPasswordProblem } from "../passwords.js";
import { prepareSession } from "../sessions.js";
import { userByEmail } from "../store.js";
import { tokenResponse } from "../token-response.js";
import type { AuthContext } from "./context.js";
import { readCredentials } from "./credentials-body.js";

/**
 * POST /auth/login. An unknown address, a wrong password, an account without one and a disabled account cost the same
 * one statement and one hash, and get the same answer.
 */
export async function login(request: Request, context: AuthContext): Promise<Response | Refusal> {
  const { platform, config } = context;
  const body = await readCredentials(request, config.api.max_body_bytes);
  if (isRefusal(body)) return body;
  const problem = presentedPasswordProblem(body.password);
  if (problem !== null) return problem;
  const [found] = await platform.database.query([userByEmail(emailKey(body.email))]);
  const user = accountOf(found!);
  const matches = await checkPassword(platform.passwordHasher, body.password, user?.passwordHash ?? null);
  if (!matches || user === null || user.disabled) return wrong;
  const session = await prepareSession(context, { id: user.id, passwordHash: user.passwordHash! });
  const [opened] = await platform.database.batch(session.statements);
  return opened!.rows.length === 0 ? wrong : tokenResponse(context, user, session, 200);
}

const wrong = new Refusal("invalid_credentials", "the address or the password is wrong");

function accountOf({ rows: [row] }: Result) {
  if (row === undefined) return null;
  const [id, email, role, disabled, , passwordHash] = row;
  return {
    id: id as string,
    email: email as string,
    role: role as string,
    disabled: disabled === 1,
    passwordHash: passwordHash as string | null,
  };
}
