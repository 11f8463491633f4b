import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve, signUp, type TestServer } from "../../support/server.js";
import {
  hour,
  lastToken,
  linkIn,
  mailsTo,
  mailTo,
  notes,
  ofTheAnswer,
  other,
  password,
  tokenIn,
  verifying,
} from "../links/support.js";
import {
  ada,
  anotherSession,
  askedFor,
  askFor,
  bob,
  confirm,
  forgetPassword,
  home,
  logIn,
  minute,
  plain,
  refreshed,
  whoIs,
} from "./support.js";

const accepted = { data: { accepted: true, verification_expires_in: 3600 } };
const updated = { data: { email_updated: true } };
const addresses = (server: TestServer) =>
  rowsOf(server, "SELECT email, email_key, email_verified FROM _users ORDER BY email_key");
const subjectsTo = async (server: TestServer, address: string) =>
  (await mailsTo(server, address)).map(({ subject }) => subject);

describe("a change of the address", () => {
  it("moves the account once the new address is confirmed, and tells the old one twice", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    expectAnswer(await askFor(server, user, "Home@example.org"), 202, accepted);
    const mail = await mailTo(server, "Home@example.org");
    expect(linkIn(mail).pathname).toBe("/auth/pages/change-email");
    expect(await subjectsTo(server, ada)).toEqual([expect.stringContaining("about to have another address")]);
    expect(await addresses(server)).toEqual([[ada, ada, 0]]);
    expect(await whoIs(server, user)).toMatchObject({ email: ada });

    const answer = await confirm(server, tokenIn(mail));
    expectAnswer(answer, 200, updated);
    expect(answer.headers.get("Set-Cookie")).toBeNull();
    expect(await addresses(server)).toEqual([["Home@example.org", home, 1]]);
    const [, changed, ...more] = await mailsTo(server, ada);
    expect(more).toEqual([]);
    expect(changed!.subject).toContain("has another address");
    expect(changed!.text).not.toMatch(/home|https?:/i);
    expect(server.mail.messages).toHaveLength(3);
    expectRefusal(await logIn(server, ada), 401, "invalid_credentials");
    expect(dataOf(await logIn(server, "HOME@example.org"))).toMatchObject({
      user: { id: user.id, email: "Home@example.org" },
    });
    // The address that the account has left is free again.
    expect((await signUp(server, ada)).id).not.toBe(user.id);
  });

  it("ends every session but the one that asked, which goes on with a refreshed token", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    const elsewhere = await anotherSession(server, ada);
    const stranger = await member(server, "stranger");
    const token = await askedFor(server, user, home);
    await run(
      server,
      `INSERT INTO _oauth_codes (hash, user_id, code_challenge, created_at, expires_at)
      VALUES ('code', ?, 'challenge', 0, 9000000000000)`,
      user.id,
    );
    expect((await whoIs(server, elsewhere)).email).toBe(ada);
    expect((await confirm(server, token)).status).toBe(200);
    expectRefusal(await client(server, elsewhere.bearer).get("/auth/me"), 401, "unauthorized");
    expectRefusal(await refreshed(server, elsewhere), 401, "invalid_refresh_token");
    // Its access token still says the old address.
    expectRefusal(await client(server, user.bearer).get("/auth/me"), 401, "unauthorized");
    const { access_token, user: told } = dataOf<{ access_token: string; user: object }>(await refreshed(server, user));
    expect(told).toEqual({ id: user.id, email: home, role: "user" });
    const bearer = { Authorization: `Bearer ${access_token}` };
    expect(await whoIs(server, { bearer })).toMatchObject({ id: user.id, email: home, email_verified: true });
    expect((await whoIs(server, stranger)).email).toBe("stranger@example.com");
    expect(await countOf(server, "_oauth_codes")).toBe(0);
  });

  it("kills links that the old address was mailed, and keeps identities at providers", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    await run(
      server,
      "INSERT INTO _identities (provider, subject, user_id, email, created_at) VALUES ('google', 's', ?, ?, 0)",
      user.id,
      ada,
    );
    await client(server).post("/auth/password-reset/request", { email: ada });
    const reset = await lastToken(server, ada);
    const token = await askedFor(server, user, home);
    // One that is not sent yet is not sent any more.
    server.mail.failure = new Error("down");
    await client(server).post("/auth/password-reset/request", { email: ada });
    await server.settled();
    server.mail.failure = null;
    expect((await confirm(server, token)).status).toBe(200);
    for (const dead of [reset, token])
      expectRefusal(
        await client(server).post("/auth/password-reset/confirm", { token: dead, password: other }),
        400,
        "invalid_token",
      );
    server.clock.advance(hour);
    await server.upkeep.deliverMail();
    expect((await subjectsTo(server, ada)).filter((subject) => subject.startsWith("Set"))).toHaveLength(1);
    expect(await rowsOf(server, "SELECT user_id, email FROM _identities")).toEqual([[user.id, ada]]);
    expect((await logIn(server, home)).status).toBe(200);
  });

  it("to another spelling of the address is one, to the same spelling is 400", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    expectRefusal(await askFor(server, user, ada), 400, "bad_request");
    const token = await askedFor(server, user, "Ada@Example.com");
    expectAnswer(await confirm(server, token), 200, updated);
    expect(await addresses(server)).toEqual([["Ada@Example.com", ada, 1]]);
    expect((await logIn(server, ada)).status).toBe(200);
  });

  it("with a wrong password is 403, counts like a failed login, and mails nobody", async () => {
    const server = await serve({ ...plain, config: "[auth.throttle]\nmax_failures = 1" });
    const user = await signUp(server, ada);
    expectRefusal(await askFor(server, user, home, "wrong"), 403, "invalid_credentials");
    expectRefusal(await askFor(server, user, home), 429, "rate_limited");
    await server.settled();
    expect(server.mail.messages).toEqual([]);
    expect(await countOf(server, "_links")).toBe(0);
  });

  it("needs the password of an account that has one, and else a sign-in of the last five minutes", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    expectRefusal(await askFor(server, user, home, null), 403, "password_needed");
    const social = await member(server, "social");
    await forgetPassword(server, social.id);
    expectRefusal(await askFor(server, social, home, "none"), 403, "invalid_credentials");
    server.clock.advance(5 * minute - 1);
    expectAnswer(await askFor(server, social, home, null), 202, accepted);
    server.clock.advance(1);
    expectRefusal(await askFor(server, social, "another@example.org", null), 403, "password_needed");
    expect(await mailsTo(server, "another@example.org")).toEqual([]);
    expect((await confirm(server, await lastToken(server, home))).status).toBe(200);
    expect(await rowsOf(server, "SELECT email FROM _users WHERE id = 'social'")).toEqual([[home]]);
  });

  it("refuses bodies that are none, nobody and API keys", async () => {
    const server = await serve(plain);
    const user = client(server, (await signUp(server, ada)).bearer);
    for (const body of [
      { password },
      { email: home, password: 1 },
      { email: "home", password },
      { email: "ho me@example.org", password },
      { email: [home], password },
      { email: `${"x".repeat(250)}@example.org`, password },
      { email: home, password: "x".repeat(1025) },
      [home],
    ])
      expectRefusal(await user.post("/auth/email", body), 400, "bad_request");
    const form = { headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: `email=${home}` };
    expectRefusal(await user.send("POST", "/auth/email", form), 415, "unsupported_media_type");
    expectRefusal(await user.get("/auth/email"), 405, "method_not_allowed");
    expectRefusal(await user.get("/auth/email/confirm"), 405, "method_not_allowed");
    expectRefusal(await client(server).post("/auth/email", { email: home }), 401, "unauthorized");
    const key = client(server, await apiKey(server, "project:backend"));
    expectRefusal(await key.post("/auth/email", { email: home, password }), 403, "forbidden");
    expectRefusal(await confirm(server, 1), 400, "bad_request");
    await server.settled();
    expect(server.mail.messages).toEqual([]);
  });
});

describe("an address that somebody else has", () => {
  it("gets the same answer after the same statements; its owner is told, a disabled one is not", async () => {
    const storage = switchboard();
    const server = await serve({ ...plain, wrap: storage.wrap });
    const user = await signUp(server, ada);
    await member(server, "bob");
    await member(server, "off");
    await run(server, "UPDATE _users SET disabled = 1 WHERE id = 'off'");
    const costs = [];
    for (const email of ["free@example.com", "BOB@example.com", "off@example.com"]) {
      storage.reset();
      const answer = await askFor(server, user, email);
      await server.settled();
      expectAnswer(answer, 202, accepted);
      const headers = [...answer.headers.keys()].sort();
      costs.push({ text: answer.text, headers, statements: ofTheAnswer(storage.sent) });
    }
    for (const cost of costs) expect(cost).toEqual(costs[0]);
    const told = await mailTo(server, bob);
    expect(told.subject).toContain("already have an account");
    expect(told.text).not.toMatch(/https?:|ada/);
    expect(await mailsTo(server, "off@example.com")).toEqual([]);
    expect(await subjectsTo(server, ada)).toHaveLength(3);
  });

  it("kills the older link as a free one does, so that whether it lives tells nothing", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    await member(server, "bob");
    for (const email of ["free@example.com", bob]) {
      const older = await askedFor(server, user, home);
      expect((await askFor(server, user, email)).status).toBe(202);
      expectRefusal(await confirm(server, older), 400, "invalid_token");
    }
    expect((await whoIs(server, user)).email).toBe(ada);
  });

  it("since the link was mailed is not taken over, and of two who want one address one gets it", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    const rival = await signUp(server, bob);
    const tokens = [await askedFor(server, user, home), await askedFor(server, rival, home)];
    const answers = await Promise.all(tokens.map((token) => confirm(server, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    const [won, lost] = answers[0]!.status === 200 ? [user, rival] : [rival, user];
    expectRefusal(answers.find(({ status }) => status === 400)!, 400, "invalid_token");
    expect(await rowsOf(server, "SELECT id FROM _users WHERE email_key = ?", home)).toEqual([[won.id]]);
    // Nothing of the other one has changed, the sessions included.
    expect((await whoIs(server, lost)).id).toBe(lost.id);
    const late = await askedFor(server, lost, "late@example.org");
    await signUp(server, "late@example.org");
    expectRefusal(await confirm(server, late), 400, "invalid_token");
    expect((await whoIs(server, lost)).id).toBe(lost.id);
    expect(await countOf(server, "_users")).toBe(3);
  });
});

describe("the link to a new address", () => {
  it("works once, also twenty times at once", async () => {
    const server = await serve(plain);
    const token = await askedFor(server, await signUp(server, ada), home);
    const answers = await Promise.all(Array.from({ length: 20 }, () => confirm(server, token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expectRefusal(answer, 400, "invalid_token");
    expect((await subjectsTo(server, ada)).filter((subject) => subject.includes("has another"))).toHaveLength(1);
  });

  it("lives for an hour, and dies with a newer one", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    const first = await askedFor(server, user, home);
    const second = await askedFor(server, user, "second@example.org");
    expectRefusal(await confirm(server, first), 400, "invalid_token");
    const fresh = async () => {
      const { access_token, refresh_token } = dataOf<{ access_token: string; refresh_token: string }>(
        await logIn(server, ada),
      );
      const bearer = { Authorization: `Bearer ${access_token}` };
      return { id: user.id, accessToken: access_token, refreshToken: refresh_token, bearer };
    };
    server.clock.advance(hour);
    expectRefusal(await confirm(server, second), 400, "invalid_token");
    const third = await askedFor(server, await fresh(), "third@example.org");
    server.clock.advance(hour - 1);
    expectAnswer(await confirm(server, third), 200, updated);
  });

  it("is not used by opening its page, begins with no Host of a request, and its form moves the account", async () => {
    const server = await serve({ ...plain, config: 'auth.public_base_url = "https://api.example.com"' });
    const { bearer } = await signUp(server, ada);
    const forged = {
      Host: "evil.example",
      "X-Forwarded-Host": "evil.example",
      Origin: "https://evil.example",
    };
    expect((await client(server, bearer).post("/auth/email", { email: home, password }, forged)).status).toBe(202);
    const mail = await mailTo(server, home);
    const { origin, pathname, search } = linkIn(mail);
    expect(origin).toBe("https://api.example.com");
    expect(JSON.stringify(server.mail.messages)).not.toContain("evil");
    for (let opened = 0; opened < 3; opened++) {
      const page = await client(server).get(pathname + search);
      expect([page.status, page.text.match(/<h1>.*<\/h1>/)?.[0]]).toEqual([200, "<h1>Change your address</h1>"]);
      expect(page.text).not.toMatch(/type="password"|<script/);
    }
    expect(await addresses(server)).toEqual([[ada, ada, 0]]);
    const submit = (headers: Record<string, string>) =>
      client(server).send("POST", pathname, {
        headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
        body: new URLSearchParams({ token: tokenIn(mail) }).toString(),
      });
    expectRefusal(await submit({ Origin: "https://evil.example" }), 403, "forbidden");
    const done = await submit({ Origin: "null", "Sec-Fetch-Site": "same-origin" });
    expect(done.status).toBe(200);
    expect(done.headers.get("Set-Cookie")).toBeNull();
    expect(await addresses(server)).toEqual([[home, home, 1]]);
    expect(await subjectsTo(server, ada)).toHaveLength(2);
  });

  it("leads to the page that $auth names", async () => {
    const schema = `$auth: { email_change_url: "https://app.example.com/address?lang=en" }\n${notes}`;
    const server = await serve({ schema });
    await askedFor(server, await signUp(server, ada), home);
    const url = linkIn(await mailTo(server, home));
    expect([url.origin + url.pathname, url.searchParams.get("lang")]).toEqual([
      "https://app.example.com/address",
      "en",
    ]);
  });

  it("opens nothing of another purpose, and links of other purposes do not change an address", async () => {
    const server = await serve(verifying);
    await client(server).post("/auth/register", { email: "new@example.com", password });
    const verification = await lastToken(server, "new@example.com");
    const user = await member(server, "ada");
    await forgetPassword(server, user.id);
    await client(server).post("/auth/password-reset/request", { email: ada });
    const reset = await lastToken(server, ada);
    expect((await askFor(server, user, home, null)).status).toBe(202);
    const token = await lastToken(server, home);
    for (const [path, body] of [
      ["/auth/password-reset/confirm", { token, password: other }],
      ["/auth/invitations/accept", { token, password: other }],
      ["/auth/email-verification/confirm", { token }],
      ["/auth/email/confirm", { token: verification }],
      ["/auth/email/confirm", { token: reset }],
      ["/auth/email/confirm", { token: "A".repeat(43) }],
      ["/auth/email/confirm", { token: "" }],
    ] as const)
      expectRefusal(await client(server).post(path, body), 400, "invalid_token");
    expect(await countOf(server, "_sessions")).toBe(1);
    expectAnswer(await confirm(server, token), 200, updated);
  });

  it("is not found in the database: neither its token nor what opens it", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    server.mail.failure = new Error("down");
    expect((await askFor(server, user, home)).status).toBe(202);
    await server.settled();
    const values = [
      ...(await rowsOf(server, "SELECT * FROM _links")),
      ...(await rowsOf(server, "SELECT * FROM _outbox")),
    ].flat();
    server.mail.failure = null;
    server.clock.advance(10_000);
    await server.upkeep.deliverMail();
    const token = await lastToken(server, home);
    expect(values.map(String)).not.toContain(token);
    for (const value of new Set(values.map(String))) expect((await confirm(server, value)).status).toBe(400);
    expect((await confirm(server, token)).status).toBe(200);
  });

  it.each<readonly [string, (server: TestServer, id: string, bearer: Record<string, string>) => Promise<unknown>]>([
    [
      "the password is changed",
      (server, _, bearer) =>
        client(server, bearer).post("/auth/password", { current_password: password, password: other }),
    ],
    [
      "the password is reset",
      async (server) => {
        await client(server).post("/auth/password-reset/request", { email: ada });
        const token = await lastToken(server, ada);
        return client(server).post("/auth/password-reset/confirm", { token, password: other });
      },
    ],
    [
      "an administrator ends the sessions",
      async (server, id) => {
        const root = client(server, (await member(server, "root", "admin")).bearer);
        return root.post(`/admin/api/users/${id}/revoke-sessions`, {});
      },
    ],
    [
      "an administrator ends everybody's sessions",
      async (server) => {
        const root = client(server, (await member(server, "root", "admin")).bearer);
        return root.post("/admin/api/revoke-sessions", {});
      },
    ],
    [
      "the user is disabled",
      async (server, id) => {
        const root = client(server, (await member(server, "root", "admin")).bearer);
        await root.patch(`/admin/api/users/${id}`, { disabled: true });
        return root.patch(`/admin/api/users/${id}`, { disabled: false });
      },
    ],
  ])("is dead once %s", async (_, act) => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    const token = await askedFor(server, user, home);
    dataOf((await act(server, user.id, user.bearer)) as never);
    expectRefusal(await confirm(server, token), 400, "invalid_token");
    expect(await rowsOf(server, "SELECT email FROM _users WHERE id = ?", user.id)).toEqual([[ada]]);
  });

  it("works after the session that asked for it has signed out, and ends all others then", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    const elsewhere = await anotherSession(server, ada);
    const token = await askedFor(server, user, home);
    await client(server).post("/auth/logout", { refresh_token: user.refreshToken });
    expectAnswer(await confirm(server, token), 200, updated);
    expectRefusal(await refreshed(server, elsewhere), 401, "invalid_refresh_token");
  });
});

describe("mails of a change", () => {
  it("are limited for each address in an hour; the answer and its statements stay the same", async () => {
    const storage = switchboard();
    const config = "auth.throttle = { max_mails_per_address = 3 }";
    const server = await serve({ ...plain, config, wrap: storage.wrap });
    const user = await signUp(server, ada);
    const costs = [];
    for (let sent = 0; sent < 5; sent++) {
      storage.reset();
      const answer = await askFor(server, user, sent % 2 ? home : "HOME@example.org");
      await server.settled();
      expectAnswer(answer, 202, accepted);
      costs.push(ofTheAnswer(storage.sent));
    }
    for (const cost of costs) expect(cost).toEqual(costs[0]);
    const to = server.mail.messages.map((message) => message.to.toLowerCase());
    expect(to.filter((address) => address === home)).toHaveLength(3);
    expect(to.filter((address) => address === ada)).toHaveLength(3);
    expect(await countOf(server, "_links")).toBe(0);
    expect((await askFor(server, user, "another@example.org")).status).toBe(202);
    expect(await mailsTo(server, "another@example.org")).toHaveLength(1);
  });

  it("count against what one client may ask for", async () => {
    const config = "auth.throttle = { max_registrations_per_address = 2 }";
    const server = await serve({ ...plain, config });
    const user = await signUp(server, ada);
    expect((await askFor(server, user, home)).status).toBe(202);
    expectRefusal(await askFor(server, user, "another@example.org"), 429, "rate_limited");
    expect(await mailsTo(server, "another@example.org")).toEqual([]);
  });
});
