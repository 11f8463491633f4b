import { SvcError } from "../../client/index.js";
import { ask } from "./ask.js";
import { type Session, session } from "./session-state.js";

/** Asks the server who is signed in. */
export async function loadSession(): Promise<void> {
  try {
    session.value = await ask<Session>("GET", "/session");
  } catch (error) {
    if (!(error instanceof SvcError && error.status !== 0)) throw error;
    session.value = null;
  }
}

/** Signs in with an administrator's password. The browser keeps the session's cookie, which no script can read. */
export async function signIn(email: string, password: string): Promise<void> {
  session.value = await ask<Session>("POST", "/session", { email, password });
}

/** Makes the first administrator, with the token of the link that the server has printed. */
export async function setUp(token: string, email: string, password: string): Promise<void> {
  session.value = await ask<Session>("POST", "/setup", { token, email, password });
}

/** Gives the password again, which some actions ask for. */
export async function confirmPassword(password: string): Promise<void> {
  session.value = await ask<Session>("POST", "/session/confirm", { password });
}

/** Ends the session of the console. */
export async function signOut(): Promise<void> {
  await ask("DELETE", "/session");
  session.value = null;
}
