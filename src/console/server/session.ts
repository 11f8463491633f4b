import { SvcError } from "../../client/index.js";
import type { SignedInAdmin } from "../../wire/sessions.js";
import { requestData } from "./request-data.js";
import { session } from "./session-state.js";

/** Asks who is signed in. Only a 401 says that nobody is; other failures are thrown and leave `session` as it was. */
export async function loadSession(): Promise<void> {
  try {
    session.value = await requestData<SignedInAdmin>("GET", "/session");
  } catch (error) {
    if (!(error instanceof SvcError && error.status === 401)) throw error;
    session.value = null;
  }
}

/** The server sets the session's cookie, which the browser keeps and no script can read. */
export async function signInAdmin(email: string, password: string): Promise<void> {
  session.value = await requestData<SignedInAdmin>("POST", "/session", { email, password });
}

/** Creates the first administrator, and signs them in. `token` is from the link that the server prints at its start. */
export async function setUp(token: string, email: string, password: string): Promise<void> {
  session.value = await requestData<SignedInAdmin>("POST", "/setup", { token, email, password });
}

/** Confirms the session by the password, because the server wants that before some actions. */
export async function confirmPassword(password: string): Promise<void> {
  session.value = await requestData<SignedInAdmin>("POST", "/session/confirm", { password });
}

/** Also ends the session on the server. */
export async function signOut(): Promise<void> {
  await requestData("DELETE", "/session");
  session.value = null;
}
