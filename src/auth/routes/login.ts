import type { Refusal } from "../../http/refusal.js";
import { openObject } from "../../wire/schema.js";
import type { AuthRequest } from "../context.js";
import { type AuthEndpoint, signedIn, throttledErrors } from "../endpoint.js";
import { email, presentedPassword } from "../fields.js";
import { signInWithPassword } from "../passwords/sign-in-with-password.js";
import { completeSignIn } from "../sessions/complete-sign-in.js";

/**
 * POST /auth/login: signs a user in with a password. An unknown address, a wrong password, an account without a
 * password and a disabled account cost the same statements and hashes, and get the same answer.
 */
export const loginEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/login",
  summary: "Signs in",
  takes: openObject({ email, password: presentedPassword }),
  answers: signedIn,
  errors: throttledErrors,
  events: ["sign_in", "sign_in_failed"],
  needs: "nothing",
  handle: login,
};

function login(given: AuthRequest): Promise<Response | Refusal> {
  return signInWithPassword(given, {
    refusalOf: () => null,
    open: (factor) => completeSignIn(given.context, factor, 200),
  });
}
