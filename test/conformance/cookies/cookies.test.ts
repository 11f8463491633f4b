import { describe, expect, it } from "vitest";
import { codeChallengeOf } from "../../../src/auth/oauth/state.js";
import { hashSecret } from "../../../src/encoding/hash-secret.js";
import { type Answer, client, expectRefusal, read } from "../../support/client.js";
import { countOf, run } from "../../support/people.js";
import { apiKey, serve, signUp, type TestServer } from "../../support/server.js";
import { lastToken } from "../links/support.js";

const page = "https://app.example.com";
const schema = `
notes:
  columns:
    id:   { type: integer, primary_key: true }
    body: { type: text, not_null: true }
`;
const config = (auth = "") => `
[auth]
cookie_mode = true
${auth}
[cors]
allowed_origins = ["${page}"]
[rules.notes]
read = "authenticated"
create = "authenticated"
update = "authenticated"
delete = "authenticated"
`;

const credentials = { email: "ada@example.com", password: "correct horse" };
const json = { "Content-Type": "application/json" };
const deletion = ["svc_access", "svc_refresh"].map(
  (name) => `${name}=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0; Secure`,
);

function post(server: TestServer, path: string, headers: Record<string, string>, body?: unknown) {
  return client(server).send("POST", path, {
    headers: body === undefined ? headers : { ...json, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** What a browser keeps: names and values of the cookies that were set. */
function jar(headers: Headers): string {
  return headers
    .getSetCookie()
    .map((text) => text.split(";")[0]!)
    .join("; ");
}

async function signedIn(auth = ""): Promise<{ server: TestServer; cookie: string; refreshToken: string }> {
  const server = await serve({ schema, config: config(auth) });
  const answer = await post(server, "/auth/register", { Origin: page }, credentials);
  const { data } = answer.body as { data: { refresh_token: string } };
  return { server, cookie: jar(answer.headers), refreshToken: data.refresh_token };
}

describe("the session's cookies", () => {
  it("have exactly the specified attributes, and no Domain", async () => {
    const server = await serve({ schema, config: config() });
    const answer = await post(server, "/auth/register", { Origin: page }, credentials);
    const { data } = answer.body as { data: { access_token: string; refresh_token: string } };
    expect(answer.headers.getSetCookie()).toEqual([
      `svc_access=${data.access_token}; HttpOnly; SameSite=Lax; Path=/; Max-Age=900; Secure`,
      `svc_refresh=${data.refresh_token}; HttpOnly; SameSite=Lax; Path=/; Max-Age=2592000; Secure`,
    ]);
  });

  it("are not Secure where cookie_secure is false", async () => {
    const server = await serve({ schema, config: config("cookie_secure = false") });
    const { headers } = await post(server, "/auth/register", { Origin: page }, credentials);
    for (const text of headers.getSetCookie()) expect(text).not.toMatch(/secure|domain/i);
  });

  it("sign in, refresh without any body, and are deleted with the attributes that they were set with", async () => {
    const { server, cookie } = await signedIn();
    expect((await client(server, { Cookie: cookie }).get("/auth/me")).status).toBe(200);
    const refreshed = await post(server, "/auth/refresh", { Cookie: cookie, Origin: page });
    expect(refreshed.status).toBe(200);
    const next = jar(refreshed.headers);
    expect(next).not.toBe(cookie);
    const out = await post(server, "/auth/logout", { Cookie: next, Origin: page });
    expect(out.body).toEqual({ data: { revoked: true } });
    expect(out.headers.getSetCookie()).toEqual(deletion);
    expectRefusal(await client(server, { Cookie: next }).get("/auth/me"), 401, "unauthorized");
    const again = await post(server, "/auth/logout", { Cookie: next, Origin: page });
    expectRefusal(again, 401, "invalid_refresh_token");
    expect(again.headers.getSetCookie()).toEqual(deletion);
  });

  it("are deleted with the session at hand and with the account, and not with another session", async () => {
    const { server, cookie } = await signedIn();
    const login = async () => jar((await post(server, "/auth/login", { Origin: page }, credentials)).headers);
    const [second, third] = [await login(), await login()];
    const sent = (Cookie: string) => client(server, { Cookie, Origin: page });
    const idOf = async (jarred: string) => {
      const { data } = (await sent(jarred).get("/auth/sessions")).body as {
        data: readonly { id: string; current: boolean }[];
      };
      return data.find(({ current }) => current)!.id;
    };
    const other = await sent(cookie).delete(`/auth/sessions/${await idOf(second)}`);
    expect([other.status, other.headers.getSetCookie()]).toEqual([200, []]);
    const own = await sent(cookie).delete(`/auth/sessions/${await idOf(cookie)}`);
    expect([own.status, own.headers.getSetCookie()]).toEqual([200, deletion]);
    const remove = (password: string) =>
      client(server).send("DELETE", "/auth/me", {
        headers: { ...json, Cookie: third, Origin: page },
        body: JSON.stringify({ password }),
      });
    const wrong = await remove("wrong");
    expect([wrong.status, wrong.headers.getSetCookie()]).toEqual([403, []]);
    const gone = await remove(credentials.password);
    expect([gone.status, gone.headers.getSetCookie()]).toEqual([200, deletion]);
    expectRefusal(await sent(third).get("/auth/me"), 401, "unauthorized");
  });

  it("refresh and sign out by a body of no bytes as without any, of whatever type", async () => {
    const { server, cookie } = await signedIn();
    let current = cookie;
    const cases: readonly [path: string, type: Record<string, string>][] = [
      ["/auth/refresh", {}],
      ["/auth/refresh", json],
      ["/auth/refresh", { "Content-Type": "text/plain" }],
      ["/auth/logout", {}],
    ];
    for (const [path, type] of cases) {
      const body = new ReadableStream({ start: (stream) => stream.close() });
      const headers = { Cookie: current, Origin: page, ...type };
      const answer = await client(server).send("POST", path, { headers, body, duplex: "half" });
      expect({ path, type, status: answer.status }).toEqual({ path, type, status: 200 });
      current = jar(answer.headers);
    }
    // Anything in it is read as ever, and no cookie is used instead.
    const { cookie: other, server: second } = await signedIn();
    const withBody = (headers: Record<string, string>, body: string) =>
      client(second).send("POST", "/auth/refresh", {
        headers: { Cookie: other, Origin: page, ...headers },
        body,
      });
    expectRefusal(await withBody({ "Content-Type": "text/plain" }, " "), 415, "unsupported_media_type");
    expectRefusal(await withBody(json, " "), 400, "bad_request");
    expect((await post(second, "/auth/refresh", { Cookie: other, Origin: page })).status).toBe(200);
  });

  it("give way to a token in the body", async () => {
    const { server, cookie } = await signedIn();
    const other = await post(server, "/auth/login", { Origin: page }, credentials);
    const { data } = other.body as { data: { refresh_token: string } };
    await post(server, "/auth/logout", { Cookie: cookie, Origin: page }, { refresh_token: data.refresh_token });
    expect((await client(server, { Cookie: cookie }).get("/auth/me")).status).toBe(200);
  });

  it.each(["bad", `svc_rt_${"A".repeat(43)}`, ""])(
    "stay where the body's token %j is refused",
    async (refresh_token) => {
      const { server, cookie } = await signedIn();
      const body = { refresh_token };
      const refused = await post(server, "/auth/refresh", { Cookie: cookie, Origin: page }, body);
      expectRefusal(refused, 401, "invalid_refresh_token");
      expect(refused.headers.getSetCookie()).toEqual([]);
      expect((await post(server, "/auth/refresh", { Cookie: cookie, Origin: page })).status).toBe(200);
      const loggedOut = await post(server, "/auth/logout", { Cookie: cookie, Origin: page }, body);
      expectRefusal(loggedOut, 401, "invalid_refresh_token");
      expect(loggedOut.headers.getSetCookie()).toEqual(deletion);
    },
  );

  it("stay where a token of the body was used too late, which ends that token's session", async () => {
    const { server, cookie } = await signedIn();
    const login = await post(server, "/auth/login", { Origin: page }, credentials);
    const { refresh_token } = (login.body as { data: { refresh_token: string } }).data;
    const refresh = (body?: object) => post(server, "/auth/refresh", { Cookie: cookie, Origin: page }, body);
    expect((await refresh({ refresh_token })).status).toBe(200);
    server.clock.advance(10_001);
    const late = await refresh({ refresh_token });
    expectRefusal(late, 401, "invalid_refresh_token");
    expect(late.headers.getSetCookie()).toEqual([]);
    expect((await refresh()).status).toBe(200);
  });

  it("are deleted by a refresh whose own cookie is refused, is missing or is empty", async () => {
    const { server, cookie } = await signedIn();
    await post(server, "/auth/logout", { Cookie: cookie, Origin: page });
    for (const Cookie of [cookie, "other=1", "svc_refresh="]) {
      const refused = await post(server, "/auth/refresh", { Cookie, Origin: page });
      expectRefusal(refused, 401, "invalid_refresh_token");
      expect(refused.headers.getSetCookie()).toEqual(deletion);
    }
  });

  it("give way to a Bearer header, and a bad one is 401 even beside a good cookie", async () => {
    const { server, cookie } = await signedIn();
    const headers = { Cookie: cookie, Authorization: "Bearer nonsense" };
    expectRefusal(await client(server, headers).get("/auth/me"), 401, "unauthorized");
  });

  it("mean nothing outside of cookie mode", async () => {
    const server = await serve({ schema, config: config().replace("cookie_mode = true", "") });
    const ada = await signUp(server, "ada@example.com");
    const login = await post(server, "/auth/login", { Origin: page }, { ...credentials, password: "wrong" });
    expect(login.headers.getSetCookie()).toEqual([]);
    const cookie = `svc_access=${ada.accessToken}`;
    expectRefusal(await client(server, { Cookie: cookie }).get("/auth/me"), 401, "unauthorized");
  });
});

describe("auth.cookie_tokens_in_body = false", () => {
  const tokens = /svc_rt_|access_token|refresh_token/;

  /** The answer sets both cookies, and its body holds neither of them. */
  async function expectTokensInCookiesAlone(answer: Answer, status: number): Promise<string> {
    expect(answer.status, answer.text).toBe(status);
    const user = { id: expect.any(String), email: credentials.email, role: "user" };
    expect(answer.body).toEqual({ data: { user, token_type: "Bearer", expires_in: 900 } });
    expect(answer.text).not.toMatch(tokens);
    const cookies = answer.headers.getSetCookie().map((text) => /^[^=]+=([^;]+);/.exec(text)?.[1] ?? "");
    expect(cookies).toHaveLength(2);
    for (const value of cookies) {
      expect(value).toMatch(/.{20}/);
      expect(answer.text).not.toContain(value);
    }
    return jar(answer.headers);
  }

  it("leaves both tokens out of every body that would hold them", async () => {
    const server = await serve({ schema, config: config("cookie_tokens_in_body = false") });
    const send = (path: string, body?: unknown, cookie = "") =>
      post(server, path, { Origin: page, ...(cookie && { Cookie: cookie }) }, body);
    const cookie = await expectTokensInCookiesAlone(await send("/auth/register", credentials), 201);
    await expectTokensInCookiesAlone(await send("/auth/login", credentials), 200);
    const next = await expectTokensInCookiesAlone(await send("/auth/refresh", undefined, cookie), 200);
    // A repeated refresh, and one by a token in the body.
    const again = await expectTokensInCookiesAlone(await send("/auth/refresh", undefined, cookie), 200);
    const [, refreshToken] = /svc_refresh=([^;]+)/.exec(again)!;
    expect(next).toContain(refreshToken);
    await expectTokensInCookiesAlone(await send("/auth/refresh", { refresh_token: refreshToken }), 200);
  });

  it("leaves them out for links and exchange codes too", async () => {
    const required = "$auth: { email_verification: { required: true } }\n";
    const server = await serve({
      schema: required + schema,
      config: config("cookie_tokens_in_body = false"),
    });
    await post(server, "/auth/register", { Origin: page }, credentials);
    const confirm = { token: await lastToken(server, credentials.email) };
    const confirmed = await post(server, "/auth/email-verification/confirm", { Origin: page }, confirm);
    await expectTokensInCookiesAlone(confirmed, 200);

    const email = "eve@example.com";
    const key = client(server, await apiKey(server, "project:backend"));
    expect((await key.post("/auth/users/invite", { email })).status).toBe(201);
    const accept = { token: await lastToken(server, email), password: credentials.password };
    const accepted = await post(server, "/auth/invitations/accept", { Origin: page }, accept);
    expect([accepted.status, accepted.headers.getSetCookie().length]).toEqual([200, 2]);
    expect(accepted.text).not.toMatch(tokens);

    const verifier = "v".repeat(43);
    const code = "c".repeat(43);
    const inAMinute = server.clock.now() + 60_000;
    await run(
      server,
      `INSERT INTO _oauth_codes (hash, user_id, code_challenge, created_at, expires_at)
      SELECT '${await hashSecret(code)}', id, '${await codeChallengeOf(verifier)}', 0, ${inAMinute}
      FROM _users WHERE email = '${credentials.email}'`,
    );
    const exchange = { code, code_verifier: verifier };
    const exchanged = await post(server, "/auth/oauth/exchange", { Origin: page }, exchange);
    await expectTokensInCookiesAlone(exchanged, 200);
  });

  it("has no effect outside of cookie mode", async () => {
    const auth = "cookie_tokens_in_body = false";
    const server = await serve({ schema, config: config(auth).replace("cookie_mode = true", "") });
    const ada = await signUp(server, "ada@example.com");
    expect([ada.accessToken, ada.refreshToken]).toEqual([expect.any(String), expect.any(String)]);
  });
});

describe("a request from elsewhere", () => {
  const foreign: readonly (readonly [string, Record<string, string>])[] = [
    ["a foreign origin", { Origin: "https://evil.example" }],
    ["the origin null", { Origin: "null" }],
    ["a suffix of an allowed origin", { Origin: "https://app.example.com.evil.example" }],
    ["another scheme", { Origin: "http://app.example.com" }],
    ["another port", { Origin: "https://app.example.com:8443" }],
    ["Sec-Fetch-Site: cross-site", { "Sec-Fetch-Site": "cross-site" }],
    ["Sec-Fetch-Site: same-site", { "Sec-Fetch-Site": "same-site" }],
  ];

  it.each([...foreign, ["neither Origin nor Sec-Fetch-Site", {}] as const])(
    "with cookies cannot write: %s",
    async (_, headers) => {
      const { server, cookie } = await signedIn();
      for (const path of ["/api/notes", "/auth/refresh", "/auth/logout", "/auth/password", "/auth/email"])
        expectRefusal(await post(server, path, { Cookie: cookie, ...headers }, { body: "x" }), 403, "forbidden");
      const { password } = credentials;
      const sent = { headers: { ...json, Cookie: cookie, ...headers }, body: JSON.stringify({ password }) };
      for (const path of ["/auth/me", "/auth/sessions/x"])
        expectRefusal(await client(server).send("DELETE", path, sent), 403, "forbidden");
      expect(await countOf(server, "notes")).toBe(0);
      expect((await client(server, { Cookie: cookie }).get("/auth/me")).status).toBe(200);
    },
  );

  it.each(foreign)("with cookies can read by QUERY as by GET, which changes nothing: %s", async (_, headers) => {
    const { server, cookie } = await signedIn();
    const sent = client(server, { Cookie: cookie, ...headers });
    const json = { headers: { "Content-Type": "application/json" }, body: "{}" };
    const read = [await sent.get("/api/notes"), await sent.send("QUERY", "/api/notes", json)];
    for (const { status, headers } of read)
      expect([status, headers.get("Access-Control-Allow-Origin")]).toEqual([200, null]);
    expectRefusal(await sent.send("POST", "/api/notes/_svc/query", json), 403, "forbidden");
    for (const path of ["/auth/login", "/auth/refresh", "/auth/logout"])
      expectRefusal(await sent.send("QUERY", path, json), 405, "method_not_allowed");
  });

  it.each(foreign)("cannot sign a browser in: %s", async (_, headers) => {
    const { server } = await signedIn();
    const answer = await post(server, "/auth/login", headers, credentials);
    expectRefusal(answer, 403, "forbidden");
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  it("cannot sign a browser in by another spelling of the path", async () => {
    const { server } = await signedIn();
    const answer = await post(server, "/%61uth/login", { Origin: "https://evil.example" }, credentials);
    expectRefusal(answer, 403, "forbidden");
  });

  it("that is no browser's can sign in", async () => {
    const { server } = await signedIn();
    expect((await post(server, "/auth/login", {}, credentials)).status).toBe(200);
  });

  it.each([
    ["an allowed origin", { Origin: page }],
    ["the same origin by Sec-Fetch-Site", { "Sec-Fetch-Site": "same-origin" }],
  ] as const)("can write with cookies from %s", async (_, headers) => {
    const { server, cookie } = await signedIn();
    expect((await post(server, "/api/notes", { Cookie: cookie, ...headers }, { body: "x" })).status).toBe(201);
  });
});

describe("CORS", () => {
  const preflight = (origin: string) => ({
    headers: {
      Origin: origin,
      "Access-Control-Request-Method": "PATCH",
      "Access-Control-Request-Headers": "content-type",
    },
  });

  it("lets an allowed origin in, with credentials", async () => {
    const { server } = await signedIn();
    const answer = await client(server).send("OPTIONS", "/api/notes/1", preflight(page));
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "access-control-allow-origin": page,
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": "GET, POST, PATCH, DELETE, QUERY",
      "access-control-allow-headers": "content-type",
    });
    const read = await client(server, { Origin: page }).get("/api/notes");
    expect(read.headers.get("Access-Control-Allow-Origin")).toBe(page);
    expect(read.headers.get("Access-Control-Allow-Credentials")).toBe("true");
  });

  it("lets it send the headers of a trace", async () => {
    const { server } = await signedIn();
    const { headers } = preflight(page);
    const asked = { headers: { ...headers, "Access-Control-Request-Headers": "traceparent,tracestate" } };
    const answer = await client(server).send("OPTIONS", "/api/notes/1", asked);
    expect(answer.headers.get("Access-Control-Allow-Headers")).toBe("traceparent,tracestate");
    const read = await client(server, { Origin: page, traceparent: "00-x", tracestate: "a=b" }).get("/health");
    expect([read.status, read.headers.get("Access-Control-Allow-Origin")]).toEqual([200, page]);
  });

  it("lets it read every answer, refusals too", async () => {
    const { server } = await signedIn();
    const statuses: number[] = [];
    for (const [method, path] of [
      ["GET", "/health"],
      ["HEAD", "/health"],
      ["GET", "/api/notes"],
      ["PUT", "/api/notes"],
      ["OPTIONS", "/api/notes"],
      ["GET", "/nowhere"],
      ["POST", "/health"],
      ["GET", "/admin/api/users"],
    ] as const) {
      const { status, headers } = await client(server, { Origin: page }).send(method, path, {});
      expect(headers.get("Access-Control-Allow-Origin"), `${method} ${path}`).toBe(page);
      statuses.push(status);
    }
    expect(statuses).toEqual([200, 200, 401, 405, 405, 404, 405, 401]);
  });

  it("tells it in advance, before anybody asks who calls or what is there", async () => {
    const { server } = await signedIn();
    for (const path of ["/admin/api/users", "/nowhere"])
      expect((await client(server).send("OPTIONS", path, preflight(page))).status, path).toBe(204);
  });

  it.each([
    "null",
    "https://evil.example",
    "https://app.example.com.evil.example",
    "http://app.example.com",
    "https://app.example.com:8443",
  ])("tells %s nothing", async (origin) => {
    const { server } = await signedIn();
    const answers = [
      await client(server).send("OPTIONS", "/api/notes", preflight(origin)),
      await client(server, { Origin: origin }).get("/api/notes"),
    ];
    for (const { headers } of answers) {
      expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
      expect(headers.get("Vary")).toContain("Origin");
    }
  });

  it("answers any origin without credentials where any is allowed", async () => {
    const server = await serve({ schema, config: "[cors]\nallow_any_origin = true" });
    const { headers } = await client(server, { Origin: "https://anyone.example" }).get("/api/notes");
    expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(headers.has("Access-Control-Allow-Credentials")).toBe(false);
  });

  it("says Vary: Origin on every answer", async () => {
    const { server } = await signedIn();
    for (const path of ["/health", "/api/notes", "/api/nothing", "/nowhere", "/auth/me"]) {
      const { headers } = await read(await server.request(path));
      expect(headers.get("Vary"), path).toContain("Origin");
    }
  });
});
