import { describe, expect, it } from "vitest";
import { type Client, client, dataOf, expectRefusal, metaOf } from "../../support/client.js";
import { Events } from "../../support/events.js";
import { member, rowsOf, run } from "../../support/people.js";
import { receiptRows } from "../../support/receipts.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";
import { own, password, signIn, userWith } from "../console/support.js";

const schema = `
notes:
  history: 30d
  columns:
    id:      { type: integer, primary_key: true }
    owner:   { type: text, not_null: true }
    title:   { type: text }
    secret:  { type: text }
    by:      { type: text, managed: created_by }
    changed: { type: text, managed: updated_by }
    version: { type: integer, managed: version }
pins:
  columns:
    id:   { type: text, primary_key: true }
    note: { type: integer, references: { table: notes, on_delete: cascade } }
  indexes: [{ columns: [note] }]
$operations:
  rename:
    params: { id: integer, title: text }
    steps:
      - { sql: "update notes set title = :title where id = :id", expect: 1, else: not_found }
      - { sql: "select title, :auth_id as who from notes where id = :id", returns: one, as: { who: text } }
`;
const config = `
[rules.notes]
read = "row.owner = auth.id"
create = "new.owner = auth.id"
history = "public"
[rules.notes.columns.secret]
read = "deny"
write = "deny"
`;

const data = "/admin/api/data";

interface Served {
  readonly server: TestServer;
  readonly root: Client;
  readonly ada: Client;
}

/** An administrator, a user without any right but to her own notes, and one note of each. */
async function served(): Promise<Served> {
  const server = await serve({ schema, config });
  const root = client(server, (await member(server, "root", "admin")).bearer);
  const ada = client(server, (await member(server, "ada")).bearer);
  await root.post(`${data}/notes`, [
    { owner: "ada", title: "hers", secret: "s1" },
    { owner: "bob", title: "his", secret: "s2" },
  ]);
  return { server, root, ada };
}

const idsOf = (rows: readonly { readonly id: unknown }[]) => rows.map(({ id }) => id);

describe("who may", () => {
  it.each([
    ["GET", "notes"],
    ["POST", "notes"],
    ["QUERY", "notes"],
    ["GET", "notes/1"],
    ["PATCH", "notes/1"],
    ["DELETE", "notes/1"],
    ["DELETE", "notes/_svc/key?id=1"],
    ["POST", "notes/_svc/query"],
    ["GET", "notes/_svc/aggregate?count=*"],
    ["GET", "notes/_svc/history"],
    ["GET", "notes/_svc/state"],
    ["POST", "notes/_svc/restore"],
    ["POST", "_svc/pull"],
    ["GET", "_svc/live?q={}"],
    ["POST", "_svc/batch"],
    ["GET", "no_such_table"],
  ])("%s %s: administrators and project:backend keys alone, whoever is asked for", async (method, path) => {
    const { server, ada } = await served();
    const keys = await Promise.all(
      ["resource:notes:read", "resource:notes:write", "*"].map((scope) => apiKey(server, scope)),
    );
    const body = method === "GET" ? {} : { body: "{}" };
    for (const as of [undefined, "anonymous", "user:ada", "user:nobody", "nonsense"]) {
      const headers = { "Content-Type": "application/json", ...(as && { "Svc-As": as }) };
      const init = { headers, ...body };
      expectRefusal(await client(server).send(method, `${data}/${path}`, init), 401, "unauthorized");
      expectRefusal(await ada.send(method, `${data}/${path}`, init), 403, "forbidden");
      for (const key of keys)
        expectRefusal(await client(server, key).send(method, `${data}/${path}`, init), 403, "forbidden");
    }
    expect(await rowsOf(server, "SELECT id, title FROM notes")).toEqual([
      [1, "hers"],
      [2, "his"],
    ]);
  });

  it("a session that has ended is out with the next request, and so is a demoted administrator", async () => {
    const { server, root } = await served();
    const second = await member(server, "second", "admin");
    const other = client(server, second.bearer);
    expect((await other.get(`${data}/notes`)).status).toBe(200);
    await run(server, "UPDATE _users SET role = 'user' WHERE id = 'second'");
    expectRefusal(await other.get(`${data}/notes`), 401, "unauthorized");
    expectRefusal(await other.get(`${data}/notes`, { "Svc-As": "user:ada" }), 401, "unauthorized");
    await root.post("/admin/api/users/root/revoke-sessions", {});
    expectRefusal(await root.post(`${data}/notes`, { owner: "x" }), 401, "unauthorized");
    expectRefusal(await root.get(`${data}/notes`, { "Svc-As": "anonymous" }), 401, "unauthorized");
    expect(await rowsOf(server, "SELECT count(*) FROM notes")).toEqual([[2]]);
  });

  it("the console's session, from pages of its own, as long as it lasts", async () => {
    const { server } = await served();
    const grace = { email: "grace@example.com", password };
    await userWith(server, grace.email, "admin");
    const { console, session } = await signIn(server, own, grace);
    const { id } = session.user;
    expect(dataOf(await console.post(`${data}/notes`, { owner: "ada" }))).toMatchObject({ id: 3, by: id });
    for (const [name, ids] of [
      ["user:ada", [1, 3]],
      [`user:${id}`, []],
    ] as const)
      expect(idsOf(dataOf(await console.get(`${data}/notes`, { "Svc-As": name })))).toEqual(ids);
    const [key] = (await rowsOf(server, "SELECT id FROM _service_keys")).flat();
    expect(key).toBeUndefined();
    expectRefusal(await console.get(`${data}/notes`, { "Svc-As": "key:none" }), 404, "not_found");
    expectRefusal(await console.get(`${data}/notes`, { "Svc-As": "anonymous" }), 401, "unauthorized");
    const sessions = dataOf<{ id: string; user_id: string; kind: string }[]>(
      await console.get(`/admin/api/sessions?user_id=${id}`),
    );
    expect(sessions).toMatchObject([{ user_id: id, kind: "console" }]);
    await console.delete(`/admin/api/sessions/${sessions[0]!.id}`);
    for (const headers of [{}, { "Svc-As": "user:ada" }])
      expectRefusal(await console.get(`${data}/notes`, headers), 401, "unauthorized");
    expectRefusal(await console.post(`${data}/notes`, { owner: "ada" }), 401, "unauthorized");
    expect(await rowsOf(server, "SELECT count(*) FROM notes")).toEqual([[3]]);
  });

  it("under /api the same administrator is bound by the rules", async () => {
    const { root } = await served();
    expect(dataOf(await root.get("/api/notes"))).toEqual([]);
    expectRefusal(await root.get("/api/notes/1"), 403, "forbidden");
    expectRefusal(await root.get("/api/pins"), 403, "forbidden");
  });
});

describe("rows past the rules", () => {
  it("are listed, read, queried and counted, with every column", async () => {
    const { root } = await served();
    const whole = { id: 2, owner: "bob", title: "his", secret: "s2", by: "root", changed: "root" };
    const list = await root.get(`${data}/notes?sort=-id&limit=1`);
    expect(dataOf(list)).toEqual([{ ...whole, version: expect.any(Number) }]);
    const next = await root.get(`${data}/notes?cursor=${metaOf(list).next_cursor}`);
    expect(dataOf(next)).toMatchObject([{ id: 1, secret: "s1" }]);
    const one = await root.get(`${data}/notes/2`);
    expect(dataOf(one)).toMatchObject(whole);
    expect(one.headers.get("ETag")).toMatch(/^"\d+"$/);
    const known = await root.get(`${data}/notes/2`, { "If-None-Match": one.headers.get("ETag")! });
    expect([known.status, known.text]).toEqual([304, ""]);
    expect(dataOf(await root.get(`${data}/notes/_svc/key?id=2`))).toMatchObject(whole);
    const asked = { filter: { secret: { eq: "s1" } }, select: ["id"] };
    expect(dataOf(await root.post(`${data}/notes/_svc/query`, asked))).toEqual([{ id: 1 }]);
    const init = { headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked) };
    expect(dataOf(await root.send("QUERY", `${data}/notes`, init))).toEqual([{ id: 1 }]);
    expect(dataOf(await root.get(`${data}/notes/_svc/aggregate?count=*&group=owner&sort=owner`))).toEqual([
      { owner: "ada", count: 1 },
      { owner: "bob", count: 1 },
    ]);
    await root.post(`${data}/pins`, { id: "p", note: 2 });
    const expanded = await root.get(`${data}/pins?expand=note`);
    expect(dataOf(expanded)).toMatchObject([{ id: "p", _expand: { note: { secret: "s2" } } }]);
  });

  it("are written in the name of the administrator: managed columns, history, receipts", async () => {
    const { server, root } = await served();
    const made = await root.post(`${data}/notes`, { id: 77, owner: "cyd" });
    expect(made.status).toBe(201);
    expect(dataOf(made)).toMatchObject({ id: 77, by: "root", changed: "root" });
    const etag = { "If-Match": made.headers.get("ETag")! };
    expect(dataOf(await root.patch(`${data}/notes/77`, { title: "new" }, etag))).toMatchObject({
      title: "new",
    });
    expectRefusal(await root.patch(`${data}/notes/77`, { title: "late" }, etag), 412, "precondition_failed");
    expectRefusal(await root.patch(`${data}/notes/77`, { by: "ada" }), 400, "bad_request", ["by"]);
    expect(dataOf(await root.delete(`${data}/notes/77`))).toEqual({ id: 77 });
    const history = await root.get(`${data}/notes/_svc/history?where[id]=77`);
    expect(dataOf<object[]>(history)).toMatchObject(
      ["delete", "update", "insert"].map((op) => ({ op, by: { kind: "user", id: "root" } })),
    );
    const [, updated] = dataOf<{ seq: number }[]>(history);
    const restored = await root.post(`${data}/notes/_svc/restore`, { key: { id: 77 }, seq: updated!.seq });
    expect(dataOf(restored)).toMatchObject({ id: 77, title: "new", owner: "cyd" });
    expect(dataOf(await root.get(`${data}/notes/_svc/state?at=${updated!.seq}&where[id]=77`))).toMatchObject([
      { id: 77, title: "new" },
    ]);
    await server.upkeep.collectUsage();
    const kinds = await rowsOf(
      server,
      `SELECT DISTINCT principal_kind, principal_id FROM ${receiptRows} WHERE table_name = 'notes'`,
    );
    expect(kinds).toEqual([["admin", "root"]]);
    const usage = await root.get("/admin/api/usage?group_by=principal");
    expect(dataOf<{ key: string }[]>(usage).map(({ key }) => key)).toEqual(["admin:root"]);
  });

  it("in a batch, and once with an Idempotency-Key", async () => {
    const { server, root } = await served();
    const operations = [
      { op: "create", table: "notes", values: { owner: "cyd" } },
      { op: "create", table: "pins", values: { id: "p", note: { $ref: "0.id" } } },
      { op: "delete", table: "notes", key: { id: 1 } },
    ];
    const once = { "Idempotency-Key": "k1" };
    const first = await root.post(`${data}/_svc/batch`, { operations }, once);
    expect(dataOf(first)).toMatchObject([{ id: 3, by: "root" }, { id: "p", note: 3 }, { id: 1 }]);
    const again = await root.post(`${data}/_svc/batch`, { operations }, once);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(dataOf(again)).toEqual(dataOf(first));
    const made = await root.post(`${data}/notes`, { owner: "dee" }, { "Idempotency-Key": "k2" });
    const twice = await root.post(`${data}/notes`, { owner: "dee" }, { "Idempotency-Key": "k2" });
    expect(dataOf(twice)).toEqual(dataOf(made));
    expectRefusal(
      await root.post(`${data}/notes`, { owner: "eve" }, { "Idempotency-Key": "k2" }),
      422,
      "idempotency_mismatch",
    );
    expect(await rowsOf(server, "SELECT owner FROM notes ORDER BY id")).toEqual([["bob"], ["cyd"], ["dee"]]);
    expectRefusal(await root.post(`${data}/_svc/push`, { client: "c", mutations: [] }), 404, "not_found");
  });

  it("for a project:backend key, which stays a key", async () => {
    const { server } = await served();
    const key = client(server, await apiKey(server, "project:backend"));
    expect(dataOf(await key.post(`${data}/notes`, { owner: "cyd" }))).toMatchObject({ id: 3, by: null });
    const [version] = dataOf<{ by: object }[]>(await key.get(`${data}/notes/_svc/history?where[id]=3`));
    expect(version!.by).toEqual({ kind: "key", id: expect.any(String) });
    await server.upkeep.collectUsage();
    const kinds = await rowsOf(server, `SELECT DISTINCT principal_kind FROM ${receiptRows} ORDER BY 1`);
    expect(kinds).toEqual([["admin"], ["key"]]);
  });

  it("and operations past their rule", async () => {
    const { root, ada } = await served();
    const params = { id: 2, title: "renamed" };
    expectRefusal(await root.post("/ops/rename", params), 403, "forbidden");
    const ran = await root.post("/admin/api/operations/rename", params);
    expect(dataOf(ran)).toEqual({ title: "renamed", who: "root" });
    expectRefusal(await ada.post("/admin/api/operations/rename", params), 403, "forbidden");
    const as = { "Svc-As": "user:ada" };
    expectRefusal(await root.post("/admin/api/operations/rename", params, as), 400, "bad_request");
    expect((await root.get("/admin/api/operations")).status).toBe(200);
  });
});

describe("Svc-As", () => {
  it("answers what the named caller would get, columns and refusals included", async () => {
    const { server, root, ada } = await served();
    const key = client(server, await apiKey(server, "resource:notes:read"));
    const [[keyId]] = (await rowsOf(server, "SELECT id FROM _service_keys")) as [[string]];
    const paths = [
      "notes",
      "notes/1",
      "notes/2",
      "notes/9",
      "notes?where[secret]=s1",
      "notes/_svc/aggregate?count=*",
      "notes/_svc/state",
      "pins",
      "nothing",
    ];
    const callers = { "user:ada": ada, anonymous: client(server), [`key:${keyId}`]: key };
    for (const [name, caller] of Object.entries(callers)) {
      for (const path of paths) {
        const own = await caller.get(`/api/${path}`);
        const seen = await root.get(`${data}/${path}`, { "Svc-As": name });
        const bodyOf = ({ body }: { readonly body: unknown }) => {
          const { data: rows, error } = body as Record<string, unknown>;
          return { rows, error };
        };
        expect([seen.status, bodyOf(seen)], `${name} ${path}`).toEqual([own.status, bodyOf(own)]);
        expect(seen.headers.get("Svc-As")).toBe(name);
      }
    }
    const history = await root.get(`${data}/notes/_svc/history`, { "Svc-As": "user:ada" });
    expect(dataOf<{ by: unknown }[]>(history).map(({ by }) => by)).toEqual([null]);
    await server.upkeep.collectUsage();
    const by = await rowsOf(server, `SELECT DISTINCT principal_kind || principal_id FROM ${receiptRows}`);
    expect(by.flat()).toContain("adminroot");
    expect((await root.get(`${data}/notes`)).headers.get("Svc-As")).toBeNull();
  });

  it("pulls and follows what the named caller would, as long as both hold", async () => {
    const { server, root } = await served();
    await member(server, "bob");
    const as = { "Svc-As": "user:ada" };
    const body = { tables: { notes: { select: ["id"] } } };
    const pulled = dataOf<{ checkpoint: string; changes: { row: object }[] }>(
      await root.post(`${data}/_svc/pull`, body, as),
    );
    expect(pulled.changes.map(({ row }) => row)).toEqual([{ id: 1 }]);
    const own = await root.post(`${data}/_svc/pull`, { ...body, checkpoint: pulled.checkpoint });
    expect(dataOf(own)).toMatchObject({ reset: "identity", changes: [{}, {}] });
    const { bearer } = await member(server, "watcher", "admin");
    const path = `${data}/_svc/live?q=${encodeURIComponent(JSON.stringify(body))}`;
    const streams = [
      new Events(await server.request(path, { headers: { ...bearer, ...as } })),
      new Events(await server.request(path, { headers: { ...bearer, "Svc-As": "user:bob" } })),
    ];
    const [hers, his] = streams as [Events, Events];
    expect(await hers.changes()).toMatchObject([{ row: { id: 1 } }]);
    expect(await his.changes()).toMatchObject([{ row: { id: 2 } }]);
    await root.post(`${data}/notes`, { owner: "ada" });
    expect(await hers.changes()).toMatchObject([{ row: { id: 3 } }]);
    await run(server, "UPDATE _users SET disabled = 1 WHERE id = 'ada'");
    await root.post(`${data}/notes`, { owner: "bob" });
    const ended = { event: "bye", data: { reason: "auth_expired" } };
    expect(await hers.next()).toMatchObject(ended);
    expect(await his.changes()).toMatchObject([{ row: { id: 4 } }]);
    await run(server, "UPDATE _sessions SET revoked_at = 1 WHERE user_id = 'watcher'");
    await root.post(`${data}/notes`, { owner: "bob" });
    expect(await his.next()).toMatchObject(ended);
  });

  it("of somebody who is not there is 404, of somebody who may not come in 401", async () => {
    const { server, root } = await served();
    await member(server, "gone");
    await run(server, "UPDATE _users SET disabled = 1 WHERE id = 'gone'");
    await apiKey(server, "resource:notes:read");
    const [[keyId]] = (await rowsOf(server, "SELECT id FROM _service_keys")) as [[string]];
    const seen = (name: string) => root.get(`${data}/notes`, { "Svc-As": name });
    expectRefusal(await seen("user:nobody"), 404, "not_found");
    expectRefusal(await seen("key:nothing"), 404, "not_found");
    expectRefusal(await seen(`user:${keyId}`), 404, "not_found");
    expectRefusal(await seen("user:gone"), 401, "unauthorized");
    expect((await seen(`key:${keyId}`)).status).toBe(200);
    await root.delete(`/admin/api/service-keys/${keyId}`);
    expectRefusal(await seen(`key:${keyId}`), 401, "unauthorized");
    for (const name of ["", "ada", "user:", "admin:root", "user:a b", "user:%", "anonymous:x"])
      expectRefusal(await seen(name), 400, "bad_request");
  });

  it("takes ids of imported users, percent-encoded", async () => {
    const { server, root } = await served();
    const key = client(server, await apiKey(server, "project:backend"));
    await key.post("/auth/users/import", { users: [{ id: "ä/%:b", email: "a@example.com" }] });
    await root.post(`${data}/notes`, { owner: "ä/%:b" });
    const seen = await root.get(`${data}/notes`, { "Svc-As": `user:${encodeURIComponent("ä/%:b")}` });
    expect(idsOf(dataOf(seen))).toEqual([3]);
  });

  it("writes nothing, whatever the named caller may", async () => {
    const { server, root } = await served();
    const as = { "Svc-As": "user:ada" };
    const note = { owner: "ada" };
    for (const refused of [
      await root.post(`${data}/notes`, note, as),
      await root.post(`${data}/notes`, [note, note], as),
      await root.post(`${data}/notes?on_conflict=id&on_duplicate=update`, { ...note, id: 1 }, as),
      await root.post(`${data}/notes`, note, { ...as, "Idempotency-Key": "k" }),
      await root.patch(`${data}/notes/1`, { title: "x" }, as),
      await root.delete(`${data}/notes/1`, as),
      await root.delete(`${data}/notes/_svc/key?id=1`, as),
      await root.post(`${data}/notes/_svc/restore`, { key: { id: 1 }, seq: 1 }, as),
      await root.post(`${data}/_svc/batch`, { operations: [{ op: "create", table: "notes", values: note }] }, as),
      await root.post(`${data}/notes`, note, { "Svc-As": "user:root" }),
    ])
      expectRefusal(refused, 400, "bad_request");
    expect(await rowsOf(server, "SELECT title FROM notes ORDER BY id")).toEqual([["hers"], ["his"]]);
  });

  it("has cursors of its own, which open neither for the administrator nor for the caller", async () => {
    const { root, ada } = await served();
    await root.post(`${data}/notes`, { owner: "ada" });
    const as = { "Svc-As": "user:ada" };
    const cursorOf = async (caller: Client, path: string, headers = {}) =>
      metaOf(await caller.get(`${path}/notes?limit=1`, headers)).next_cursor!;
    const [own, seen, hers] = [await cursorOf(root, data), await cursorOf(root, data, as), await cursorOf(ada, "/api")];
    const next = await root.get(`${data}/notes?cursor=${seen}`, as);
    expect(idsOf(dataOf(next))).toEqual([3]);
    for (const refused of [
      await root.get(`${data}/notes?cursor=${seen}`),
      await root.get(`${data}/notes?cursor=${own}`, as),
      await root.get(`${data}/notes?cursor=${hers}`, as),
      await root.get(`${data}/notes?cursor=${seen}`, { "Svc-As": "user:root" }),
      await ada.get(`/api/notes?cursor=${seen}`),
      await root.get(`/api/notes?cursor=${own}`),
    ])
      expectRefusal(refused, 400, "invalid_cursor");
  });

  it("means nothing under /api", async () => {
    const { root } = await served();
    expect(dataOf(await root.get("/api/notes", { "Svc-As": "user:ada" }))).toEqual([]);
  });
});
