import type { PasswordHasher } from "../../../src/platform/platform.js";
import { type Answer, client, dataOf } from "../../support/client.js";
import { run } from "../../support/people.js";
import type { SignedIn, TestServer } from "../../support/server.js";
import { lastToken, notes, password } from "../links/support.js";

export const ada = "ada@example.com";
export const bob = "bob@example.com";
export const home = "home@example.org";
export const minute = 60_000;

/** A project without anything of its own. */
export const plain = { schema: notes };

export const whoIs = async (server: TestServer, { bearer }: Pick<SignedIn, "bearer">) =>
  dataOf<{ user: { id: string; email: string; email_verified: boolean } }>(await client(server, bearer).get("/auth/me"))
    .user;

/** Asks for another address, with the password unless another one or null for none is given. */
export function askFor(
  server: TestServer,
  { bearer }: Pick<SignedIn, "bearer">,
  email: string,
  given: string | null = password,
): Promise<Answer> {
  return client(server, bearer).post("/auth/email", given === null ? { email } : { email, password: given });
}

export function confirm(server: TestServer, token: unknown): Promise<Answer> {
  return client(server).post("/auth/email/confirm", { token });
}

/** The link's token, once the change was asked for. */
export async function askedFor(server: TestServer, user: SignedIn, email: string): Promise<string> {
  dataOf(await askFor(server, user, email));
  return lastToken(server, email);
}

export function logIn(server: TestServer, email: string, given = password): Promise<Answer> {
  return client(server).post("/auth/login", { email, password: given });
}

/** One more session of somebody who has the password. */
export async function anotherSession(server: TestServer, email: string): Promise<SignedIn> {
  const { user, access_token, refresh_token } = dataOf<{
    user: { id: string };
    access_token: string;
    refresh_token: string;
  }>(await logIn(server, email));
  return {
    id: user.id,
    accessToken: access_token,
    refreshToken: refresh_token,
    bearer: { Authorization: `Bearer ${access_token}` },
  };
}

export async function refreshed(server: TestServer, { refreshToken }: SignedIn): Promise<Answer> {
  return client(server).post("/auth/refresh", { refresh_token: refreshToken });
}

/** Of somebody who signs in at a provider alone. */
export async function forgetPassword(server: TestServer, id: string): Promise<void> {
  await run(server, "UPDATE _users SET password_hash = NULL WHERE id = ?", id);
}

/** `DELETE /auth/me` with a body. */
export function deleteMe(
  server: TestServer,
  headers: Readonly<Record<string, string>>,
  body: unknown = { password },
): Promise<Answer> {
  return client(server, headers).send("DELETE", "/auth/me", {
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Runs `act` while the server checks the next password. */
export function duringTheCheck(server: TestServer, act: () => Promise<unknown>): void {
  const real = server.platform.passwordHasher;
  const verify: typeof real.verify = async (...given) => {
    await act();
    return real.verify(...given);
  };
  Object.assign(server.platform, { passwordHasher: { ...bound(real), verify } });
}

const bound = (hasher: PasswordHasher): PasswordHasher => ({
  hasRoomFor: (turn) => hasher.hasRoomFor(turn),
  hash: (...given) => hasher.hash(...given),
  verify: (...given) => hasher.verify(...given),
  standing: (hash) => hasher.standing(hash),
});
