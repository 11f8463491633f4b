import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";
import { ownPage, password, root, schema, signIn, userWith, withRoot } from "./support.js";

const hours = 3_600_000;
const minutes = 60_000;
const at = (server: TestServer, ms: number) => new Date(server.clock.now() + ms).toISOString();

describe("POST /admin/api/session", () => {
  it("opens a session for an administrator, for twelve hours, confirmed for five minutes", async () => {
    const { server, id } = await withRoot();
    const answer = await client(server).post("/admin/api/session", root, ownPage);
    const user = { id, email: root.email, role: "admin" };
    const session = { user, expires_at: at(server, 12 * hours), confirmed_until: at(server, 5 * minutes) };
    expectAnswer(answer, 200, { data: session });
    const [text] = answer.headers.getSetCookie();
    expect(text).toMatch(/^svc_console=svc_cs_[\w-]{43}; Path=\/admin\/api; HttpOnly; SameSite=Strict; Max-Age=43200$/);
    const console = client(server, { ...ownPage, Cookie: text!.split(";")[0]! });
    expectAnswer(await console.get("/admin/api/session"), 200, { data: session });
    expect((await console.get("/admin/api/users")).status).toBe(200);
  });

  it("sets a cookie of another name where the server's origin is https", async () => {
    const { server } = await withRoot('auth.public_base_url = "https://api.example.com"');
    const page = { Origin: "https://api.example.com" };
    const answer = await client(server).post("/admin/api/session", root, page);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Secure-svc_console=svc_cs_[\w-]{43}; Path=\/admin\/api; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/,
      ),
    ]);
  });

  it("stores the token as a hash alone", async () => {
    const { server } = await withRoot();
    const { cookie } = await signIn(server);
    const token = cookie.replace("svc_console=", "");
    const rows = await rowsOf(server, "SELECT * FROM _sessions");
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(token.slice(7));
  });

  it("lasts no longer than auth.session_max_age_secs", async () => {
    const { server } = await withRoot("auth.session_max_age_secs = 3600");
    const answer = await client(server).post("/admin/api/session", root, ownPage);
    expect(answer.headers.getSetCookie()[0]).toContain("Max-Age=3600");
    expect(answer.body).toMatchObject({ data: { expires_at: at(server, hours) } });
  });

  it("is for administrators, and says so only to whom the password is right", async () => {
    const { server } = await withRoot();
    await userWith(server, "ada@example.com", "user");
    const ada = { email: "ada@example.com", password };
    const answer = await client(server).post("/admin/api/session", ada, ownPage);
    expectRefusal(answer, 403, "forbidden");
    const wrong = await client(server).post("/admin/api/session", { ...ada, password: "wrong one" }, ownPage);
    expectRefusal(wrong, 401, "invalid_credentials");
    for (const { headers } of [answer, wrong]) expect(headers.getSetCookie()).toEqual([]);
    expect(await countOf(server, "_sessions")).toBe(0);
  });

  it("answers an unknown address, a wrong password, an account without one and a disabled one as a login does", async () => {
    const { server } = await withRoot();
    await userWith(server, "off@example.com", "admin");
    await userWith(server, "none@example.com", "admin");
    await run(server, "UPDATE _users SET disabled = 1 WHERE email = 'off@example.com'");
    await run(server, "UPDATE _users SET password_hash = NULL WHERE email = 'none@example.com'");
    const anybody = client(server);
    const asked = [
      { ...root, email: "nobody@example.com" },
      { ...root, password: "wrong one" },
      { ...root, email: "off@example.com" },
      { ...root, email: "none@example.com" },
    ];
    for (const credentials of asked) {
      const answer = await anybody.post("/admin/api/session", credentials, ownPage);
      const login = await anybody.post("/auth/login", credentials);
      expectRefusal(answer, 401, "invalid_credentials");
      expect(answer.text).toBe(login.text);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
  });

  it("costs as many hashes and statements as a login that fails, whatever was wrong", async () => {
    const storage = switchboard();
    const server = await serve({ schema, wrap: storage.wrap });
    await userWith(server, root.email, "admin");
    await userWith(server, "ada@example.com", "user");
    const { passwordHasher } = server.platform;
    let hashes = 0;
    const verify: typeof passwordHasher.verify = (...given) => {
      hashes++;
      return passwordHasher.verify(...given);
    };
    Object.assign(server.platform, { passwordHasher: { ...passwordHasher, verify } });
    const costs = [];
    for (const path of ["/auth/login", "/admin/api/session"])
      for (const email of ["nobody@example.com", root.email, "ada@example.com"]) {
        storage.reset();
        hashes = 0;
        await client(server).post(path, { email, password: "wrong one" }, ownPage);
        costs.push({
          hashes,
          roundTrips: storage.roundTrips,
          statements: storage.sent.map(({ sql }) => sql),
        });
      }
    for (const cost of costs) expect(cost).toEqual(costs[0]);
    expect(costs[0]!.hashes).toBe(1);
  });

  it("counts failures with those of logins", async () => {
    const { server } = await withRoot("auth.throttle.max_failures = 3");
    const wrong = { ...root, password: "wrong one" };
    const paths = ["/admin/api/session", "/auth/login", "/admin/api/session"];
    for (const path of paths) expect((await client(server).post(path, wrong, ownPage)).status).toBe(401);
    const refused = await client(server).post("/admin/api/session", root, ownPage);
    expectRefusal(refused, 429, "rate_limited");
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(refused.headers.getSetCookie()).toEqual([]);
  });

  it("asks for a confirmed address where that is needed", async () => {
    const server = await serve({
      schema: `$auth: { email_verification: { required: true } }\n${schema}`,
    });
    await userWith(server, root.email, "admin");
    await run(server, "UPDATE _users SET email_verified = 0");
    const answer = await client(server).post("/admin/api/session", root, ownPage);
    expectRefusal(answer, 403, "email_not_verified");
  });

  it("refuses what is no address and password", async () => {
    const { server } = await withRoot();
    for (const body of [{}, { email: "root", password }, { email: root.email, password: 1 }])
      expectRefusal(await client(server).post("/admin/api/session", body, ownPage), 400, "bad_request");
    const long = { ...root, password: "x".repeat(1025) };
    expectRefusal(await client(server).post("/admin/api/session", long, ownPage), 400, "bad_request");
    const form = { headers: { ...ownPage, "Content-Type": "text/plain" }, body: JSON.stringify(root) };
    const answer = await client(server).send("POST", "/admin/api/session", form);
    expectRefusal(answer, 415, "unsupported_media_type");
  });
});

it("a session of the console is among those that its user sees and ends", async () => {
  const { server } = await withRoot();
  const { console, session } = await signIn(server);
  const { data } = (await client(server).post("/auth/login", root)).body as {
    data: { access_token: string };
  };
  const bearer = client(server, { Authorization: `Bearer ${data.access_token}` });
  type Own = { readonly id: string; readonly kind: string; readonly expires_at: string };
  const listed = dataOf<readonly Own[]>(await bearer.get("/auth/sessions"));
  const own = listed.find(({ kind }) => kind === "console")!;
  expect([listed.length, own.expires_at]).toEqual([2, session.expires_at]);
  expect((await bearer.delete(`/auth/sessions/${own.id}`)).status).toBe(200);
  expectRefusal(await console.get("/admin/api/session"), 401, "unauthorized");
});

describe("a session of the console ends", () => {
  const ended = async (server: TestServer, cookie: string) => {
    const console = client(server, { ...ownPage, Cookie: cookie });
    for (const path of ["/admin/api/session", "/admin/api/users"])
      expectRefusal(await console.get(path), 401, "unauthorized");
    expectRefusal(await console.post("/admin/api/session/confirm", { password }), 401, "unauthorized");
  };

  it("after twelve hours, and its row goes", async () => {
    const { server } = await withRoot();
    const { cookie, console } = await signIn(server);
    server.clock.advance(12 * hours - 1);
    expect((await console.get("/admin/api/users")).status).toBe(200);
    server.clock.advance(1);
    await ended(server, cookie);
    await server.upkeep.purge();
    expect(await countOf(server, "_sessions")).toBe(0);
  });

  it("when it is signed out, and the cookie is deleted as it was set", async () => {
    const { server } = await withRoot();
    const { cookie, console } = await signIn(server);
    const other = await signIn(server);
    const answer = await console.delete("/admin/api/session");
    expectAnswer(answer, 200, { data: { revoked: true } });
    const deletion = "svc_console=; Path=/admin/api; HttpOnly; SameSite=Strict; Max-Age=0";
    expect(answer.headers.getSetCookie()).toEqual([deletion]);
    await ended(server, cookie);
    expect((await other.console.get("/admin/api/session")).status).toBe(200);
    const again = await console.delete("/admin/api/session");
    expectRefusal(again, 401, "unauthorized");
    expect(again.headers.getSetCookie()).toEqual([deletion]);
  });

  it.each<[string, (server: TestServer, id: string) => Promise<unknown>]>([
    ["the user is disabled", (server, id) => patched(server, id, { disabled: true })],
    ["the user is no administrator any more", (server, id) => patched(server, id, { role: "user" })],
    [
      "the user's sessions are revoked",
      async (server, id) => (await backend(server)).post(`/admin/api/users/${id}/revoke-sessions`, {}),
    ],
    [
      "everybody's sessions are revoked",
      async (server) => (await backend(server)).post("/admin/api/revoke-sessions", {}),
    ],
    ["the user is deleted", async (server, id) => (await backend(server)).delete(`/admin/api/users/${id}`)],
    [
      "the password is changed",
      async (server) => {
        const login = await client(server).post("/auth/login", root);
        const { data } = login.body as { data: { access_token: string } };
        const bearer = { Authorization: `Bearer ${data.access_token}` };
        return client(server, bearer).post("/auth/password", {
          current_password: password,
          password: "another horse",
        });
      },
    ],
  ])("when %s, with the next request, and nothing brings it back", async (_, act) => {
    const { server, id } = await withRoot();
    await userWith(server, "second@example.com", "admin");
    const { cookie } = await signIn(server);
    expect(await act(server, id)).toMatchObject({ status: 200 });
    await ended(server, cookie);
    await run(server, "UPDATE _users SET disabled = 0, role = 'admin'");
    await ended(server, cookie);
  });

  it("when it is older than auth.session_max_age_secs, whatever it was told", async () => {
    const { server } = await withRoot("auth.session_max_age_secs = 60");
    const { cookie } = await signIn(server);
    await run(server, "UPDATE _sessions SET expires_at = expires_at + 100000000");
    server.clock.advance(60_000);
    await ended(server, cookie);
  });

  async function backend(server: TestServer) {
    return client(server, await apiKey(server, "project:backend"));
  }

  async function patched(server: TestServer, id: string, change: object) {
    return (await backend(server)).patch(`/admin/api/users/${id}`, change);
  }
});

describe("POST /admin/api/session/confirm", () => {
  /** What needs a confirmed session, and what it answers then. */
  const guarded = [
    ["POST", "/admin/api/users", { email: "new@example.com", password }, 201],
    ["POST", "/admin/api/users/invite", { email: "invited@example.com" }, 201],
    ["PATCH", "/admin/api/users/ada", { role: "admin" }, 200],
    ["DELETE", "/admin/api/users/ada", undefined, 200],
    ["POST", "/admin/api/service-keys", { name: "k", scopes: ["project:backend"] }, 201],
    ["DELETE", "/admin/api/service-keys/none", undefined, 404],
    ["POST", "/admin/api/schema/apply", undefined, 200],
    ["POST", "/admin/api/reload", undefined, 409],
    ["POST", "/admin/api/revoke-sessions", {}, 200],
  ] as const;

  const sent = (server: TestServer, headers: Record<string, string>, method: string, path: string, body: unknown) =>
    client(server, headers).send(method, path, {
      ...(body !== undefined && {
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      }),
    });

  it("is needed after five minutes for what makes keys, users and tables", async () => {
    const { server } = await withRoot();
    await member(server, "ada");
    const { cookie, console } = await signIn(server);
    const headers = { ...ownPage, Cookie: cookie };
    server.clock.advance(5 * minutes - 1);
    const key = { name: "k", scopes: ["project:backend"] };
    expect((await console.post("/admin/api/service-keys", key)).status).toBe(201);
    server.clock.advance(1);
    for (const [method, path, body] of guarded)
      expectRefusal(await sent(server, headers, method, path, body), 403, "password_needed");
    expect(await countOf(server, "_users")).toBe(2);
    expect(await countOf(server, "_service_keys WHERE revoked_at IS NULL")).toBe(1);
    for (const path of ["/admin/api/users", "/admin/api/service-keys", "/admin/api/usage", "/admin/api/session"])
      expect((await console.get(path)).status, path).toBe(200);
    const confirmed = await console.post("/admin/api/session/confirm", { password });
    expect(confirmed.status).toBe(200);
    expect(confirmed.body).toMatchObject({
      data: { confirmed_until: at(server, 5 * minutes), user: { email: root.email } },
    });
    expect(confirmed.headers.getSetCookie()).toEqual([]);
    expectAnswer(await console.get("/admin/api/session"), 200, confirmed.body);
    for (const [method, path, body, status] of guarded)
      expect((await sent(server, headers, method, path, body)).status, `${method} ${path}`).toBe(status);
  });

  it("is needed to see the links of mails, by one of which a passer-by would set a new password", async () => {
    const { server } = await withRoot();
    const { console } = await signIn(server);
    await client(server).post("/auth/password-reset/request", { email: root.email });
    await server.settled();
    const link = async () => dataOf<object[]>(await console.get("/admin/api/outbox"))[0];
    expect(await link()).toMatchObject({ to: root.email, link: expect.stringContaining("token=") });
    server.clock.advance(5 * minutes);
    const shown = await link();
    expect(shown).toMatchObject({ to: root.email });
    expect(shown).not.toHaveProperty("link");
    await console.post("/admin/api/session/confirm", { password });
    expect(await link()).toHaveProperty("link");
  });

  it("confirms the one session", async () => {
    const { server } = await withRoot();
    const [first, second] = [await signIn(server), await signIn(server)];
    server.clock.advance(6 * minutes);
    expect((await first.console.post("/admin/api/session/confirm", { password })).status).toBe(200);
    const key = { name: "k", scopes: ["project:backend"] };
    expectRefusal(await second.console.post("/admin/api/service-keys", key), 403, "password_needed");
  });

  it("takes the right password alone, and counts wrong ones with those of logins", async () => {
    const { server } = await withRoot("auth.throttle.max_failures = 3");
    const { console } = await signIn(server);
    server.clock.advance(6 * minutes);
    const before = await console.get("/admin/api/session");
    for (const wrong of ["wrong one", "", `${password} `])
      expectRefusal(await console.post("/admin/api/session/confirm", { password: wrong }), 403, "invalid_credentials");
    expectRefusal(await console.post("/admin/api/session/confirm", { password }), 429, "rate_limited");
    expectAnswer(await console.get("/admin/api/session"), 200, before.body);
    for (const body of [{}, { password: 1 }])
      expectRefusal(await console.post("/admin/api/session/confirm", body), 400, "bad_request");
  });

  it("is asked of the console alone: access tokens and keys go on as before", async () => {
    const { server } = await withRoot();
    const admin = await member(server, "ada", "admin");
    server.clock.advance(6 * minutes);
    const key = { name: "k", scopes: ["project:backend"] };
    const bearer = client(server, admin.bearer);
    expect((await bearer.post("/admin/api/service-keys", key)).status).toBe(201);
    for (const path of ["/admin/api/session", "/admin/api/session/confirm"])
      expectRefusal(
        path.endsWith("confirm") ? await bearer.post(path, { password }) : await bearer.get(path),
        401,
        "unauthorized",
      );
  });
});

it("no method but those that are there", async () => {
  const { server } = await withRoot();
  for (const [path, allow] of [
    ["/admin/api/session", "GET, POST, DELETE"],
    ["/admin/api/session/confirm", "POST"],
    ["/admin/api/setup", "POST"],
  ] as const) {
    const answer = await client(server, ownPage).send("PUT", path, {});
    expectRefusal(answer, 405, "method_not_allowed");
    expect(answer.headers.get("Allow")).toBe(allow);
  }
});

it("signing in fills no database: of one user's sessions the oldest go", async () => {
  const { server } = await withRoot();
  await run(
    server,
    `INSERT INTO _sessions (id, user_id, created_at, latest_at)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    SELECT 'old ' || i, (SELECT id FROM _users), ?, ? + i FROM n`,
    BigInt(server.clock.now() - hours),
    BigInt(server.clock.now() - hours),
  );
  const { console } = await signIn(server);
  expect(await countOf(server, "_sessions")).toBe(1_000);
  expect((await console.get("/admin/api/session")).status).toBe(200);
});
