import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { serve, type TestServer } from "../../support/server.js";
import {
  backend,
  countHashes,
  hour,
  lastToken,
  linkIn,
  mailsTo,
  mailTo,
  ofTheAnswer,
  open,
  other,
  password,
  tokenIn,
  tokensOf,
  verifying,
} from "./support.js";

const ada = "ada@example.com";

const accepted = (email: string) => ({
  data: {
    verification_required: true,
    user: { id: expect.stringMatching(/^[0-9a-f]{32}$/), email, role: "user" },
    verification_expires_in: 86_400,
  },
});

const confirm = (server: TestServer, token: unknown) =>
  client(server).post("/auth/email-verification/confirm", { token });
const register = (server: TestServer, email = ada, secret = password) =>
  client(server).post("/auth/register", { email, password: secret });
const login = (server: TestServer, secret = password) =>
  client(server).post("/auth/login", { email: ada, password: secret });
const resend = (server: TestServer, email = ada) => client(server).post("/auth/email-verification/resend", { email });

describe("registration where addresses have to be confirmed", () => {
  it("is 202 without a session, and the link of the mail confirms and signs in", async () => {
    const server = await serve(verifying);
    const answer = await register(server, "Ada@Example.com");
    expectAnswer(answer, 202, accepted("Ada@Example.com"));
    expect(answer.headers.get("Set-Cookie")).toBeNull();
    expect([await countOf(server, "_sessions"), await countOf(server, "_refresh_tokens")]).toEqual([0, 0]);
    const mail = await mailTo(server, "Ada@Example.com");
    expect(server.mail.messages).toHaveLength(1);
    expect(linkIn(mail).pathname).toBe("/auth/pages/verify-email");
    const [[id]] = (await rowsOf(server, "SELECT id FROM _users")) as [[string]];
    const confirmed = await confirm(server, tokenIn(mail));
    expectAnswer(confirmed, 200, tokensOf({ id, email: "Ada@Example.com", role: "user" }));
    const { access_token } = dataOf<{ access_token: string }>(confirmed);
    const me = await client(server, { Authorization: `Bearer ${access_token}` }).get("/auth/me");
    expect(me.body).toMatchObject({ data: { user: { id, email_verified: true } } });
    expect((await login(server)).status).toBe(200);
  });

  it("answers the same at the same hashes and statements, whether the address is new, unconfirmed or taken", async () => {
    const storage = switchboard();
    const server = await serve({ ...verifying, wrap: storage.wrap });
    await register(server, "pending@example.com");
    await register(server, "taken@example.com");
    await confirm(server, await lastToken(server, "taken@example.com"));
    const hashes = countHashes(server);
    const costs = [];
    const ids: string[] = [];
    for (const email of ["new@example.com", "pending@example.com", "taken@example.com"]) {
      storage.reset();
      hashes.count = 0;
      const answer = await register(server, email);
      await server.settled();
      expectAnswer(answer, 202, accepted(email));
      ids.push(dataOf<{ user: { id: string } }>(answer).user.id);
      costs.push({
        hashes: hashes.count,
        statements: ofTheAnswer(storage.sent),
        length: answer.text.length - email.length,
        headers: [...answer.headers.keys()].sort(),
      });
    }
    for (const cost of costs) expect(cost).toEqual(costs[0]);
    expect(costs[0]!.hashes).toBe(1);
    const known = (await rowsOf(server, "SELECT id FROM _users")).flat();
    expect(known).toHaveLength(3);
    expect(known.filter((id) => ids.includes(id as string))).toEqual([]);
  });

  it("tells the owner of a confirmed address, and changes nothing of theirs", async () => {
    const server = await serve(verifying);
    await register(server);
    await confirm(server, await lastToken(server, ada));
    await register(server, "ADA@example.com", other);
    const mails = await mailsTo(server, ada);
    expect(mails).toHaveLength(2);
    expect(mails[1]!.subject).toMatch(/already have an account/);
    expect(mails[1]!.text).not.toMatch(/https?:|token/);
    expect(await countOf(server, "_users")).toBe(1);
    expectRefusal(await login(server, other), 401, "invalid_credentials");
    expect((await login(server)).status).toBe(200);
  });

  it("again sends a link that carries the new password; the one before is dead", async () => {
    const server = await serve(verifying);
    await register(server, ada, "a squatter's password");
    const first = await lastToken(server, ada);
    await register(server, ada, password);
    const second = await lastToken(server, ada);
    expect(second).not.toBe(first);
    expectRefusal(await confirm(server, first), 400, "invalid_token");
    expectRefusal(await login(server), 401, "invalid_credentials");
    expect((await confirm(server, second)).status).toBe(200);
    expect((await login(server)).status).toBe(200);
    expectRefusal(await login(server, "a squatter's password"), 401, "invalid_credentials");
  });

  it("that can send no link any more makes the ones that are out carry nobody's password", async () => {
    const server = await serve(verifying);
    const squatted = "a squatter's password";
    for (let sent = 0; sent < 5; sent++) {
      await register(server, ada, squatted);
      // Before the next registration replaces its link, whose mail would then not go out.
      await server.settled();
    }
    expect((await register(server, ada, password)).status).toBe(202);
    expect(await mailsTo(server, ada)).toHaveLength(5);
    expect((await confirm(server, await lastToken(server, ada))).status).toBe(200);
    for (const tried of [squatted, password]) expectRefusal(await login(server, tried), 401, "invalid_credentials");
  });

  it("ends sessions that a squatter opened before confirmation was asked for", async () => {
    const server = await serve(verifying);
    await register(server, ada, "a squatter's password");
    const [[id]] = (await rowsOf(server, "SELECT id FROM _users")) as [[string]];
    await run(server, "INSERT INTO _sessions (id, user_id, created_at) VALUES ('squatter', ?, 0)", id);
    await register(server);
    await confirm(server, await lastToken(server, ada));
    expect(await rowsOf(server, "SELECT id FROM _sessions WHERE revoked_at IS NULL")).toHaveLength(1);
    expect(await rowsOf(server, "SELECT 1 FROM _sessions WHERE id = 'squatter' AND revoked_at IS NULL")).toEqual([]);
  });

  it("stays 403 where registration is by invitation or closed, and sends nothing", async () => {
    for (const registration of ["invite", "closed"]) {
      const settings = `$auth: { registration: ${registration}, email_verification: { required: true } }`;
      const server = await serve({ schema: verifying.schema.replace(/^.*\n/, `${settings}\n`) });
      expectRefusal(await register(server), 403, "registration_closed");
      await server.settled();
      expect(server.mail.messages).toEqual([]);
      expect(await countOf(server, "_users")).toBe(0);
    }
  });

  it("twenty times at once makes one user and one live link", async () => {
    const server = await serve({ ...verifying, config: "auth.throttle = { max_mails_per_address = 100 }" });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => register(server, ada, `${password}${n}`)));
    for (const answer of answers) expectAnswer(answer, 202, accepted(ada));
    await server.settled();
    expect([await countOf(server, "_users"), await countOf(server, "_links")]).toEqual([1, 1]);
  });
});

describe("an unconfirmed account", () => {
  it("with the right password is 403 email_not_verified, with a wrong one the generic 401", async () => {
    const storage = switchboard();
    const server = await serve({ ...verifying, wrap: storage.wrap });
    await register(server);
    expectRefusal(await login(server), 403, "email_not_verified");
    await server.settled();
    const costs = [];
    for (const email of [ada, "unknown@example.com"]) {
      storage.reset();
      const answer = await client(server).post("/auth/login", { email, password: other });
      expectRefusal(answer, 401, "invalid_credentials");
      costs.push({ text: answer.text, statements: storage.sent.map(({ sql }) => sql) });
    }
    expect(costs[1]).toEqual(costs[0]);
    expect(await countOf(server, "_sessions")).toBe(0);
  });

  it("with the right password is no failed attempt", async () => {
    const server = await serve({ ...verifying, config: "auth.throttle = { max_failures = 2 }" });
    await register(server);
    for (let attempt = 0; attempt < 5; attempt++) expectRefusal(await login(server), 403, "email_not_verified");
  });

  it("may log in where confirmation is not required, and no link vouches for who made it", async () => {
    const server = await serve(open);
    expect((await register(server)).status).toBe(201);
    const signedIn = dataOf<{ access_token: string }>(await login(server));
    const me = client(server, { Authorization: `Bearer ${signedIn.access_token}` });
    expect((await me.get("/auth/me")).body).toMatchObject({ data: { user: { email_verified: false } } });
    expectAnswer(await resend(server), 202, { data: { accepted: true } });
    await server.settled();
    expect(server.mail.messages).toEqual([]);
    expect(await countOf(server, "_links")).toBe(0);
  });
});

describe("an unconfirmed account that is somebody's already", () => {
  const stranger = "a stranger's password";
  const owners = {
    "an imported one with a password": async (server: TestServer) => {
      const password_hash = await server.platform.passwordHasher.hash(password);
      await (await backend(server)).post("/auth/users/import", {
        users: [{ id: "ada", email: ada, password_hash }],
      });
    },
    "an imported one without": async (server: TestServer) => {
      await (await backend(server)).post("/auth/users/import", { users: [{ id: "ada", email: ada }] });
    },
    "an invited one": async (server: TestServer) => {
      await (await backend(server)).post("/auth/users/invite", { email: ada, role: "admin" });
    },
    "one from before confirmation was required": async (server: TestServer) => {
      await member(server, "ada");
    },
  };

  it.each(Object.entries(owners))("%s takes no stranger's password", async (_, make) => {
    const server = await serve(verifying);
    await make(server);
    await server.settled();
    const before = await rowsOf(server, "SELECT * FROM _users");
    const links = await rowsOf(server, "SELECT * FROM _links");
    expectAnswer(await register(server, ada, stranger), 202, accepted(ada));
    expect((await mailTo(server, ada)).subject).toMatch(/already have an account/);
    expect(await rowsOf(server, "SELECT * FROM _users")).toEqual(before);
    expect(await rowsOf(server, "SELECT * FROM _links")).toEqual(links);
    // Neither the resent link nor a reset carries what the stranger offered.
    await resend(server);
    expect((await confirm(server, await lastToken(server, ada))).status).toBe(200);
    expectRefusal(await login(server, stranger), 401, "invalid_credentials");
  });

  it("keeps its own password when the resent link is used, and whoever was signed in is no longer", async () => {
    const server = await serve(verifying);
    await owners["an imported one with a password"](server);
    await run(server, "INSERT INTO _sessions (id, user_id, created_at) VALUES ('earlier', 'ada', 0)");
    await resend(server);
    expect((await confirm(server, await lastToken(server, ada))).status).toBe(200);
    const ended = "SELECT revoked_at IS NOT NULL FROM _sessions WHERE id = 'earlier'";
    expect(await rowsOf(server, ended)).toEqual([[1]]);
    expect((await login(server)).status).toBe(200);
  });
});

describe("resend", () => {
  it("answers the same at the same statements, whatever becomes of it", async () => {
    const storage = switchboard();
    const server = await serve({ ...verifying, wrap: storage.wrap });
    await register(server, "pending@example.com");
    await register(server, "taken@example.com");
    await confirm(server, await lastToken(server, "taken@example.com"));
    await register(server, "off@example.com");
    await run(server, "UPDATE _users SET disabled = 1 WHERE email_key = 'off@example.com'");
    await server.settled();
    server.mail.messages.length = 0;
    const costs = [];
    for (const email of ["unknown@example.com", "pending@example.com", "taken@example.com", "off@example.com"]) {
      storage.reset();
      const answer = await resend(server, email);
      await server.settled();
      expectAnswer(answer, 202, { data: { accepted: true } });
      costs.push({ text: answer.text, statements: ofTheAnswer(storage.sent) });
    }
    for (const cost of costs) expect(cost).toEqual(costs[0]);
    expect(server.mail.messages.map(({ to }) => to)).toEqual(["pending@example.com"]);
  });

  it("kills the older link, and carries on the password that it carried", async () => {
    const server = await serve(verifying);
    await register(server, ada, "a squatter's password");
    await register(server);
    const first = await lastToken(server, ada);
    await resend(server);
    const second = await lastToken(server, ada);
    expectRefusal(await confirm(server, first), 400, "invalid_token");
    expect((await confirm(server, second)).status).toBe(200);
    expect((await login(server)).status).toBe(200);
  });

  it("long after the links of a registration are gone, leaves no password that nobody vouched for", async () => {
    const server = await serve(verifying);
    await register(server, ada, "a squatter's password");
    await register(server);
    await server.settled();
    server.clock.advance(9 * 24 * hour);
    await server.upkeep.purge();
    expect(await countOf(server, "_links")).toBe(0);
    await resend(server);
    expect((await confirm(server, await lastToken(server, ada))).status).toBe(200);
    for (const secret of ["a squatter's password", password])
      expectRefusal(await login(server, secret), 401, "invalid_credentials");
  });

  it.each([{}, { email: "ada" }, { email: 1 }, { email: null }])("refuses the body %j", async (body) => {
    const server = await serve(open);
    for (const path of ["/auth/email-verification/resend", "/auth/password-reset/request"])
      expectRefusal(await client(server).post(path, body), 400, "bad_request");
  });
});

describe("a confirmation link", () => {
  it("works once, also when it is opened twenty times at once", async () => {
    const server = await serve(verifying);
    await register(server);
    const token = await lastToken(server, ada);
    const answers = await Promise.all(Array.from({ length: 20 }, () => confirm(server, token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expectRefusal(answer, 400, "invalid_token");
    expect([await countOf(server, "_sessions"), await countOf(server, "_refresh_tokens")]).toEqual([1, 1]);
  });

  it("lives for 24 hours, whatever the clock does to a used one", async () => {
    const server = await serve(verifying);
    await register(server);
    const token = await lastToken(server, ada);
    server.clock.advance(24 * hour - 1);
    await register(server, "late@example.com");
    const late = await lastToken(server, "late@example.com");
    expect((await confirm(server, token)).status).toBe(200);
    server.clock.advance(-2 * hour);
    expectRefusal(await confirm(server, token), 400, "invalid_token");
    server.clock.advance(26 * hour);
    expectRefusal(await confirm(server, late), 400, "invalid_token");
    expect(await countOf(server, "_sessions")).toBe(1);
  });

  it("of a disabled account is dead, and enables nobody", async () => {
    const server = await serve(verifying);
    await register(server);
    const token = await lastToken(server, ada);
    await run(server, "UPDATE _users SET disabled = 1");
    expectRefusal(await confirm(server, token), 400, "invalid_token");
    expect(await rowsOf(server, "SELECT disabled, email_verified FROM _users")).toEqual([[1, 0]]);
  });

  it.each(["", "x", "A".repeat(43), "\u0661"])("of the token %j is 400", async (token) => {
    const server = await serve(verifying);
    expectRefusal(await confirm(server, token), 400, "invalid_token");
  });

  it.each([undefined, null, 1, ["x"]])("of the token %j is 400 for its body", async (token) => {
    const server = await serve(verifying);
    expectRefusal(await confirm(server, token), 400, "bad_request");
  });

  it("sets the cookies in cookie mode", async () => {
    const config =
      'auth.cookie_mode = true\ncors.allowed_origins = ["https://app.example.com"]\nauth.cookie_secure = false';
    const server = await serve({ ...verifying, config });
    expect((await register(server)).headers.get("Set-Cookie")).toBeNull();
    const answer = await confirm(server, await lastToken(server, ada));
    expect(answer.headers.getSetCookie().map((cookie) => cookie.split("=")[0])).toEqual(["svc_access", "svc_refresh"]);
    const foreign = client(server, { Origin: "https://evil.example" });
    expectRefusal(await foreign.post("/auth/email-verification/confirm", { token: "x" }), 403, "forbidden");
  });
});
