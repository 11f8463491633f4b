import { describe, expect, it } from "vitest";
import { type Client, client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { member, rowsOf } from "../../support/people.js";
import { apiKey, inWorkerd, serve, type TestServer } from "../../support/server.js";

const schema = `
$auth: { providers: [google, github], invitation_url: "https://app.example.com/join" }
notes:
  history: 30d
  columns:
    id:    { type: integer, primary_key: true }
    owner: { type: text, not_null: true, references: { table: $users, on_delete: cascade } }
    title: { type: text, default: "a title", check: "length(title) < 100" }
    size:  { type: integer, default: { sql: "1 + 1" }, unique: true }
    made:  { type: text, managed: created_at }
  indexes: [{ columns: [owner, -size], where: "size > 0" }]
  search: [title]
  triggers: { counted: "after delete on notes begin delete from logs; end" }
logs: { primary_key: [a, b], columns: { a: { type: text }, b: { type: integer } } }
`;
const config = `
[conditions]
"owns(of)" = "of = auth.id"
[rules.notes]
read = "owns(row.owner)"
update = """
row.owner = auth.id and
new.owner = old.owner"""
[rules.notes.columns.size]
write = "auth.role = 'admin'"
[auth]
dev_secret = "a secret that nobody must be shown, ever"
[mail]
http_url = "https://user:pass@mail.example.com/hook/T0K3N?key=1"
`;

async function served(more = ""): Promise<{ server: TestServer; root: Client; ada: Client }> {
  const server = await serve({ schema, config: config + more });
  const root = client(server, (await member(server, "root", "admin")).bearer);
  const ada = client(server, (await member(server, "ada")).bearer);
  return { server, root, ada };
}

it.each([
  ["GET", "schema"],
  ["GET", "sessions"],
  ["DELETE", "sessions/x"],
  ["GET", "outbox"],
  ["GET", "requests"],
  ["GET", "settings"],
  ["POST", "users/invite"],
])("%s %s is for administrators and project:backend keys", async (method, path) => {
  const { server, ada } = await served();
  const init = {
    headers: { "Content-Type": "application/json" },
    ...(method === "POST" && { body: '{"email":"x@example.com"}' }),
  };
  expectRefusal(await client(server).send(method, `/admin/api/${path}`, init), 401, "unauthorized");
  expectRefusal(await ada.send(method, `/admin/api/${path}`, init), 403, "forbidden");
  const reading = client(server, await apiKey(server, "resource:notes:read"));
  expectRefusal(await reading.send(method, `/admin/api/${path}`, init), 403, "forbidden");
  const key = client(server, await apiKey(server, "project:backend"));
  expect([200, 201, 404]).toContain((await key.send(method, `/admin/api/${path}`, init)).status);
  const put = await key.send("PUT", `/admin/api/${path}`, {});
  expectRefusal(put, 405, "method_not_allowed");
});

describe("the schema in force", () => {
  it("says what there is, with rules as svc.toml has them", async () => {
    const { root } = await served();
    const found = dataOf<Record<string, unknown> & { tables: readonly object[] }>(await root.get("/admin/api/schema"));
    expect(found).toMatchObject({
      hash: expect.stringMatching(/^[\da-f]{64}$/),
      version: 1,
      text: schema,
      file_text: schema,
      conditions: [{ name: "owns(of)", text: "of = auth.id", line: 3, column: 15 }],
    });
    const plain = {
      not_null: false,
      primary_key: false,
      default: null,
      check: null,
      managed: null,
      references: null,
      generated: false,
    };
    const key = { ...plain, not_null: true, primary_key: true };
    expect(found.tables).toMatchObject([
      {
        name: "notes",
        kind: "table",
        primary_key: ["id"],
        columns: [
          { ...key, name: "id", type: "integer", generated: true },
          {
            ...plain,
            name: "owner",
            type: "text",
            not_null: true,
            references: { table: "$users", column: "id", on_delete: "cascade" },
          },
          {
            ...plain,
            name: "title",
            type: "text",
            default: { value: "a title" },
            check: "length(title) < 100",
          },
          { ...plain, name: "size", type: "integer", default: { sql: "1 + 1" } },
          { ...plain, name: "made", type: "text", managed: "created_at", default: expect.anything() },
        ],
        unique: [["size"]],
        indexes: [{ columns: ["owner", "-size"], unique: false, where: "size > 0" }],
        search: ["title"],
        history: "30d",
        triggers: [{ name: "counted", sql: "after delete on notes begin delete from logs; end" }],
        rows_readable: true,
        rows_writable: true,
        rules: {
          read: { text: "owns(row.owner)", line: 5, column: 9 },
          create: null,
          update: { text: "row.owner = auth.id and\nnew.owner = old.owner", line: 7, column: 1 },
          delete: null,
          history: null,
        },
        column_rules: { size: { read: null, write: { text: "auth.role = 'admin'", line: 10, column: 10 } } },
      },
      {
        name: "logs",
        primary_key: ["a", "b"],
        columns: [key, key].map((column, i) => ({ ...column, name: "ab"[i], type: ["text", "integer"][i] })),
        history: "none",
        rules: { read: null, create: null, update: null, delete: null, history: null },
        column_rules: {},
      },
    ]);
    expectRefusal(await root.get("/admin/api/schema?x=1"), 400, "bad_request");
  });
});

describe("sessions", () => {
  it("are listed from the newest on, and end one by one", async () => {
    const { server, root, ada } = await served();
    server.clock.advance(60_000);
    await member(server, "bob");
    const first = await root.get("/admin/api/sessions?limit=1");
    const at = "2026-01-01T00:01:00.000Z";
    expect(dataOf(first)).toEqual([
      {
        id: "session of bob",
        user_id: "bob",
        kind: "tokens",
        created_at: at,
        last_used_at: at,
        expires_at: "2026-01-31T00:01:00.000Z",
      },
    ]);
    const { next_cursor: cursor } = (first.body as { meta: { next_cursor: string } }).meta;
    const second = await root.get(`/admin/api/sessions?cursor=${cursor}`);
    const third = await root.get(`/admin/api/sessions?cursor=${cursorOf(second)}`);
    expect([...dataOf<{ user_id: string }[]>(second), ...dataOf<{ user_id: string }[]>(third)]).toMatchObject([
      { user_id: "root" },
      { user_id: "ada" },
    ]);
    expect((third.body as { meta: object }).meta).toEqual({ limit: 1 });
    const hers = await root.get("/admin/api/sessions?user_id=ada");
    expect(dataOf<object[]>(hers)).toMatchObject([{ id: "session of ada" }]);
    const ended = await root.delete("/admin/api/sessions/session%20of%20ada");
    expectAnswer(ended, 200, { data: { revoked: true } });
    expectRefusal(await ada.get("/auth/me"), 401, "unauthorized");
    expectRefusal(await root.delete("/admin/api/sessions/session%20of%20ada"), 404, "not_found");
    expect(dataOf(await root.get("/admin/api/sessions?user_id=ada"))).toEqual([]);
    expect((await root.get("/admin/api/sessions")).status).toBe(200);
    server.clock.advance(31 * 86_400_000);
    const later = client(server, await apiKey(server, "project:backend"));
    expect(dataOf(await later.get("/admin/api/sessions"))).toEqual([]);
  });

  it.each(["limit=0", "limit=1001", "limit=x", "colour=red", "cursor=x", "cursor=x&limit=1", "__proto__=1"])(
    "take no %s",
    async (query) => {
      const { root } = await served();
      const answer = await root.get(`/admin/api/sessions?${query}`);
      expectRefusal(answer, 400, query.startsWith("cursor") ? "invalid_cursor" : "bad_request");
    },
  );

  it("have cursors that open for the same caller and the same list alone", async () => {
    const { server, root } = await served();
    const cursor = cursorOf(await root.get("/admin/api/sessions?limit=1"));
    const key = client(server, await apiKey(server, "project:backend"));
    for (const refused of [
      await key.get(`/admin/api/sessions?cursor=${cursor}`),
      await root.get(`/admin/api/outbox?cursor=${cursor}`),
      await root.get(`/admin/api/users?cursor=${cursor}`),
    ])
      expectRefusal(refused, 400, "invalid_cursor");
  });
});

function cursorOf({ body }: { readonly body: unknown }): string {
  return (body as { meta: { next_cursor: string } }).meta.next_cursor;
}

describe("the outbox", () => {
  const invite = (caller: Client, email: string) => caller.post("/admin/api/users/invite", { email, role: "admin" });

  it("has mails that wait, were sent and were given up, with links where mails are logged", async () => {
    const { server, root } = await served();
    const invited = await invite(root, "cyd@example.com");
    expectAnswer(invited, 201, {
      data: { email: "cyd@example.com", role: "admin", existing_user: false, expires_in: 604_800 },
    });
    await server.settled();
    server.mail.failure = new Error("connect ECONNREFUSED\n10.0.0.1:25");
    server.clock.advance(1_000);
    await invite(root, "dee@example.com");
    await server.settled();
    const sent = {
      id: expect.any(String),
      purpose: "invitation",
      to: "cyd@example.com",
      created_at: "2026-01-01T00:00:00.000Z",
      state: "sent",
      attempts: 1,
      next_attempt_at: null,
      ended_at: expect.stringMatching(/^2026-01-01T00:00:0/),
      last_error: null,
      link: expect.stringMatching(/^https:\/\/app\.example\.com\/join\?token=[\w-]{43}$/),
    };
    const waiting = {
      ...sent,
      to: "dee@example.com",
      created_at: "2026-01-01T00:00:01.000Z",
      state: "waiting",
      next_attempt_at: expect.stringMatching(/^2026-01-01T00:00:1/),
      ended_at: null,
      last_error: "connect ECONNREFUSED 10.0.0.1:25",
    };
    if (inWorkerd) waiting.last_error = expect.any(String);
    const all = await root.get("/admin/api/outbox");
    expectAnswer(all, 200, { data: [waiting, sent], meta: { limit: 50 } });
    const links = dataOf<{ link: string }[]>(all).map(({ link }) => link);
    expect(links[1]).toBe(server.mail.messages[0]!.link);
    expect(dataOf(await root.get("/admin/api/outbox?state=sent"))).toEqual([sent]);
    expect(dataOf(await root.get("/admin/api/outbox?state=waiting"))).toEqual([waiting]);
    expect(dataOf(await root.get("/admin/api/outbox?state=failed"))).toEqual([]);
    const first = await root.get("/admin/api/outbox?limit=1");
    expect(dataOf(await root.get(`/admin/api/outbox?cursor=${cursorOf(first)}`))).toEqual([sent]);
    expectRefusal(await root.get("/admin/api/outbox?state=lost"), 400, "bad_request");
    const token = new URL(links[1]!).searchParams.get("token");
    const accepted = await client(server).post("/auth/invitations/accept", {
      token,
      password: "long enough",
    });
    expect(accepted.status).toBe(200);
    expect(dataOf<{ link: unknown }[]>(await root.get("/admin/api/outbox?state=sent"))[0]!.link).toBeNull();
  });

  it("shows no link to a key, which could make an administrator of itself", async () => {
    const { server, root } = await served();
    await invite(root, "cyd@example.com");
    await server.settled();
    const key = client(server, await apiKey(server, "project:backend"));
    const [mail] = dataOf<object[]>(await key.get("/admin/api/outbox"));
    expect(mail).toMatchObject({ to: "cyd@example.com", state: "sent" });
    expect(mail).not.toHaveProperty("link");
  });

  it("shows no link where mails are really sent", async () => {
    const { server, root } = await served('transport = "http"\n');
    await invite(root, "cyd@example.com");
    await server.settled();
    const [mail] = dataOf<object[]>(await root.get("/admin/api/outbox"));
    expect(mail).not.toHaveProperty("link");
  });

  it("tells of mails that were given up or dropped, and forgets them after a week", async () => {
    const { server, root } = await served();
    const key = client(server, await apiKey(server, "project:backend"));
    server.mail.failure = new Error("no");
    await invite(root, "cyd@example.com");
    await server.settled();
    server.clock.advance(3 * 86_400_000);
    await server.upkeep.deliverMail();
    expect(dataOf<object[]>(await key.get("/admin/api/outbox"))).toMatchObject([
      { state: "failed", attempts: 2, last_error: expect.stringMatching(/./) },
    ]);
    await invite(key, "cyd@example.com");
    await server.settled();
    await invite(key, "cyd@example.com");
    await server.settled();
    server.mail.failure = null;
    server.clock.advance(60_000);
    await server.upkeep.deliverMail();
    const states = dataOf<{ state: string }[]>(await key.get("/admin/api/outbox")).map(({ state }) => state);
    expect(states.sort()).toEqual(["dropped", "failed", "sent"]);
    server.clock.advance(8 * 86_400_000);
    await server.upkeep.purge();
    expect(await rowsOf(server, "SELECT count(*) FROM _past_mails")).toEqual([[0]]);
  });
});

describe("the last requests", () => {
  const settings = '[log]\nformat = "off"\n';

  it("are remembered without anything that was sent, also where the log is off", async () => {
    const { server, root, ada } = await served(settings);
    await ada.get("/api/notes?where[title]=a-value-of-ada");
    await ada.post("/api/notes", { owner: "ada" });
    await client(server).post("/auth/login", { email: "who@example.com", password: "a-wrong-password" });
    await client(server).get("/no/such/path-of-a-stranger");
    await root.post("/admin/api/data/notes", { owner: "ada", title: "a-title-of-root" });
    const answer = await root.get("/admin/api/requests?limit=5");
    const always = { id: expect.any(String), at: "2026-01-01T00:00:00.000Z", ms: expect.any(Number) };
    const none = { rows_read: null, rows_written: null, rows_returned: null, rule: null, principal: null };
    expectAnswer(answer, 200, {
      data: [
        {
          ...always,
          method: "POST",
          route: "/admin/api/data/:table",
          status: 201,
          principal: { kind: "user", id: "root" },
          rows_read: 0,
          rows_written: 1,
          rows_returned: 1,
          rule: null,
        },
        { ...always, ...none, method: "GET", route: "-", status: 404 },
        { ...always, ...none, method: "POST", route: "/auth/login", status: 401 },
        {
          ...always,
          ...none,
          method: "POST",
          route: "/api/:table",
          status: 403,
          principal: { kind: "user", id: "ada" },
          rule: "rules.notes.create",
        },
        {
          ...always,
          method: "GET",
          route: "/api/:table",
          status: 200,
          principal: { kind: "user", id: "ada" },
          rows_read: 0,
          rows_written: 0,
          rows_returned: 0,
          rule: null,
        },
      ],
      meta: { scope: inWorkerd ? "isolate" : "process" },
    });
    expect(answer.text).not.toMatch(/a-value|a-title|a-wrong|who@|ada@|root@|stranger|Bearer/);
    expect(server.log.requests).toEqual([]);
  });

  it("are chosen by who, status and route", async () => {
    const { server, root, ada } = await served(settings);
    const key = client(server, await apiKey(server, "resource:notes:write"));
    await ada.get("/api/notes");
    await ada.get("/api/logs");
    await key.get("/api/notes");
    await client(server).get("/api/notes");
    await client(server).get("/health");
    const chosen = async (query: string) =>
      dataOf<{ status: number; rule: string | null }[]>(await root.get(`/admin/api/requests?${query}`)).map(
        ({ status, rule }) => `${status} ${rule ?? ""}`.trim(),
      );
    expect(await chosen("who=user:ada")).toEqual(["403 rules.logs.read", "200"]);
    expect(await chosen("who=key")).toEqual(["403 resource:notes:read"]);
    expect(await chosen("who=anonymous")).toEqual(["401 rules.notes.read"]);
    expect(await chosen("who=user&status=200")).toEqual(["200"]);
    expect(await chosen("status=4xx&limit=2")).toEqual(["401 rules.notes.read", "403 resource:notes:read"]);
    expect(await chosen("route=/health")).toEqual(["200"]);
    expect(await chosen("who=user:nobody")).toEqual([]);
    for (const bad of ["who=x", "status=99", "status=6xx", "limit=0", "limit=1001", "path=/api"])
      expectRefusal(await root.get(`/admin/api/requests?${bad}`), 400, "bad_request");
  });

  it("are the last thousand, without those of whoever watches", async () => {
    const { server, root } = await served(settings);
    for (let i = 0; i < 1_010; i++) await server.request(i < 500 ? "/health" : "/none");
    const found = dataOf<{ route: string }[]>(await root.get("/admin/api/requests?limit=1000"));
    expect(found).toHaveLength(1_000);
    expect(found.filter(({ route }) => route === "-")).toHaveLength(510);
    expect(dataOf(await root.get("/admin/api/requests?route=/admin/api/requests"))).toEqual([]);
  });
});

describe("a proposed schema with mistakes", () => {
  it("is refused with the line of each", async () => {
    const { root } = await served();
    const body =
      "notes:\n  columns:\n    id: { type: integer, primary_key: true }\n    at: { type: rael }\n  indexs: []\n";
    const headers = { "Content-Type": "application/yaml" };
    for (const action of ["plan", "apply"]) {
      const answer = await root.send("POST", `/admin/api/schema/${action}`, { headers, body });
      const types = ["integer", "real", "text", "boolean", "json", "blob"].map((type) => `"${type}"`);
      expect(expectRefusal(answer, 400, "bad_request").split("\n")).toEqual([
        `svc.schema.yaml:4: notes.columns.at.type: expected ${types.join(" or ")}, got "rael"; did you mean real?`,
        "svc.schema.yaml:5: notes.indexs: unknown key; did you mean indexes?",
      ]);
    }
  });
});

describe("settings", () => {
  it("are those in force, and never a secret", async () => {
    const { root } = await served();
    const answer = await root.get("/admin/api/settings");
    const { settings, ...others } = dataOf<{ settings: Record<string, Record<string, unknown>> }>(answer);
    expect(others).toEqual({
      providers: ["google", "github"].map((provider) => ({
        provider,
        callback_url: `http://127.0.0.1:8787/auth/oauth/callback/${provider}`,
        has_credentials: false,
      })),
      release: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      runtime: inWorkerd ? "worker" : "node",
    });
    expect(settings.auth).toMatchObject({
      jwt_secret_env: { variable: "SVC_JWT_SECRET", is_set: true },
      jwt_previous_secret_env: { variable: "SVC_JWT_PREVIOUS_SECRET", is_set: false },
      dev_secret: { is_set: true },
      access_token_ttl_secs: 900,
      throttle: { enabled: true },
    });
    expect(settings.mail).toMatchObject({
      transport: "log",
      http_url: "https://mail.example.com",
      smtp_url_env: { variable: "SVC_SMTP_URL", is_set: false },
    });
    expect(settings.api).toMatchObject({ scan_limit: 100_000 });
    expect(Object.keys(settings)).not.toContain("rules");
    expect(answer.text).not.toMatch(/nobody must be shown|T0K3N|user:pass|key=1|of the test suite/);
  });
});
