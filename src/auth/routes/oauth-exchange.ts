import { hashSecret } from "../../encoding/hash-secret.js";
import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import { openObject } from "../../wire/schema.js";
import { readAuthBody } from "../body.js";
import type { AuthRequest } from "../context.js";
import { type AuthEndpoint, bodyErrors, signedIn } from "../endpoint.js";
import { codeVerifier, secret } from "../fields.js";
import { codeChallengeOf, isCodeVerifier } from "../oauth/state.js";
import { completeSignIn } from "../sessions/complete-sign-in.js";
import { consumeCode, userOfCode } from "../store/oauth.js";

/**
 * POST /auth/oauth/exchange: exchanges the one-use code of a callback for tokens. A wrong verifier uses the code up
 * too, because only the application that began the sign-in knows the right one, and nobody else gets a second try.
 */
export const exchangeEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/oauth/exchange",
  summary: "Tokens for the code of a callback",
  takes: openObject({ code: secret, code_verifier: codeVerifier }),
  answers: signedIn,
  errors: bodyErrors,
  events: ["sign_in", "sign_in_failed"],
  needs: "nothing",
  handle: exchange,
};

async function exchange({ body: sent, context }: AuthRequest): Promise<Response | Refusal> {
  const body = await readAuthBody(sent);
  if (isRefusal(body)) return body;
  const { code, code_verifier: verifier } = body;
  if (typeof code !== "string") return badRequest("code: expected a string");
  if (!isCodeVerifier(verifier)) return badRequest("code_verifier: expected 43 to 128 characters (RFC 7636)");
  const hash = await hashSecret(code);
  const codeChallenge = await codeChallengeOf(verifier);
  const now = context.platform.clock.now();
  const factor = {
    before: [consumeCode(hash, now)],
    holder: userOfCode({ hash, codeChallenge, now }),
  };
  return (await completeSignIn(context, factor, 200)) ?? invalidCode;
}

const invalidCode = new Refusal("invalid_token", "the code is unknown, used or expired, or the verifier is wrong");
