import { isRefusal, Refusal } from "../../http/refusal.js";
import { emailKey } from "../email.js";
import { checkAccountPassword } from "../password-check.js";
import { presentedPasswordProblem } from "../passwords.js";
import { prepareSession } from "../sessions.js";
import { rememberAddress } from "../store/throttle.js";
import { tokenResponse } from "../token-response.js";
import type { AuthContext } from "./context.js";
import { readCredentials } from "./credentials-body.js";

/**
 * POST /auth/login. An unknown address, a wrong password, an account without one and a disabled account cost the same
 * statements and one hash, and get the same answer.
 */
export async function login(
  request: Request,
  context: AuthContext,
  address: string,
): Promise<Response | Refusal> {
  const { platform, config } = context;
  const body = await readCredentials(request, config.api.max_body_bytes);
  if (isRefusal(body)) return body;
  const problem = presentedPasswordProblem(body.password);
  if (problem !== null) return problem;
  const checked = await checkAccountPassword(context, emailKey(body.email), address, body.password);
  if (isRefusal(checked)) return checked;
  const { account, forgive, addressKey } = checked;
  if (account === null) return wrong;
  const session = await prepareSession(context, account);
  const [opened] = await platform.database.batch([
    ...session.statements,
    rememberAddress(account.id, addressKey),
    ...forgive,
  ]);
  return opened!.rows.length === 0 ? wrong : tokenResponse(context, account, session, 200);
}

const wrong = new Refusal("invalid_credentials", "the address or the password is wrong");
