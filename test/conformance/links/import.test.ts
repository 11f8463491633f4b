import { describe, expect, it } from "vitest";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { countOf, rowsOf } from "../../support/people.js";
import { serve, type TestServer } from "../../support/server.js";
import { backend, countHashes, lastToken, open, password, tokensOf } from "./support.js";

const current = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/;
/** Of `password`, written by libxcrypt and by libargon2. */
const bcrypt = "$2b$10$abcdefghijklmnopqrstuuGGgFFcYeueaAql8Z7U7CnCTRw4DR77W";
const bcryptOf72Bytes = "$2b$04$abcdefghijklmnopqrstuuKiIlCeXB6chNXkLyAo8C7XcLPzh6zUe";
const argon2id = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";

async function importAll(server: TestServer, users: unknown) {
  return (await backend(server)).post("/auth/users/import", { users });
}
const login = (server: TestServer, email: string, secret: string) =>
  client(server).post("/auth/login", { email, password: secret });
const hashOf = async (server: TestServer, id: string) =>
  (await rowsOf(server, "SELECT password_hash FROM _users WHERE id = ?", id))[0]![0] as string;

describe("an imported user", () => {
  it("logs in ten times at once, and the hash is replaced meanwhile", async () => {
    const server = await serve(open);
    await importAll(server, [{ id: "ada", email: "ada@example.com", password_hash: bcrypt }]);
    const logins = Array.from({ length: 10 }, () => login(server, "ada@example.com", password));
    for (const answer of await Promise.all(logins)) expect(answer.status).toBe(200);
    expect(await hashOf(server, "ada")).toMatch(current);
  });
});

describe("an import", () => {
  it("keeps ids, roles, states and addresses as they are, and mails nobody", async () => {
    const server = await serve(open);
    const answer = await importAll(server, [
      { id: "u1", email: "Ada@Example.com" },
      { id: "01J/x:é", email: "bob@example.com", role: "user", email_verified: true, password_hash: bcrypt },
      { id: "u3", email: "off@example.com", disabled: true, password_hash: null },
    ]);
    expectAnswer(answer, 200, { data: { imported: 3 } });
    const columns = "id, email, email_key, role, disabled, email_verified, password_hash, created_at";
    const created = new Date(server.clock.now()).toISOString();
    expect(await rowsOf(server, `SELECT ${columns} FROM _users ORDER BY email_key`)).toEqual([
      ["u1", "Ada@Example.com", "ada@example.com", "user", 0, 0, null, created],
      ["01J/x:é", "bob@example.com", "bob@example.com", "user", 0, 1, bcrypt, created],
      ["u3", "off@example.com", "off@example.com", "user", 1, 0, null, created],
    ]);
    await server.settled();
    expect(server.mail.messages).toEqual([]);
  });

  it.each([
    ["bcrypt", password, bcrypt, `${password}!`],
    ["argon2id of other parameters", "password", argon2id, "Password"],
  ])("of %s: its user logs in, and the hash is then of the current parameters", async (_, right, stored, wrong) => {
    const server = await serve(open);
    await importAll(server, [{ id: "ada", email: "ada@example.com", password_hash: stored }]);
    const hashes = countHashes(server);
    expectRefusal(await login(server, "ada@example.com", wrong), 401, "invalid_credentials");
    expect([await hashOf(server, "ada"), hashes.count]).toEqual([stored, 1]);
    const user = { id: "ada", email: "ada@example.com", role: "user" };
    expectAnswer(await login(server, "ADA@example.com", right), 200, tokensOf(user));
    const replaced = await hashOf(server, "ada");
    expect(replaced).toMatch(current);
    expectRefusal(await login(server, "ada@example.com", wrong), 401, "invalid_credentials");
    expect((await login(server, "ada@example.com", right)).status).toBe(200);
    expect(await hashOf(server, "ada")).toBe(replaced);
  });

  it("replaces the hash in the batch that opens the session", async () => {
    const storage = switchboard();
    const server = await serve({ ...open, wrap: storage.wrap });
    await importAll(server, [{ id: "ada", email: "ada@example.com", password_hash: bcrypt }]);
    storage.failing = (statements) => statements.some(({ sql }) => sql.startsWith("INSERT INTO _sessions"));
    expectRefusal(await login(server, "ada@example.com", password), 503, "auth_unavailable");
    expect(await hashOf(server, "ada")).toBe(bcrypt);
    storage.failing = null;
    const both = await Promise.all([1, 2].map(() => login(server, "ada@example.com", password)));
    expect(both.map(({ status }) => status)).toContain(200);
    expect(await hashOf(server, "ada")).toMatch(current);
  });

  it("of bcrypt fails a password over 72 bytes like a wrong one", async () => {
    const server = await serve(open);
    await importAll(server, [{ id: "ada", email: "ada@example.com", password_hash: bcryptOf72Bytes }]);
    const long = await login(server, "ada@example.com", "é".repeat(37));
    expectRefusal(long, 401, "invalid_credentials");
    expect(long.text).toBe((await login(server, "ada@example.com", "wrong")).text);
    expect((await login(server, "ada@example.com", "é".repeat(36))).status).toBe(200);
  });

  it("of a user without a password leaves the reset as the way in", async () => {
    const server = await serve(open);
    await importAll(server, [{ id: "ada", email: "ada@example.com" }]);
    expectRefusal(await login(server, "ada@example.com", password), 401, "invalid_credentials");
    await client(server).post("/auth/password-reset/request", { email: "ada@example.com" });
    const token = await lastToken(server, "ada@example.com");
    await client(server).post("/auth/password-reset/confirm", { token, password });
    expect((await login(server, "ada@example.com", password)).status).toBe(200);
  });

  it("of 500 users is taken, of 501 not", async () => {
    const server = await serve(open);
    const users = Array.from({ length: 501 }, (_, n) => ({
      id: `u${n}`,
      email: `user${n}@example.com`,
      password_hash: bcrypt,
    }));
    expectRefusal(await importAll(server, users), 400, "bad_request");
    expectAnswer(await importAll(server, users.slice(0, 500)), 200, { data: { imported: 500 } });
    expect(await countOf(server, "_users")).toBe(500);
  });
});

describe("an import that clashes", () => {
  it("with users that are there is 409, lists them, and imports nobody", async () => {
    const server = await serve(open);
    await importAll(server, [
      { id: "u1", email: "ada@example.com" },
      { id: "u2", email: "bob@example.com" },
    ]);
    const answer = await importAll(server, [
      { id: "u1", email: "new@example.com" },
      { id: "u3", email: "BOB@example.com" },
      { id: "u4", email: "free@example.com" },
    ]);
    const message = expectRefusal(answer, 409, "conflict");
    expect(message).toMatch(/u1, BOB@example\.com$/);
    expect(message).not.toMatch(/free|u4|new@/);
    expect(await countOf(server, "_users")).toBe(2);
  });

  it("with itself is 409 likewise", async () => {
    const server = await serve(open);
    const answer = await importAll(server, [
      { id: "u1", email: "ada@example.com" },
      { id: "u1", email: "bob@example.com" },
      { id: "u3", email: "ADA@example.com" },
    ]);
    expect(expectRefusal(answer, 409, "conflict")).toMatch(/u1, ada@example\.com$/);
    expect(await countOf(server, "_users")).toBe(0);
  });

  it("at the same time with another is imported once", async () => {
    const server = await serve(open);
    const users = [{ id: "u1", email: "ada@example.com" }];
    const statuses = (await Promise.all([1, 2, 3].map(() => importAll(server, users)))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 409, 409]);
  });
});

describe("an import is refused", () => {
  const ada = { id: "u1", email: "ada@example.com" };
  it.each([
    undefined,
    null,
    {},
    [],
    ["ada"],
    [null],
    [[]],
    [{ id: "u1" }],
    [{ email: "ada@example.com" }],
    [{ ...ada, id: "" }],
    [{ ...ada, id: 1 }],
    [{ ...ada, id: "a b" }],
    [{ ...ada, id: "a\nb" }],
    [{ ...ada, id: "x".repeat(256) }],
    [{ ...ada, email: "ada" }],
    [{ ...ada, email: "ada\u2060@example.com" }],
    [{ ...ada, role: "owner" }],
    [{ ...ada, disabled: 1 }],
    [{ ...ada, email_verified: "true" }],
    [{ ...ada, password: "secret" }],
    [{ ...ada, password_hash: "secret" }],
    [{ ...ada, password_hash: "$2b$31$abcdefghijklmnopqrstuuGGgFFcYeueaAql8Z7U7CnCTRw4DR77W" }],
    [{ ...ada, password_hash: argon2id.replace("m=65536", "m=65537") }],
    [{ ...ada, password_hash: argon2id.replace("t=2", "t=11") }],
    [{ ...ada, password_hash: argon2id.replace("argon2id", "argon2i") }],
    [
      { id: "u0", email: "first@example.com" },
      { ...ada, disabled: "no" },
    ],
  ])("of the users %j, with all of it", async (users) => {
    const server = await serve(open);
    const answer = await importAll(server, users);
    const message = expectRefusal(answer, 400, "bad_request");
    expect(message).toMatch(/^users/);
    expect(message).not.toMatch(/secret|\$2b|\$argon2/);
    expect(await countOf(server, "_users")).toBe(0);
  });
});
