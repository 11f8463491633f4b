import type { Refusal } from "../../http/refusal.js";
import type { AuthRequest } from "../context.js";
import { signInWithPassword } from "../passwords/sign-in-with-password.js";
import { completeSignIn } from "../sessions/complete-sign-in.js";

/**
 * POST /auth/login: signs a user in with a password. An unknown address, a wrong password, an account without a
 * password and a disabled account cost the same statements and one hash, and get the same answer.
 */
export function login(given: AuthRequest): Promise<Response | Refusal> {
  return signInWithPassword(given, {
    refusalOf: () => null,
    open: (factor) => completeSignIn(given.context, factor, 200),
  });
}
