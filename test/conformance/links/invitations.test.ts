import { describe, expect, it } from "vitest";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve, signUp, type TestServer } from "../../support/server.js";
import {
  backend,
  hour,
  lastToken,
  linkIn,
  mailsTo,
  mailTo,
  notes,
  open,
  other,
  password,
  tokensOf,
  verifying,
} from "./support.js";

const eve = "Eve@example.com";
const project = {
  schema: `$auth: { registration: invite, invitation_url: "https://app.example.com/welcome?step=1#form" }
$origins: ["https://docs.example.com", "http://localhost:5173", "http://plain.example.com"]
${notes}`,
};
const answerOf = (changes: object = {}) => ({
  data: { email: eve, role: "user", existing_user: false, expires_in: 604_800, ...changes },
});
const accept = (server: TestServer, token: unknown, secret: unknown = password) =>
  client(server).post("/auth/invitations/accept", { token, password: secret });

describe("an invitation", () => {
  it("of somebody new sends a link, which sets the password and signs in", async () => {
    const server = await serve(project);
    const backendClient = await backend(server);
    const invited = await backendClient.post("/auth/users/invite", { email: eve, role: "admin" });
    expectAnswer(invited, 201, answerOf({ role: "admin" }));
    const pending = "SELECT role, email_verified, password_hash FROM _users";
    expect(await rowsOf(server, pending)).toEqual([["user", 0, null]]);
    expectRefusal(await client(server).post("/auth/login", { email: eve, password }), 401, "invalid_credentials");
    const url = linkIn(await mailTo(server, eve));
    expect(`${url.origin}${url.pathname}${url.hash}`).toBe("https://app.example.com/welcome#form");
    expect([...url.searchParams.keys()]).toEqual(["step", "token"]);
    const answer = await accept(server, await lastToken(server, eve));
    expectAnswer(answer, 200, tokensOf({ id: expect.any(String), email: eve, role: "admin" }));
    expect(await rowsOf(server, "SELECT role, email_verified FROM _users")).toEqual([["admin", 1]]);
    expect((await client(server).post("/auth/login", { email: eve, password })).status).toBe(200);
    expectRefusal(await accept(server, await lastToken(server, eve), other), 400, "invalid_token");
  });

  it("carries its destination", async () => {
    const server = await serve(project);
    const redirect_to = "https://docs.example.com/start?x=1&y=2";
    await (await backend(server)).post("/auth/users/invite", { email: eve, redirect_to });
    const url = linkIn(await mailTo(server, eve));
    expect(url.origin).toBe("https://app.example.com");
    expect(url.searchParams.get("redirect_to")).toBe(redirect_to);
    expect((await accept(server, await lastToken(server, eve))).status).toBe(200);
  });

  it("of an existing user sends the destination, and changes neither role nor password", async () => {
    const server = await serve({ schema: project.schema.replace("invite,", "public,") });
    await signUp(server, eve);
    const before = await rowsOf(server, "SELECT * FROM _users");
    const backendClient = await backend(server);
    const invite = (body: object) => backendClient.post("/auth/users/invite", { email: eve, role: "admin", ...body });
    const redirect_to = "https://app.example.com/rooms/7";
    const existing = { existing_user: true, expires_in: null };
    expectAnswer(await invite({ redirect_to }), 201, answerOf(existing));
    expect(linkIn(await mailTo(server, eve)).href).toBe(redirect_to);
    expectAnswer(await invite({}), 201, answerOf(existing));
    const mail = await mailTo(server, eve);
    expect(linkIn(mail).href).toBe("https://app.example.com/welcome?step=1#form");
    expect(mail.subject).toMatch(/invited/);
    expect(await rowsOf(server, "SELECT * FROM _users")).toEqual(before);
    expect(await countOf(server, "_links")).toBe(0);
    expect((await client(server).post("/auth/login", { email: eve, password })).status).toBe(200);
  });

  it("of a pending identity sends a new link with the new role; the older one is dead", async () => {
    const server = await serve(project);
    const backendClient = await backend(server);
    const invite = (body: object) => backendClient.post("/auth/users/invite", { email: eve, ...body });
    await invite({ role: "admin" });
    const first = await lastToken(server, eve);
    expectAnswer(await invite({ email: "EVE@example.com" }), 201, answerOf());
    const second = await lastToken(server, eve);
    expect(await countOf(server, "_users")).toBe(1);
    expectRefusal(await accept(server, first), 400, "invalid_token");
    expectAnswer(await accept(server, second), 200, tokensOf({ id: expect.any(String), email: eve, role: "user" }));
  });

  it("works once, also twenty times at once, and lives for seven days", async () => {
    const server = await serve(project);
    const backendClient = await backend(server);
    await backendClient.post("/auth/users/invite", { email: eve });
    await backendClient.post("/auth/users/invite", { email: "late@example.com" });
    await server.settled();
    server.clock.advance(7 * 24 * hour - 1);
    const token = await lastToken(server, eve);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => accept(server, token, `${password}${n}`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expectRefusal(answer, 400, "invalid_token");
    expect(await countOf(server, "_sessions")).toBe(1);
    server.clock.advance(1);
    expectRefusal(await accept(server, await lastToken(server, "late@example.com")), 400, "invalid_token");
  });

  it("twenty times at once makes one identity and one live link", async () => {
    const server = await serve({ ...project, config: "auth.throttle = { max_mails_per_address = 100 }" });
    const backendClient = await backend(server);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => backendClient.post("/auth/users/invite", { email: eve })),
    );
    for (const answer of answers) expectAnswer(answer, 201, answerOf());
    await server.settled();
    expect([await countOf(server, "_users"), await countOf(server, "_links")]).toEqual([1, 1]);
  });

  it("keeps its role, whichever link shows that the address is theirs", async () => {
    for (const path of ["/auth/password-reset/request", "/auth/email-verification/resend"]) {
      const server = await serve(verifying);
      await (await backend(server)).post("/auth/users/invite", { email: eve, role: "admin" });
      const invitation = await lastToken(server, eve);
      await client(server).post(path, { email: eve });
      const token = await lastToken(server, eve);
      const confirm = path.replace(/request|resend/, "confirm");
      expect((await client(server).post(confirm, { token, password })).status).toBe(200);
      expect(await rowsOf(server, "SELECT role, email_verified FROM _users")).toEqual([["admin", 1]]);
      expectRefusal(await accept(server, invitation), 400, "invalid_token");
    }
  });

  it("goes to whoever is behind an unconfirmed registration; the registered password is worth nothing", async () => {
    const server = await serve(verifying);
    await client(server).post("/auth/register", { email: eve, password: other });
    const registration = await lastToken(server, eve);
    const invited = await (await backend(server)).post("/auth/users/invite", { email: eve, role: "admin" });
    expectAnswer(invited, 201, answerOf({ role: "admin" }));
    expect((await accept(server, await lastToken(server, eve))).status).toBe(200);
    const confirmed = await client(server).post("/auth/email-verification/confirm", { token: registration });
    expectRefusal(confirmed, 400, "invalid_token");
    const login = (secret: string) => client(server).post("/auth/login", { email: eve, password: secret });
    expectRefusal(await login(other), 401, "invalid_credentials");
    expect((await login(password)).status).toBe(200);
  });

  it("kills every link of a registration: none gives its password to the invitee's account", async () => {
    const server = await serve(verifying);
    await client(server).post("/auth/register", { email: eve, password: other });
    const registration = await lastToken(server, eve);
    await (await backend(server)).post("/auth/users/invite", { email: eve, role: "admin" });
    const confirm = (token: string) => client(server).post("/auth/email-verification/confirm", { token });
    expectRefusal(await confirm(registration), 400, "invalid_token");
    await client(server).post("/auth/register", { email: eve, password: other });
    const [first, ...later] = await mailsTo(server, eve);
    expect(later.map(({ subject }) => subject)).not.toContain(first!.subject);
    await client(server).post("/auth/email-verification/resend", { email: eve });
    expect((await confirm(await lastToken(server, eve))).status).toBe(200);
    const login = await client(server).post("/auth/login", { email: eve, password: other });
    expectRefusal(login, 401, "invalid_credentials");
  });

  it("gives no role that an administrator has changed since", async () => {
    const server = await serve(project);
    const backendClient = await backend(server);
    await backendClient.post("/auth/users/invite", { email: eve, role: "admin" });
    const token = await lastToken(server, eve);
    const [[id]] = (await rowsOf(server, "SELECT id FROM _users")) as [[string]];
    expect((await backendClient.patch(`/admin/api/users/${id}`, { role: "user" })).status).toBe(200);
    expect((await accept(server, token)).status).toBe(200);
    expect(await rowsOf(server, "SELECT role FROM _users")).toEqual([["user"]]);
  });

  it("beyond the allowance of the hour is 429 and leaves the last one as it was", async () => {
    const server = await serve(project);
    const backendClient = await backend(server);
    for (let sent = 0; sent < 5; sent++) {
      expect((await backendClient.post("/auth/users/invite", { email: eve, role: "user" })).status).toBe(201);
      // Mails that are sent at once arrive in any order.
      await server.settled();
    }
    const refused = await backendClient.post("/auth/users/invite", { email: eve, role: "admin" });
    expectRefusal(refused, 429, "rate_limited");
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect((await accept(server, await lastToken(server, eve))).status).toBe(200);
    expect(await rowsOf(server, "SELECT role FROM _users")).toEqual([["user"]]);
  });

  it("without a role keeps that of an imported identity", async () => {
    const server = await serve(project);
    const backendClient = await backend(server);
    await backendClient.post("/auth/users/import", { users: [{ id: "eve", email: eve }] });
    const root = client(server, (await member(server, "root", "admin")).bearer);
    expect((await root.patch("/admin/api/users/eve", { role: "admin" })).status).toBe(200);
    expectAnswer(await backendClient.post("/auth/users/invite", { email: eve }), 201, answerOf({ role: "admin" }));
    await accept(server, await lastToken(server, eve));
    expect(await rowsOf(server, "SELECT role, created_by FROM _users WHERE id = 'eve'")).toEqual([
      ["admin", "user:root"],
    ]);
  });

  it("of a disabled user is 409, sends nothing and enables nobody", async () => {
    const server = await serve(project);
    await (await backend(server)).post("/auth/users/invite", { email: eve });
    const token = await lastToken(server, eve);
    await run(server, "UPDATE _users SET disabled = 1");
    expectRefusal(await accept(server, token), 400, "invalid_token");
    const again = await (await backend(server)).post("/auth/users/invite", { email: eve });
    expectRefusal(again, 409, "conflict");
    expect(await mailsTo(server, eve)).toHaveLength(1);
    expect(await rowsOf(server, "SELECT disabled FROM _users")).toEqual([[1]]);
  });

  it("leads nowhere where nothing is configured for an existing user", async () => {
    const server = await serve(open);
    await signUp(server, eve);
    await (await backend(server)).post("/auth/users/invite", { email: eve });
    const { text, html } = await mailTo(server, eve);
    expect(text + html).not.toMatch(/https?:|href/);
  });

  it("with a weak password is not used up", async () => {
    const server = await serve(project);
    await (await backend(server)).post("/auth/users/invite", { email: eve });
    const token = await lastToken(server, eve);
    expectRefusal(await accept(server, token, "abcde"), 400, "weak_password");
    expectRefusal(await accept(server, token, null), 400, "bad_request");
    expect((await accept(server, token)).status).toBe(200);
  });
});

describe("redirect_to", () => {
  it.each([
    "https://app@evil.example/",
    "https://app.example.com@evil.example/",
    "https://user@app.example.com/",
    "https:/\\evil.example/",
    "https:\\\\app.example.com/",
    "https://app.example.com\\@evil.example/",
    "https://app%2eexample.com/",
    "https://app.example.com/%2e%2e/x",
    "https://app.example.com%2f@evil.example/",
    "https://app.example.com/\twelcome",
    "\thttps://app.example.com/",
    "https://app.exam\tple.com/",
    " https://app.example.com/",
    "https://app.example.com/ x",
    "https:app.example.com",
    "https:/app.example.com/",
    "https:///app.example.com/",
    "//app.example.com/",
    "/welcome",
    "welcome",
    "",
    "http://app.example.com/",
    "http://localhost:5174/",
    "http://user@localhost:5173/",
    "http://127.0.0.1:5173/",
    "http://plain.example.com/",
    "https://app.example.com.evil.example/",
    "https://app.example.com:8443/",
    "https://app.example.com./",
    "https://sub.app.example.com/",
    "https://evil.example/https://app.example.com/",
    "HTTPS://APP.EXAMPLE.COM/",
    "https://\u0430pp.example.com/",
    "javascript:alert(1)//https://app.example.com/",
  ])("as %j is 400, and nobody is invited", async (redirect_to) => {
    const server = await serve(project);
    const answer = await (await backend(server)).post("/auth/users/invite", { email: eve, redirect_to });
    expectRefusal(answer, 400, "bad_request");
    await server.settled();
    expect([await countOf(server, "_users"), server.mail.messages.length]).toEqual([0, 0]);
  });

  it.each([
    "https://app.example.com",
    "https://app.example.com/",
    "https://app.example.com/a/b?c=d&e=%20#f",
    "https://docs.example.com/x",
    "http://localhost:5173/welcome",
  ])("as %j is taken", async (redirect_to) => {
    const server = await serve(project);
    const answer = await (await backend(server)).post("/auth/users/invite", { email: eve, redirect_to });
    expectAnswer(answer, 201, answerOf());
  });
});

it("redirect_to takes no loopback address where the server is at another one", async () => {
  const server = await serve({ ...project, config: 'auth.public_base_url = "https://api.example.com"' });
  const redirect_to = "http://localhost:5173/welcome";
  const answer = await (await backend(server)).post("/auth/users/invite", { email: eve, redirect_to });
  expectRefusal(answer, 400, "bad_request");
});

describe("inviting and importing", () => {
  const calls = [
    ["/auth/users/invite", { email: eve }],
    ["/auth/users/import", { users: [{ id: "eve", email: eve }] }],
  ] as const;

  it("is for a project:backend key alone", async () => {
    const server = await serve(open);
    const admin = await member(server, "root", "admin");
    for (const [path, body] of calls) {
      expectRefusal(await client(server).post(path, body), 401, "unauthorized");
      expectRefusal(await client(server, admin.bearer).post(path, body), 403, "forbidden");
      for (const scope of ["resource:notes:read", "resource:notes:write", "*", "operations:*"])
        expectRefusal(await client(server, await apiKey(server, scope)).post(path, body), 403, "forbidden");
      expectRefusal(await client(server, { "X-API-Key": "svc_sk_x" }).post(path, body), 401, "unauthorized");
      expectRefusal(await (await backend(server)).get(path), 405, "method_not_allowed");
    }
    await server.settled();
    expect([await countOf(server, "_users"), server.mail.messages.length]).toEqual([1, 0]);
  });

  it.each([
    {},
    { email: "eve" },
    { email: "e\u200Dve@example.com" },
    { email: eve, role: "owner" },
    { email: eve, role: 1 },
    { email: eve, redirect_to: 1 },
    { email: eve, redirect_to: ["https://app.example.com/"] },
  ])("refuses the invitation %j", async (body) => {
    const server = await serve(project);
    expectRefusal(await (await backend(server)).post("/auth/users/invite", body), 400, "bad_request");
    expect(await countOf(server, "_users")).toBe(0);
  });
});

describe("the address of a link", () => {
  it("is the configured base, whatever Host a request names", async () => {
    const config = 'auth.public_base_url = "https://api.example.com"';
    const server = await serve({ ...verifying, config });
    const forged = client(server, {
      "X-Forwarded-Host": "evil.example",
      "X-Forwarded-Proto": "http",
      "X-Forwarded-Port": "81",
      Forwarded: "host=evil.example",
      Host: "evil.example",
      Origin: "https://evil.example",
    });
    await forged.post("/auth/register", { email: eve, password });
    // Before the next link replaces this one, whose mail would then not go out.
    await server.settled();
    await forged.post("/auth/email-verification/resend", { email: eve });
    await forged.post("/auth/password-reset/request", { email: eve });
    const mails = await mailsTo(server, eve);
    expect(mails).toHaveLength(3);
    for (const mail of mails) {
      expect(linkIn(mail).origin).toBe("https://api.example.com");
      expect(JSON.stringify(mail)).not.toContain("evil");
    }
  });

  it("is the project's page for each purpose, where one is configured", async () => {
    const schema = `$auth:
  email_verification: { required: true, url: "https://app.example.com/verify" }
  password_reset_url: "https://app.example.com/reset?lang=en"
${notes}`;
    const server = await serve({ schema });
    await client(server).post("/auth/register", { email: eve, password });
    const token = await lastToken(server, eve);
    expect(linkIn(await mailTo(server, eve)).href).toBe(`https://app.example.com/verify?token=${token}`);
    await client(server).post("/auth/password-reset/request", { email: eve });
    const reset = await lastToken(server, eve);
    expect(linkIn(await mailTo(server, eve)).href).toBe(`https://app.example.com/reset?lang=en&token=${reset}`);
  });
});
