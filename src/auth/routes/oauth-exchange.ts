import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import { hashSecret } from "../api-key.js";
import { readAuthBody } from "../body.js";
import type { AuthContext } from "../context.js";
import { codeChallengeOf, isCodeVerifier } from "../oauth/state.js";
import { newSession } from "../sessions.js";
import { exchangeCode } from "../store/oauth.js";
import { tokenResponse } from "../token-response.js";

/**
 * POST /auth/oauth/exchange: tokens for the one-use code of a callback. A verifier that does not fit uses the code up
 * too: whoever presents it is not who began the sign-in, and gets no second try.
 */
export async function exchange(request: Request, context: AuthContext): Promise<Response | Refusal> {
  const body = await readAuthBody(request);
  if (isRefusal(body)) return body;
  const { code, code_verifier: verifier } = body;
  if (typeof code !== "string") return badRequest("code: expected a string");
  if (!isCodeVerifier(verifier)) return badRequest("code_verifier: expected 43 to 128 characters (RFC 7636)");
  const session = await newSession(context);
  const hash = await hashSecret(code);
  const codeChallenge = await codeChallengeOf(verifier);
  const results = await context.platform.database.batch(exchangeCode({ hash, codeChallenge, session }));
  const [row] = results.at(-1)!.rows;
  if (row === undefined) return invalidCode;
  const [id, email, role] = row as [string, string, string];
  return tokenResponse(context, { id, email, role }, session, 200);
}

const invalidCode = new Refusal(
  "invalid_token",
  "the code is unknown, used or expired, or the verifier is wrong",
);
