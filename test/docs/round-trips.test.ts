import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createLinkTokens } from "../../src/auth/links/links.js";
import type { LinkPurpose } from "../../src/auth/store/links.js";
import { deriveBytes } from "../../src/encoding/secret-keys.js";
import { client, dataOf } from "../support/client.js";
import { switchboard } from "../support/faulty-database.js";
import { serveWithDouble } from "../support/oauth/double-server.js";
import { exchange, schema, signInWith } from "../support/oauth/flow.js";
import { member, rowsOf } from "../support/people.js";
import { apiKey, type TestServer, testSecret } from "../support/server.js";

const tables = `
rooms: { columns: { id: { type: integer, primary_key: true }, owner: { type: text }, name: { type: text } }, indexes: [{ columns: [owner] }], search: [name] }
members: { columns: { room: { type: integer, references: { table: rooms, on_delete: cascade } }, user: { type: text } }, primary_key: [room, user] }
$operations:
  rename:
    params: { id: integer, name: text }
    allow: "exists(rooms r where r.id = params.id and r.owner = auth.id) or params.id = 2"
    steps:
      - { sql: "update rooms set name = :name where id = :id", expect: 1 }
      - { sql: "select id, name from rooms where id = :id", returns: one }
  name:
    params: { id: integer }
    allow: authenticated
    steps: [{ sql: "select name from rooms where id = :id", returns: one }]
`;

const config = `
[rules.rooms]
read = "row.owner = auth.id or exists(members m where m.room = row.id and m.user = auth.id)"
create = "new.owner = auth.id"
update = "row.owner = auth.id"
delete = "row.owner = auth.id"
[rules.members]
create = "exists(rooms r where r.id = new.room and r.owner = auth.id)"
read = "row.user = auth.id"
[rules.rooms.columns.id]
write = "public"
`;

const password = "correct horse battery staple";

/** The endpoint and its round trips as the page's table has them. */
function documented(): ReadonlyMap<string, string> {
  const page = readFileSync("docs/reference/metering.md", "utf8");
  const [, section = ""] = /## Round trips\n([\s\S]*)/.exec(page) ?? [];
  const rows = section.matchAll(/^\| (.+?) \| ([\d, ]+?) \|/gm);
  return new Map([...rows].map(([, endpoint, count]) => [endpoint!.replaceAll("`", ""), count!]));
}

async function linkToken(server: TestServer, purpose: LinkPurpose): Promise<string> {
  const current = await deriveBytes(new TextEncoder().encode(testSecret), "link");
  const tokens = await createLinkTokens({ current, previous: null });
  const [row] = await rowsOf(
    server,
    `SELECT id FROM _links WHERE purpose = '${purpose}' AND used_at IS NULL ORDER BY rowid DESC`,
  );
  return tokens.tokenOf(purpose, row![0] as string);
}

describe("the table of round trips", () => {
  const counted = new Map<string, string>();

  it("says what requests cost that are not the first of the process", async () => {
    const board = switchboard();
    const { server } = await serveWithDouble({
      schema: schema().replace("notes:", `${tables}notes:`),
      config,
      wrap: board.wrap,
    });
    // Mails go out once the answer has been given, which is not what is counted.
    await server.upkeep.finish();
    const count = async <T>(endpoint: string, request: () => Promise<T>): Promise<T> => {
      board.reset();
      const answer = await request();
      const before = counted.get(endpoint);
      const now = String(board.roundTrips);
      counted.set(endpoint, before === undefined || before === now ? now : `${before}, ${now}`);
      return answer;
    };
    const ok = async <T>(endpoint: string, request: () => Promise<T & { status: number }>) => {
      const answer = await count(endpoint, request);
      expect(answer.status, `${endpoint}: ${JSON.stringify(answer)}`).toBeLessThan(300);
      return answer;
    };
    const ada = client(server, (await member(server, "ada")).bearer);
    const root = client(server, (await member(server, "root", "admin")).bearer);
    const backend = client(server, await apiKey(server, "project:backend"));
    const anyone = client(server);
    await ada.get("/api/rooms");
    await backend.get("/api/rooms");

    await ok("GET /health", () => anyone.get("/health"));
    await ok("POST /api/:table", () => ada.post("/api/rooms", { id: 1, owner: "ada", name: "one" }));
    await ok("POST /api/:table", () => ada.post("/api/members", { room: 1, user: "ada" }));
    await ok("GET /api/:table", () => ada.get("/api/rooms?where[owner]=ada"));
    await ok("GET /api/:table", () => backend.get("/api/rooms?sort=-name"));
    const expanded = "expand[members.room][count]=true";
    await ok("GET /api/:table", () => ada.get(`/api/rooms?search=one&${expanded}`));
    await ok("GET /api/:table", () => backend.get("/api/members?expand=room"));
    const aggregate = "/api/rooms/_svc/aggregate?count=*&group=owner";
    await ok("GET /api/:table/_svc/aggregate", () => ada.get(aggregate));
    const asked = { headers: { "Content-Type": "application/json" }, body: '{"where":{"owner":"ada"}}' };
    await ok("QUERY /api/:table", () => ada.send("QUERY", "/api/rooms", asked));
    await ok("QUERY /api/:table", () => backend.post("/api/rooms/_svc/query", { sort: ["-name"] }));
    await ok("GET /api/:table/:id", () => ada.get("/api/rooms/1"));
    await ok("GET /api/:table/_svc/key", () => backend.get("/api/members/_svc/key?room=1&user=ada"));
    await ok("PATCH /api/:table/:id", () => ada.patch("/api/rooms/1", { name: "two" }));
    const room = (values: object) => ({ owner: "ada", ...values });
    const many = "POST /api/:table with an array, or with on_conflict";
    await ok(many, () => ada.post("/api/rooms", [room({ id: 11 }), room({ id: 12 })]));
    const upsert = "/api/rooms?on_conflict=id&on_duplicate=update";
    await ok(many, () => ada.post(upsert, [room({ id: 11, name: "x" }), room({ id: 13 })]));
    const once = { "Idempotency-Key": "k" };
    const keyed = () => ada.post("/api/rooms", room({ id: 14 }), once);
    await ok("POST, PATCH, DELETE with an Idempotency-Key", keyed);
    await ok("the same again", keyed);
    const operations = [
      { op: "create", table: "rooms", values: room({ id: 15 }) },
      { op: "create", table: "members", values: { room: { $ref: "0.id" }, user: "ada" } },
    ];
    await ok("POST /api/_svc/batch", () => ada.post("/api/_svc/batch", { operations }));
    const missed = await count("POST /api/_svc/batch, refused", () =>
      ada.post("/api/_svc/batch", {
        operations: [{ op: "update", table: "rooms", key: { id: 99 }, set: { name: "x" } }],
      }),
    );
    expect(missed.status).toBe(404);
    const push = (id: number, ...mutation: readonly object[]) =>
      ada.post("/api/_svc/push", { client: "c", mutations: [{ id, operations: mutation }] });
    const write = (set: object, base?: object) => ({
      op: "update",
      table: "rooms",
      key: { id: 11 },
      set,
      base,
    });
    await ok("POST /api/_svc/push, a mutation that is applied", () => push(1, write({ name: "y" })));
    await ok("a mutation that was done before", () => push(1, write({ name: "y" })));
    await ok("a mutation that is rejected", () =>
      push(2, { op: "update", table: "rooms", key: { id: 99 }, set: { name: "x" } }),
    );
    await ok("a mutation that conflicts", () => push(3, write({ name: "z" }, { name: "no" })));
    await ok("POST /ops/:name", () => ada.post("/ops/rename", { id: 1, name: "three" }));
    await ok("GET /ops/:name", () => ada.get("/ops/name?id=1"));
    const refusedOperation = "POST /ops/:name, refused";
    expect((await count(refusedOperation, () => ada.post("/ops/rename", { id: 2, name: "" }))).status).toBe(409);
    await ok("DELETE /api/:table/:id", () => ada.delete("/api/rooms/1"));
    const missing = "PATCH, DELETE that find nothing to change";
    expect((await count(missing, () => ada.delete("/api/rooms/1"))).status).toBe(404);

    const email = "eve@example.com";
    const registered = await ok("POST /auth/register", () => anyone.post("/auth/register", { email, password }));
    const { access_token } = dataOf<Record<string, string>>(registered);
    const eve = client(server, { Authorization: `Bearer ${access_token}` });
    await ok("GET /auth/me", () => eve.get("/auth/me"));
    const changed = { current_password: password, password: `${password}!` };
    await ok("POST /auth/password", () => eve.post("/auth/password", changed));
    const login = await ok("POST /auth/login", () => anyone.post("/auth/login", { email, password: `${password}!` }));
    const wrong = "POST /auth/login, refused";
    expect((await count(wrong, () => anyone.post("/auth/login", { email, password }))).status).toBe(401);
    const { refresh_token } = dataOf<Record<string, string>>(login);
    const refreshed = await ok("POST /auth/refresh", () => anyone.post("/auth/refresh", { refresh_token }));
    const next = dataOf<Record<string, string>>(refreshed).refresh_token;
    const { access_token: signedIn } = dataOf<Record<string, string>>(refreshed);
    const again = client(server, { Authorization: `Bearer ${signedIn}` });
    await ok("GET /auth/sessions", () => again.get("/auth/sessions"));
    await anyone.post("/auth/login", { email, password: `${password}!` });
    const sessions = dataOf<readonly { id: string; current: boolean }[]>(await again.get("/auth/sessions"));
    const [ended] = sessions.filter(({ current }) => !current);
    await ok("DELETE /auth/sessions/:id", () => again.delete(`/auth/sessions/${ended!.id}`));
    const moved = { email: "home@example.org", password: `${password}!` };
    await ok("POST /auth/email", () => again.post("/auth/email", moved));
    const link = { token: await linkToken(server, "email_change") };
    await ok("POST /auth/email/confirm", () => anyone.post("/auth/email/confirm", link));
    await ok("POST /auth/logout", () => anyone.post("/auth/logout", { refresh_token: next }));

    const leaving = { email: "leaving@example.com", password };
    const joined = dataOf<Record<string, string>>(await anyone.post("/auth/register", leaving));
    await ok("DELETE /auth/me", () =>
      client(server, { Authorization: `Bearer ${joined.access_token}` }).send("DELETE", "/auth/me", {
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ password }),
      }),
    );
    await ok("POST /auth/password-reset/request", () =>
      anyone.post("/auth/password-reset/request", { email: moved.email }),
    );
    const reset = { token: await linkToken(server, "password_reset"), password };
    await ok("POST /auth/password-reset/confirm", () => anyone.post("/auth/password-reset/confirm", reset));
    await ok("POST /auth/users/invite", () => backend.post("/auth/users/invite", { email: "new@example.com" }));
    const invited = { token: await linkToken(server, "invitation"), password };
    await ok("POST /auth/invitations/accept", () => anyone.post("/auth/invitations/accept", invited));

    await ok("GET /auth/oauth/providers", () => anyone.get("/auth/oauth/providers"));
    let outcome!: Awaited<ReturnType<typeof signInWith>>;
    await count("POST /auth/oauth/authorize and the callback, together", async () => {
      outcome = await signInWith(server, "google");
    });
    await ok("POST /auth/oauth/exchange", () => exchange(server, outcome));

    await ok("GET /admin/api/users", () => root.get("/admin/api/users"));
    await ok("PATCH /admin/api/users/:id", () => root.patch("/admin/api/users/ada", { disabled: true }));
    await ok("GET /admin/api/service-keys", () => root.get("/admin/api/service-keys"));
    const key = { name: "k", scopes: ["project:backend"] };
    await ok("POST /admin/api/service-keys", () => root.post("/admin/api/service-keys", key));

    expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(documented()));
  });
});
