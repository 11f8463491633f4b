import { hash as bcrypt } from "@node-rs/bcrypt";
import { expect, it } from "vitest";
import type { Database } from "../../../src/platform/database.js";
import type { PasswordHasher } from "../../../src/platform/platform.js";
import { client, expectRefusal } from "../../support/client.js";
import { countOf, run } from "../../support/people.js";
import { serve, signUp } from "../../support/server.js";

// What a login finds when somebody changes the password between its check and the session: `userWithPassword` guards the
// statement that opens the session.

const project = { schema: "notes: { columns: { id: { type: integer, primary_key: true } } }" };
const credentials = { email: "ada@example.com", password: "correct horse battery staple" };

/** A server whose next check of a password is followed by `meanwhile`, before its outcome is known. */
async function served(
  meanwhile: (hasher: PasswordHasher, server: Awaited<ReturnType<typeof serve>>) => Promise<unknown>,
) {
  const server = await serve(project, "app");
  await signUp(server, credentials.email);
  const { passwordHasher } = server.platform;
  let checks = 0;
  const interrupted: PasswordHasher = {
    hasRoomFor: (turn) => passwordHasher.hasRoomFor(turn),
    hash: (password) => passwordHasher.hash(password),
    standing: (stored) => passwordHasher.standing(stored),
    verify: async (password, stored) => {
      const matches = await passwordHasher.verify(password, stored);
      if (++checks === 1) await meanwhile(passwordHasher, server);
      return matches;
    },
  };
  Object.assign(server.platform, { passwordHasher: interrupted });
  return { server, sessions: await countOf(server, "_sessions"), checks: () => checks };
}

it("a password that was changed meanwhile opens no session", async () => {
  const { server, sessions } = await served(async (hasher, { database }) => {
    const params = [await hasher.hash("another password altogether")];
    await database.batch([{ sql: "UPDATE _users SET password_hash = ?", params }]);
  });
  expectRefusal(await client(server).post("/auth/login", credentials), 401, "invalid_credentials");
  expect(await countOf(server, "_sessions")).toBe(sessions);
});

it("an account that was disabled meanwhile gets no session", async () => {
  const { server, sessions } = await served((_, it) => run(it, "UPDATE _users SET disabled = 1"));
  expectRefusal(await client(server).post("/auth/login", credentials), 401, "invalid_credentials");
  expect(await countOf(server, "_sessions")).toBe(sessions);
});

it("an imported hash that another login has replaced meanwhile is checked once more", async () => {
  // bcrypt salts each hash, so the two differ.
  const replaceHash = async (database: Database) => {
    const params = [await bcrypt(credentials.password, 4)];
    await database.batch([{ sql: "UPDATE _users SET password_hash = ?", params }]);
  };
  const { server, sessions, checks } = await served((_, { database }) => replaceHash(database));
  await replaceHash(server.database);
  expect((await client(server).post("/auth/login", credentials)).status).toBe(200);
  expect(checks()).toBe(2);
  expect(await countOf(server, "_sessions")).toBe(sessions + 1);
});
