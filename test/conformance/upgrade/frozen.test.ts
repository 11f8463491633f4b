import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { release } from "../../../src/platform/release.js";
import { applyChange } from "../../../src/schema/apply.js";
import { planChange } from "../../../src/schema/plan/plan.js";
import { bringUpSystemTables, broughtUpFirst } from "../../../src/schema/system/bring-up.js";
import { type SystemMigration, systemMigrations } from "../../../src/schema/system/migrations.js";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { countOf, rowsOf, run } from "../../support/people.js";
import { MemoryLog, serve, type TestServer } from "../../support/server.js";
import { lastToken } from "../links/support.js";

/** A database that release 0.1.0 has made and filled. What its people hold was given to them by that release. */
const frozen = readFileSync("test/frozen/release-0.1.0.sql", "utf8");
const password = "correct horse battery staple";
const ada = {
  id: "22d621ef5dfd865b39e98448429156cd",
  accessToken:
    "eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzaWQiOiI3MTVlZDNkN2RjOTU0ZGNlZmNlYjIyNzllMzA3ZmViNCIsImVtYWlsIjoiQWRhQGV4YW1wbGUuY29tIiwicm9sZSI6InVzZXIiLCJpc3MiOiJzdmMiLCJzdWIiOiIyMmQ2MjFlZjVkZmQ4NjViMzllOTg0NDg0MjkxNTZjZCIsImlhdCI6MTc2NzIyNTYwMCwiZXhwIjoxNzY3MjI2NTAwLCJqdGkiOiI2Y2VhYmNlMGFjZDVjNDQzOTU3M2YxMWFjOTk2YWY4MCJ9.0k6jXUKiIBNrwvff_k3jEE8BuYz-SUW7P-UcEDJxjaI",
  usedRefreshToken: "svc_rt_72K6h9Zq8qOLaIfUOFIsDmpTHtP0BUyymsIbWvDYbUs",
  refreshToken: "svc_rt_FN0jendhEH9AnjKskrttGvheV-F3ZF96c12shBqvCDM",
};
const backendKey = "svc_sk_uhWz_Jw4zNP_b8G7ErxeV9s8MX4qdcoQ6Qi3f5ZK0i4";
const revokedKey = "svc_sk_v7xiLouDNyM8vuhtlc0EsGKLre_c-OFBoJVUKwPYfSw";
const links = {
  confirmCy: "Q7mI1lE60CVzik6vJDwdhecFOqzIOPKfrx1OC-k1vBU",
  inviteDee: "eMo3oVbD9otW4Te07sWu2LbhKyBwP8dLN9FweTO744s",
  resetBob: "wF4s9szVlA4aWaqFivZl8zsbsAWtRf1-WJba8EL0cZs",
};

const rules = `
[rules.teams]
read = "exists(team_members m where m.team_id = row.id and m.user_id = auth.id)"
[rules.notes]
read = "exists(team_members m where m.team_id = row.team_id and m.user_id = auth.id)"
create = "new.author_id = auth.id"
update = "row.author_id = auth.id"
`;

/** The schema in force of the frozen database, as that release kept it. */
const schema = /VALUES\(2,'[0-9a-f]{64}','((?:[^']|'')*)'/.exec(frozen)![1]!.replaceAll("''", "'");

const start = () => serve({ schema, config: rules, frozen });
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** What a later release might change: a column more, a CHECK that allows more, and values that follow. */
const later: SystemMigration = {
  release: "9.0.0",
  statements: [
    "ALTER TABLE _sessions ADD COLUMN ends_at INTEGER",
    "UPDATE _sessions SET ends_at = created_at + 1000",
    "ALTER TABLE _users ADD COLUMN wider TEXT NOT NULL DEFAULT 'user' CHECK (wider IN ('user', 'admin', 'owner'))",
    "UPDATE _users SET wider = role",
    "DROP INDEX _users_admins",
    "ALTER TABLE _users DROP COLUMN role",
    "ALTER TABLE _users RENAME COLUMN wider TO role",
    "CREATE INDEX _users_admins ON _users (role) WHERE role = 'admin'",
    "UPDATE _users SET role = 'owner' WHERE email_key = 'root@example.com'",
  ],
};
const withLater = [...systemMigrations, later];

const versions = (server: TestServer) => rowsOf(server, "SELECT version, release FROM _migrations ORDER BY version");
const thisRelease = systemMigrations.map((_, i) => [i + 1, release]);

/** Everything that owners keep, and what hangs on users. */
async function kept(server: TestServer) {
  const counts = ["_users", "_sessions", "_refresh_tokens", "_service_keys", "_identities", "teams", "team_members"];
  return [
    ...(await Promise.all(counts.map(async (table) => [table, await countOf(server, table)]))),
    await rowsOf(server, "SELECT CAST(id AS TEXT), body, author_id IS NULL FROM notes ORDER BY id"),
  ];
}

describe("a database of release 0.1.0", () => {
  it("starts with everything in it", async () => {
    const server = await start();
    expect(await versions(server)).toEqual(thisRelease);
    const asAda = client(server, bearer(ada.accessToken));
    expect(dataOf<{ user: object }>(await asAda.get("/auth/me")).user).toMatchObject({
      id: ada.id,
      email: "Ada@example.com",
    });
    expect(dataOf(await asAda.get("/api/notes"))).toEqual([
      {
        id: 1,
        team_id: "t1",
        author_id: ada.id,
        body: 'it\'s "quoted"\nand 🙂',
        meta: { a: [1, null] },
        seen: true,
        weight: 0.1,
        file: "AP8=",
      },
      {
        id: 2,
        team_id: "t1",
        author_id: ada.id,
        body: "plain",
        meta: null,
        seen: false,
        weight: null,
        file: null,
      },
    ]);
    expect((await asAda.patch("/api/notes/2", { body: "changed" })).status).toBe(200);
    const key = client(server, bearer(backendKey));
    expect(dataOf(await key.get("/api/notes/9007199254740993"))).toMatchObject({
      body: "of bob",
      weight: 1e300,
    });
    expectRefusal(await client(server, bearer(revokedKey)).get("/api/notes"), 401, "unauthorized");
    for (const path of ["/admin/api/users", "/admin/api/service-keys"])
      expect(new Set(dataOf<{ created_by: null }[]>(await key.get(path)).map(({ created_by }) => created_by))).toEqual(
        new Set([null]),
      );
    const usage = await key.get("/admin/api/usage?from=2026-01-01&to=2026-01-02&group_by=table");
    expect(dataOf<{ key: string; requests: number }[]>(usage).map(({ key, requests }) => [key, requests])).toEqual([
      ["notes", 7],
      ["team_members", 3],
      ["teams", 2],
    ]);
    expect(usage.body).toMatchObject({ meta: { gaps: [expect.objectContaining({ attempts_max: 7 })] } });
  });

  it("knows its people: sessions, passwords, links and mail that waits", async () => {
    const server = await start();
    const anyone = client(server);
    const refresh = (refresh_token: string) => anyone.post("/auth/refresh", { refresh_token });
    // Inside the grace window, the token that was used gives the successor that it gave then.
    expect(dataOf(await refresh(ada.usedRefreshToken))).toMatchObject({ refresh_token: ada.refreshToken });
    const next = dataOf<{ refresh_token: string }>(await refresh(ada.refreshToken)).refresh_token;
    expect(dataOf(await refresh(ada.refreshToken))).toMatchObject({ refresh_token: next });
    const login = (email: string) => anyone.post("/auth/login", { email, password });
    expect(dataOf(await login("root@example.com"))).toMatchObject({ user: { role: "admin" } });
    expectRefusal(await login("cy@example.com"), 403, "email_not_verified");
    const use = (path: string, token: string) => anyone.post(path, { token, password: `${password} 2` });
    const confirmed = await anyone.post("/auth/email-verification/confirm", { token: links.confirmCy });
    expect(dataOf(confirmed)).toMatchObject({ user: { email: "cy@example.com" } });
    expect((await use("/auth/invitations/accept", links.inviteDee)).status).toBe(200);
    expect((await use("/auth/password-reset/confirm", links.resetBob)).status).toBe(200);
    expect(await rowsOf(server, "SELECT provider, subject, user_id FROM _identities")).toEqual([
      ["google", "subject-1", ada.id],
    ]);
    await server.upkeep.resumeMail();
    const token = await lastToken(server, "Ada@example.com");
    expect((await use("/auth/password-reset/confirm", token)).status).toBe(200);
  });

  it("finds out that a refresh token of that release is used again, however long ago it was used", async () => {
    for (const reused of [ada.usedRefreshToken, ada.refreshToken]) {
      const server = await start();
      const anyone = client(server);
      const refresh = (refresh_token: string) => anyone.post("/auth/refresh", { refresh_token });
      const next = dataOf<{ refresh_token: string }>(await refresh(ada.refreshToken));
      const latest = dataOf<{ refresh_token: string; access_token: string }>(await refresh(next.refresh_token));
      server.clock.advance(60_000);
      await server.upkeep.purge();
      const me = client(server, bearer(latest.access_token));
      expect((await me.get("/auth/me")).status).toBe(200);
      expectRefusal(await refresh(reused), 401, "invalid_refresh_token");
      expectRefusal(await refresh(latest.refresh_token), 401, "invalid_refresh_token");
      expectRefusal(await me.get("/auth/me"), 401, "unauthorized");
    }
  });

  it("ends its sessions 90 days after they began", async () => {
    const server = await start();
    const refresh = (refresh_token: string) => client(server).post("/auth/refresh", { refresh_token });
    let token = ada.refreshToken;
    for (const days of [25, 25, 25]) {
      server.clock.advance(days * 86_400_000);
      token = dataOf<{ refresh_token: string }>(await refresh(token)).refresh_token;
    }
    server.clock.advance(15 * 86_400_000);
    expectRefusal(await refresh(token), 401, "invalid_refresh_token");
  });

  it("takes the migrations of a later release in one transaction, once, however many begin at the same time", async () => {
    const server = await start();
    const before = await kept(server);
    const upgrades = Array.from({ length: 5 }, () => bringUpSystemTables(server.database, 7, withLater));
    expect(await Promise.all(upgrades)).toEqual([null, null, null, null, null]);
    expect(await versions(server)).toEqual([...thisRelease, [withLater.length, release]]);
    expect(await kept(server)).toEqual(before);
    expect(await rowsOf(server, "SELECT email_key, role FROM _users WHERE role <> 'user' ORDER BY email_key")).toEqual([
      ["root@example.com", "owner"],
    ]);
    expect(await rowsOf(server, "SELECT count(*) FROM _sessions WHERE ends_at = created_at + 1000")).toEqual([[4]]);
    await expect(run(server, "UPDATE _users SET role = 'nobody'")).rejects.toThrow(/CHECK/);
  });

  it("keeps everything as it was where a migration fails half-way", async () => {
    const server = await start();
    const before = await kept(server);
    const broken = {
      release: "9.0.0",
      statements: [...later.statements, "UPDATE _users SET role = 'nobody'"],
    };
    await expect(bringUpSystemTables(server.database, 7, [...systemMigrations, broken])).rejects.toThrow(/CHECK/);
    expect(await versions(server)).toEqual(thisRelease);
    expect(await kept(server)).toEqual(before);
    expect(await rowsOf(server, "SELECT role FROM _users WHERE email_key = 'root@example.com'")).toEqual([["admin"]]);
  });
});

describe("a database of a later release", () => {
  /** As 9.0.0 would have recorded it. */
  async function ofLaterRelease() {
    const server = await start();
    await bringUpSystemTables(server.database, 7, withLater);
    await run(server, "UPDATE _migrations SET release = '9.0.0' WHERE version = ?", BigInt(withLater.length));
    return server;
  }
  const refusal = {
    file: "svc.toml",
    path: "database.url",
    message: `the database was brought to version ${withLater.length} of the server's own tables by svc 9.0.0; this is svc ${release}, which knows version ${systemMigrations.length}: serve it with 9.0.0 or a later release`,
  };

  it("is refused with both versions named, and left as it is", async () => {
    const server = await ofLaterRelease();
    const { database } = server;
    const before = [...(await kept(server)), await versions(server), await countOf(server, "_schema")];
    expect(await bringUpSystemTables(database, 8)).toEqual(refusal);
    expect(await planChange(database, schema)).toEqual({ outcome: "invalid", problems: [refusal] });
    for (const text of [schema, `${schema}\nmore: { columns: { id: { type: integer, primary_key: true } } }`])
      expect(await applyChange(database, text, { allowDestructive: true, now: 8 })).toEqual({
        outcome: "refused",
        reason: "invalid",
        problems: [refusal],
      });
    expect([...(await kept(server)), await versions(server), await countOf(server, "_schema")]).toEqual(before);
  });

  it("is not touched by a Worker, whose every call fails as if the storage was away", async () => {
    const server = await ofLaterRelease();
    const log = new MemoryLog();
    const guarded = broughtUpFirst(server.database, log, () => 9);
    const read = { sql: "SELECT 1 AS one", params: [] };
    for (const method of ["query", "batch", "migrate"] as const)
      await expect(guarded[method]([read])).rejects.toMatchObject({
        name: "UnavailableError",
        message: refusal.message,
      });
    expect(log.lines).toContain(refusal.message);
  });
});

it("a Worker brings the database up before its first use, and asks no more then", async () => {
  const server = await start();
  let calls = 0;
  const counted = {
    ...server.database,
    query: (statements: Parameters<typeof server.database.query>[0]) => {
      calls++;
      return server.database.query(statements);
    },
    batch: (statements: Parameters<typeof server.database.batch>[0]) => server.database.batch(statements),
  };
  const guarded = broughtUpFirst(counted, new MemoryLog(), () => 9, withLater);
  const read = { sql: "SELECT count(*) FROM notes", params: [] };
  const answers = await Promise.all([guarded.query([read]), guarded.query([read])]);
  expect(answers.map(([result]) => result!.rows)).toEqual([[[3]], [[3]]]);
  expect(await versions(server)).toEqual([...thisRelease, [withLater.length, release]]);
  calls = 0;
  await guarded.query([read]);
  expect(calls).toBe(1);
});
