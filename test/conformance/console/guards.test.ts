import { describe, expect, it } from "vitest";
import { client, expectRefusal } from "../../support/client.js";
import { countOf, member } from "../../support/people.js";
import { apiKey, onFile, skip } from "../../support/server.js";
import { cookieOf, own, ownPage, password, root, signIn, withRoot } from "./support.js";

const sibling = "https://app.example.com";
/** Pages of a sibling may call the API, with cookies even. */
const open = `
[auth]
cookie_mode = true
[cors]
allowed_origins = ["${sibling}", "http://127.0.0.1:5173"]
[rules.notes]
read = "authenticated"
`;

/** What a browser says of pages that are not the console's. */
const strangers: readonly (readonly [string, Record<string, string>])[] = [
  ["a foreign page", { Origin: "https://evil.example" }],
  ["a sandboxed page", { Origin: "null" }],
  ["an allowed sibling", { Origin: sibling }],
  ["an allowed page on another port of this machine", { Origin: "http://127.0.0.1:5173" }],
  ["its own host over TLS", { Origin: "https://127.0.0.1:8787" }],
  ["its own host with something behind it", { Origin: `${own}.evil.example` }],
  ["an image on a foreign page", { "Sec-Fetch-Site": "cross-site" }],
  ["an image on a sibling", { "Sec-Fetch-Site": "same-site" }],
  ["the address bar", { "Sec-Fetch-Site": "none" }],
  ["a foreign page whose request was led on", { Origin: "https://evil.example", "Sec-Fetch-Site": "same-origin" }],
  ["nobody who says so", {}],
];

const noCors = (headers: Headers) =>
  expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);

const paths = [
  "/admin/api/session",
  "/admin/api/users",
  "/admin/api/service-keys",
  "/admin/api/usage",
  "/admin/api/outbox",
  "/admin/api/data/notes",
  "/admin/api/data/notes/_svc/aggregate?count=*",
];

describe("the console's cookie", () => {
  it.each(strangers)("is refused from %s", async (_, headers) => {
    const { server } = await withRoot(open);
    const { cookie } = await signIn(server);
    const page = client(server, { ...headers, Cookie: cookie });
    for (const path of paths) {
      const answer = await page.get(path);
      expectRefusal(answer, 403, "forbidden");
      noCors(answer.headers);
    }
    const key = { name: "k", scopes: ["project:backend"] };
    for (const answer of [
      await page.post("/admin/api/service-keys", key),
      await page.post("/admin/api/session/confirm", { password }),
      await page.delete("/admin/api/session"),
      await page.get("/%61dmin/api/users"),
      await page.post("/admin/api/data/notes", { body: "x" }),
      await page.post("/admin/api/data/_svc/batch", { operations: [] }),
    ]) {
      expectRefusal(answer, 403, "forbidden");
      noCors(answer.headers);
    }
    expect(await countOf(server, "_service_keys")).toBe(0);
    expect(await countOf(server, "_sessions WHERE revoked_at IS NULL")).toBe(1);
  });

  it.each([
    ["says where it comes from", ownPage],
    ["has nothing but what a browser says of it", { "Sec-Fetch-Site": "same-origin" }],
  ])("is taken from a page of its own that %s", async (_, headers) => {
    const { server } = await withRoot(open);
    const { cookie } = await signIn(server);
    const page = client(server, { ...headers, Cookie: cookie });
    for (const path of paths) {
      const answer = await page.get(path);
      expect(answer.status, path).toBe(200);
      noCors(answer.headers);
    }
  });

  it("is nobody's under /api, /auth, /ops and for metrics and the document", async () => {
    const { server } = await withRoot(open);
    const { cookie, console } = await signIn(server);
    for (const path of ["/api/notes", "/auth/me", "/metrics", "/openapi.json"])
      expectRefusal(await console.get(path), 401, "unauthorized");
    expectRefusal(await console.post("/api/notes", { id: 1 }), 401, "unauthorized");
    const change = { current_password: password, password: "another horse" };
    expectRefusal(await console.post("/auth/password", change), 401, "unauthorized");
    expectRefusal(await console.post("/auth/logout", {}), 400, "bad_request");
    // Nor is its token another credential by another name.
    const token = cookie.split("=")[1]!;
    for (const headers of [
      { Authorization: `Bearer ${token}` },
      { "X-API-Key": token },
      { Cookie: `svc_access=${token}` },
    ])
      expectRefusal(await client(server, { ...ownPage, ...headers }).get("/admin/api/users"), 401, "unauthorized");
  });

  it("that is malformed, unknown, or comes twice is 401, also beside an access cookie that is good", async () => {
    const { server } = await withRoot(open);
    const { cookie } = await signIn(server);
    const admin = await member(server, "ada", "admin");
    const access = `svc_access=${admin.accessToken}`;
    const get = (value: string) => client(server, { ...ownPage, Cookie: value }).get("/admin/api/users");
    expect((await get(access)).status).toBe(200);
    for (const bad of [
      "svc_console=",
      "svc_console=x",
      `svc_console=svc_cs_${"A".repeat(43)}`,
      `${cookie}; ${cookie}`,
      `${cookie}; svc_console=svc_cs_${"A".repeat(43)}`,
      `__Secure-svc_console=x; ${cookie}`,
    ])
      expectRefusal(await get(`${bad}; ${access}`), 401, "unauthorized");
    expect((await get(`${cookie}; ${access}`)).status).toBe(200);
  });

  it("comes behind an access token and a key, and a bad one of these is 401", async () => {
    const { server } = await withRoot(open);
    const { cookie } = await signIn(server);
    const as = (headers: Record<string, string>) =>
      client(server, { ...ownPage, Cookie: cookie, ...headers }).get("/admin/api/users");
    for (const bad of [{ Authorization: "Bearer x" }, { Authorization: "Basic x" }, { "X-API-Key": "x" }])
      expectRefusal(await as(bad), 401, "unauthorized");
    const ada = await member(server, "ada");
    expectRefusal(await as(ada.bearer), 403, "forbidden");
    // What a sibling's page may do by a key of its own, it may still do, whatever cookies the browser adds.
    const key = await apiKey(server, "project:backend");
    const answer = await as({ ...key, Origin: sibling });
    expect([answer.status, answer.headers.get("Access-Control-Allow-Origin")]).toEqual([200, sibling]);
  });

  it("that somebody has set for other paths takes no CORS headers from the answers there", async () => {
    const { server } = await withRoot(open);
    const ada = await member(server, "ada");
    for (const Cookie of ["svc_console=x", "__Secure-svc_console=x"]) {
      const page = client(server, { Origin: sibling, Cookie: `${Cookie}; svc_access=${ada.accessToken}` });
      for (const path of ["/api/notes", "/auth/me"]) {
        const answer = await page.get(path);
        expect([answer.status, answer.headers.get("Access-Control-Allow-Origin")]).toEqual([200, sibling]);
      }
    }
  });

  it("comes before an access cookie", async () => {
    const { server } = await withRoot(open);
    const { cookie, session } = await signIn(server);
    const { accessToken } = await member(server, "ada", "admin");
    const both = client(server, { ...ownPage, Cookie: `svc_access=${accessToken}; ${cookie}` });
    expect((await both.get("/admin/api/session")).body).toEqual({ data: session });
    const made = await both.post("/admin/api/users", { email: "new@example.com", password });
    expect(made.status).toBe(201);
    const { data } = (await both.get("/admin/api/users?where[email]=new@example.com")).body as {
      data: readonly { readonly created_by: string }[];
    };
    expect(data.map((user) => user.created_by)).toEqual([`user:${session.user.id}`]);
  });
});

describe("signing in to the console", () => {
  it.each(strangers)("is refused from %s, and sets no cookie", async (_, headers) => {
    const { server } = await withRoot(open);
    const answers = [
      await client(server, headers).post("/admin/api/session", root),
      await client(server, headers).post("/admin/api/setup", { ...root, token: "A".repeat(43) }),
    ];
    for (const answer of answers) {
      expectRefusal(answer, 403, "forbidden");
      expect(answer.headers.getSetCookie()).toEqual([]);
      noCors(answer.headers);
    }
    expect(await countOf(server, "_sessions")).toBe(0);
    expect(await countOf(server, "_throttle")).toBe(0);
  });

  it("is nothing that another origin's page may ask for: a preflight gets no permission", async () => {
    const { server } = await withRoot(open);
    for (const path of [
      "/admin/api/session",
      "/admin/api/session/confirm",
      "/admin/api/setup",
      "/%61dmin/api/session",
      "/console",
    ]) {
      const answer = await client(server).send("OPTIONS", path, {
        headers: { Origin: sibling, "Access-Control-Request-Method": "POST" },
      });
      expect(answer.status).toBe(204);
      noCors(answer.headers);
    }
  });

  it("works beside a cookie that is no longer good", async () => {
    const { server } = await withRoot(open);
    for (const old of ["svc_console=x", "__Secure-svc_console=x", "svc_access=x"]) {
      const answer = await client(server, { ...ownPage, Cookie: old }).post("/admin/api/session", root);
      expect(answer.status).toBe(200);
    }
  });
});

describe("where the server's origin is https", () => {
  const https = "https://api.example.com";
  const config = (more = "") => `auth.public_base_url = "${https}"\n${more}`;
  const secured = async (more = "") => {
    const { server } = await withRoot(config(more));
    return { server, ...(await signIn(server, https)) };
  };

  it("plain HTTP is another origin", async () => {
    const { server, cookie } = await secured();
    expectRefusal(await client(server, ownPage).post("/admin/api/session", root), 403, "forbidden");
    expectRefusal(await client(server, { ...ownPage, Cookie: cookie }).get("/admin/api/users"), 403, "forbidden");
    expect((await client(server, { Origin: https, Cookie: cookie }).get("/admin/api/users")).status).toBe(200);
  });

  it("a cookie without the prefix is not taken, as anybody on the network could have set it", async () => {
    const { server, cookie } = await secured();
    const bare = cookie.replace("__Secure-", "");
    const asked = (value: string) => client(server, { Origin: https, Cookie: value });
    expectRefusal(await asked(bare).get("/admin/api/users"), 401, "unauthorized");
    expect((await asked(`svc_console=x; ${cookie}`).get("/admin/api/users")).status).toBe(200);
    expect((await asked(bare).post("/admin/api/session", root)).status).toBe(200);
  });

  it("as a trusted proxy says, too", async () => {
    if (onFile) skip("on a socket the server has another port than its origin");
    const { server } = await withRoot("server.trust_proxy = true");
    const forwarded = { Origin: "https://127.0.0.1:8787", "X-Forwarded-Proto": "https" };
    const answer = await client(server, forwarded).post("/admin/api/session", root);
    expect(answer.status, answer.text).toBe(200);
    expect(cookieOf(answer)).toMatch(/^__Secure-svc_console=/);
  });
});
