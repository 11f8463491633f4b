import { SvcError } from "../../client/index.js";
import type { SignedInAdmin } from "../../wire/sessions.js";
import { ask } from "./ask.js";
import { session } from "./session-state.js";

/**
 * Asks the server who is signed in, and keeps the answer in `session`. Only a 401 says that nobody is; any other failure
 * is thrown and leaves `session` as it was.
 */
export async function loadSession(): Promise<void> {
  try {
    session.value = await ask<SignedInAdmin>("GET", "/session");
  } catch (error) {
    if (!(error instanceof SvcError && error.status === 401)) throw error;
    session.value = null;
  }
}

/**
 * Signs in with an administrator's email and password. The server sets the session's cookie, which the browser keeps
 * and no script can read.
 */
export async function signIn(email: string, password: string): Promise<void> {
  session.value = await ask<SignedInAdmin>("POST", "/session", { email, password });
}

/**
 * Creates the first administrator, and signs them in. `token` is from the link that the server has printed at its
 * start.
 */
export async function setUp(token: string, email: string, password: string): Promise<void> {
  session.value = await ask<SignedInAdmin>("POST", "/setup", { token, email, password });
}

/**
 * Confirms the session with the administrator's password, because the server wants it confirmed before some actions.
 */
export async function confirmPassword(password: string): Promise<void> {
  session.value = await ask<SignedInAdmin>("POST", "/session/confirm", { password });
}

/** Signs the administrator out: ends the session on the server, too. */
export async function signOut(): Promise<void> {
  await ask("DELETE", "/session");
  session.value = null;
}
