import { describe, expect, it } from "vitest";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { serve, signUp, type TestServer } from "../../support/server.js";
import { countHashes, hour, lastToken, linkIn, mailTo, ofTheAnswer, open, other, verifying } from "./support.js";

const ada = "ada@example.com";

const request = (server: TestServer, email = ada) => client(server).post("/auth/password-reset/request", { email });
const confirm = (server: TestServer, token: unknown, password: unknown = other) =>
  client(server).post("/auth/password-reset/confirm", { token, password });
const login = (server: TestServer, password: string) => client(server).post("/auth/login", { email: ada, password });

describe("a password reset", () => {
  it("sets the password, ends every session and confirms the address", async () => {
    const server = await serve(open);
    const first = await signUp(server, ada);
    const stranger = await member(server, "bob");
    expectAnswer(await request(server, "ADA@example.com"), 202, { data: { accepted: true } });
    const mail = await mailTo(server, ada);
    expect(linkIn(mail).pathname).toBe("/auth/pages/reset-password");
    const answer = await confirm(server, await lastToken(server, ada));
    expectAnswer(answer, 200, { data: { password_updated: true } });
    expect(answer.headers.get("Set-Cookie")).toBeNull();
    expectRefusal(await client(server, first.bearer).get("/auth/me"), 401, "unauthorized");
    const refreshed = await client(server).post("/auth/refresh", { refresh_token: first.refreshToken });
    expectRefusal(refreshed, 401, "invalid_refresh_token");
    expect((await client(server, stranger.bearer).get("/auth/me")).status).toBe(200);
    expectRefusal(await login(server, "correct horse battery staple"), 401, "invalid_credentials");
    expect((await login(server, other)).status).toBe(200);
    expect(await rowsOf(server, "SELECT email_verified FROM _users WHERE email_key = ?", ada)).toEqual([[1]]);
  });

  it("answers the same at the same statements and no hash, whether or not there is such an account", async () => {
    const storage = switchboard();
    const server = await serve({ ...open, wrap: storage.wrap });
    await signUp(server, ada);
    await signUp(server, "off@example.com");
    await run(server, "UPDATE _users SET disabled = 1 WHERE email_key = 'off@example.com'");
    await member(server, "social");
    const hashes = countHashes(server);
    const costs = [];
    for (const email of [ada, "unknown@example.com", "off@example.com", "social@example.com"]) {
      storage.reset();
      const answer = await request(server, email);
      await server.settled();
      expectAnswer(answer, 202, { data: { accepted: true } });
      const headers = [...answer.headers.keys()].sort();
      costs.push({ text: answer.text, headers, statements: ofTheAnswer(storage.sent) });
    }
    for (const cost of costs) expect(cost).toEqual(costs[0]);
    expect(hashes.count).toBe(0);
    expect(server.mail.messages.map(({ to }) => to)).toEqual([ada, "social@example.com"]);
  });

  it("of a disabled account sends nothing; a link from before is dead, and enables nobody", async () => {
    const server = await serve(open);
    await signUp(server, ada);
    await request(server);
    const token = await lastToken(server, ada);
    await run(server, "UPDATE _users SET disabled = 1");
    await request(server);
    await server.settled();
    expect(server.mail.messages).toHaveLength(1);
    expectRefusal(await confirm(server, token), 400, "invalid_token");
    expect(await rowsOf(server, "SELECT disabled FROM _users")).toEqual([[1]]);
    await run(server, "UPDATE _users SET disabled = 0");
    expectRefusal(await login(server, other), 401, "invalid_credentials");
  });

  it("works once, also twenty times at once", async () => {
    const server = await serve(open);
    await signUp(server, ada);
    await request(server);
    const token = await lastToken(server, ada);
    const tried = Array.from({ length: 20 }, (_, n) => `password number ${n}`);
    const answers = await Promise.all(tried.map((password) => confirm(server, token, password)));
    const won = answers.flatMap(({ status }, n) => (status === 200 ? [tried[n]!] : []));
    expect(won).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expectRefusal(answer, 400, "invalid_token");
    expect((await login(server, won[0]!)).status).toBe(200);
  });

  it("lives for an hour, and dies with a newer one", async () => {
    const server = await serve(open);
    await signUp(server, ada);
    await request(server);
    const first = await lastToken(server, ada);
    await request(server);
    const second = await lastToken(server, ada);
    expectRefusal(await confirm(server, first), 400, "invalid_token");
    server.clock.advance(hour);
    expectRefusal(await confirm(server, second), 400, "invalid_token");
    await request(server);
    const third = await lastToken(server, ada);
    server.clock.advance(hour - 1);
    expect((await confirm(server, third)).status).toBe(200);
  });

  it("with a password that is too weak or too long uses no link up; without a live link no hash is run", async () => {
    const server = await serve(open);
    await signUp(server, ada);
    await request(server);
    const token = await lastToken(server, ada);
    const hashes = countHashes(server);
    expectRefusal(await confirm(server, token, "abcde"), 400, "weak_password");
    expectRefusal(await confirm(server, token, "x".repeat(1025)), 400, "bad_request");
    expectRefusal(await confirm(server, token, 123456), 400, "bad_request");
    expectRefusal(await confirm(server, "A".repeat(43)), 400, "invalid_token");
    expect(hashes.count).toBe(0);
    expect((await confirm(server, token)).status).toBe(200);
  });

  it("is dead once the password was changed otherwise", async () => {
    const server = await serve(open);
    const { bearer } = await signUp(server, ada);
    await request(server);
    const token = await lastToken(server, ada);
    const changed = { current_password: "correct horse battery staple", password: "a third horse" };
    expect((await client(server, bearer).post("/auth/password", changed)).status).toBe(200);
    expectRefusal(await confirm(server, token), 400, "invalid_token");
  });

  it("confirms an address that was never confirmed, and the other links die", async () => {
    const server = await serve(verifying);
    await client(server).post("/auth/register", { email: ada, password: "a squatter's password" });
    const verification = await lastToken(server, ada);
    await request(server);
    expect((await confirm(server, await lastToken(server, ada))).status).toBe(200);
    const late = await client(server).post("/auth/email-verification/confirm", { token: verification });
    expectRefusal(late, 400, "invalid_token");
    expect((await login(server, other)).status).toBe(200);
  });
});

describe("a link of one purpose", () => {
  it("opens nothing of another", async () => {
    const server = await serve(verifying);
    await client(server).post("/auth/register", { email: ada, password: "a password" });
    const verification = await lastToken(server, ada);
    await request(server);
    const reset = await lastToken(server, ada);
    for (const [path, body] of [
      ["/auth/password-reset/confirm", { token: verification, password: other }],
      ["/auth/invitations/accept", { token: verification, password: other }],
      ["/auth/email-verification/confirm", { token: reset }],
      ["/auth/invitations/accept", { token: reset, password: other }],
    ] as const)
      expectRefusal(await client(server).post(path, body), 400, "invalid_token");
    expect(await countOf(server, "_sessions")).toBe(0);
    expect((await confirm(server, reset)).status).toBe(200);
  });

  it("is not found in the database: neither its token nor what opens it", async () => {
    const server = await serve(open);
    server.mail.failure = new Error("down");
    await signUp(server, ada);
    await request(server);
    await server.settled();
    const values = [
      ...(await rowsOf(server, "SELECT * FROM _links")),
      ...(await rowsOf(server, "SELECT * FROM _outbox")),
    ].flat();
    server.mail.failure = null;
    server.clock.advance(10_000);
    await server.upkeep.deliverMail();
    const token = await lastToken(server, ada);
    expect(values.length).toBeGreaterThan(15);
    expect(values.map(String)).not.toContain(token);
    for (const value of new Set(values.map(String))) expect((await confirm(server, value)).status).toBe(400);
    expect((await confirm(server, token)).status).toBe(200);
  });
});

describe("mails to one address", () => {
  const config = "auth.throttle = { max_mails_per_address = 3 }";

  it("are limited in an hour; the answer and its statements stay the same, and the last link lives", async () => {
    const storage = switchboard();
    const server = await serve({ ...open, config, wrap: storage.wrap });
    await signUp(server, ada);
    const costs = [];
    for (let sent = 0; sent < 6; sent++) {
      storage.reset();
      const answer = await request(server, sent % 2 ? ada : "ADA@EXAMPLE.COM");
      await server.settled();
      expectAnswer(answer, 202, { data: { accepted: true } });
      costs.push(ofTheAnswer(storage.sent));
    }
    for (const cost of costs) expect(cost).toEqual(costs[0]);
    expect(server.mail.messages).toHaveLength(3);
    server.clock.advance(hour - 1);
    await request(server);
    await server.settled();
    expect(server.mail.messages).toHaveLength(3);
    expect((await confirm(server, await lastToken(server, ada))).status).toBe(200);
    server.clock.advance(1);
    await request(server);
    await server.settled();
    expect(server.mail.messages).toHaveLength(4);
  });

  it("count by what they are for, and not before the address has an account", async () => {
    const server = await serve({ ...verifying, config });
    const asks = [
      ...Array.from({ length: 5 }, () => () => request(server)),
      () => client(server).post("/auth/register", { email: ada, password: other }),
      () => client(server).post("/auth/email-verification/resend", { email: ada }),
      () => request(server),
      () => request(server, "other@example.com"),
      () => client(server).post("/auth/register", { email: ada, password: other }),
    ];
    for (const ask of asks) {
      await ask();
      // Or the next link kills this one before its mail is sent.
      await server.settled();
    }
    expect(server.mail.messages.map(({ subject }) => subject.split(" ")[0])).toEqual([
      "Confirm",
      "Confirm",
      "Set",
      "Confirm",
    ]);
  });

  it("are not limited where the throttle is off", async () => {
    const server = await serve({
      ...open,
      config: "auth.throttle = { enabled = false, max_mails_per_address = 1 }",
    });
    await signUp(server, ada);
    for (let sent = 0; sent < 3; sent++) {
      await request(server);
      await server.settled();
    }
    expect(server.mail.messages).toHaveLength(3);
  });
});
