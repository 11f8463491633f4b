import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Database } from "../../src/platform/database.js";
import { client, dataOf, expectAnswer, expectRefusal } from "../support/client.js";
import { countOf, run } from "../support/people.js";
import { serve, type TestServer } from "../support/server.js";

const page = "https://app.example.com";
const project = {
  schema: `
notes:
  columns:
    id:   { type: integer, primary_key: true }
    body: { type: text, not_null: true }
`,
  config: `
[auth]
cookie_mode = true
[cors]
allowed_origins = ["${page}"]
[usage]
enabled = false
[rules.notes]
read = "authenticated"
create = "authenticated"
update = "authenticated"
delete = "authenticated"
`,
};

const password = "correct horse battery staple";
const ada = { email: "ada@example.com", password };

interface Setting {
  readonly path: string;
  readonly server: TestServer;
  /** The server's own connection. */
  readonly connection: Libsql.Database;
  /** How many writes the database has refused by now. */
  readonly refusedWrites: number;
}

/** Breaks the storage, in SQLite itself, and returns what mends it. */
type Fault = (setting: Setting) => () => void;

const locked: Fault = ({ path }) => {
  const other = new Libsql(path);
  other.exec("BEGIN IMMEDIATE");
  return () => {
    other.exec("ROLLBACK");
    other.close();
  };
};

/** A stand-in for a file without write permission, which would not stop a superuser: every write is SQLITE_READONLY. */
const readOnly: Fault = ({ connection }) => {
  connection.exec("PRAGMA query_only=1");
  return () => connection.exec("PRAGMA query_only=0");
};

const full: Fault = ({ connection }) => {
  // It cannot be set below the pages that there are.
  connection.exec("PRAGMA max_page_count=1");
  return () => connection.exec("PRAGMA max_page_count=1000000");
};

/** A row may fit in a page that is there already: with a ballast, every write needs new ones. */
async function addBallast(server: TestServer): Promise<void> {
  await run(server, "CREATE TABLE ballast (bytes BLOB)");
  for (const table of ["_users", "_sessions", "_refresh_tokens", "_throttle", "_links", "notes"])
    for (const event of ["INSERT", "UPDATE", "DELETE"])
      await run(
        server,
        `CREATE TRIGGER "ballast of ${event} on ${table}" AFTER ${event} ON ${table}
        BEGIN INSERT INTO ballast VALUES (zeroblob(20000)); END`,
      );
}

async function begin(): Promise<Setting> {
  const directory = mkdtempSync(join(tmpdir(), "svc-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "data.db");
  const exec = vi.spyOn(Libsql.prototype, "exec");
  let refusedWrites = 0;
  const wrap = (database: Database): Database =>
    new Proxy(database, {
      get: (_, name) => {
        const value = database[name as keyof Database];
        if (typeof value !== "function") return value;
        if (name !== "batch") return value.bind(database);
        return (...args: Parameters<Database["batch"]>) =>
          database.batch(...args).catch((error: unknown) => {
            refusedWrites++;
            throw error;
          });
      },
    });
  const server = await serve({ ...project, path, wrap });
  const connection = exec.mock.contexts[0] as unknown as Libsql.Database;
  exec.mockRestore();
  await addBallast(server);
  return {
    path,
    server,
    connection,
    get refusedWrites() {
      return refusedWrites;
    },
  };
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

describe.each<[string, Fault, RegExp]>([
  ["locked by another connection", locked, /database is locked/],
  ["read-only", readOnly, /readonly database/],
  ["full", full, /database or disk is full/],
])("while the database is %s", (_, fault, cause) => {
  // How long a write waits for a lock is a test of test/platform/database.test.ts.
  it("writes are 503 after they have waited once and set no cookie, reads go on, and all recovers without a restart", async () => {
    const setting = await begin();
    const { server } = setting;
    const browser = client(server, { Origin: page });
    const { access_token, refresh_token } = dataOf<Tokens>(await browser.post("/auth/register", ada));
    const caller = client(server, { Authorization: `Bearer ${access_token}` });
    const cookies = client(server, {
      Origin: page,
      Cookie: `svc_access=${access_token}; svc_refresh=${refresh_token}`,
    });
    dataOf(await caller.post("/api/notes", { body: "first" }));
    const counts = async () => [
      await countOf(server, "_users"),
      await countOf(server, "_sessions WHERE revoked_at IS NULL"),
      await countOf(server, "_refresh_tokens WHERE used_at IS NULL"),
      await countOf(server, "_links"),
      await countOf(server, "notes"),
    ];
    const before = await counts();

    const mend = fault(setting);
    const refused = expect(run(server, "INSERT INTO notes (body) VALUES ('x')")).rejects.toThrow(cause);
    const asked = [
      browser.post("/auth/login", ada),
      browser.post("/auth/login", { ...ada, password: "wrong" }),
      browser.post("/auth/register", { email: "new@example.com", password }),
      browser.post("/auth/refresh", { refresh_token }),
      cookies.send("POST", "/auth/refresh", {}),
      browser.post("/auth/logout", { refresh_token }),
      cookies.send("POST", "/auth/logout", {}),
      caller.post("/auth/password", { current_password: password, password: "another password" }),
      browser.post("/auth/password-reset/request", { email: ada.email }),
    ];
    const written = [
      caller.post("/api/notes", { body: "second" }),
      caller.patch("/api/notes/1", { body: "changed" }),
      caller.delete("/api/notes/1"),
      cookies.post("/api/notes", { body: "third" }),
    ];
    const reads = ["/auth/me", "/api/notes", "/api/notes/1", "/health"].map((path) => caller.get(path));
    for (const answer of await Promise.all(reads)) expect(answer.status, answer.text).toBe(200);
    for (const [answers, code] of [
      [await Promise.all(asked), "auth_unavailable"],
      [await Promise.all(written), "unavailable"],
    ] as const)
      for (const answer of answers) {
        expectRefusal(answer, 503, code);
        expect(answer.headers.getSetCookie()).toEqual([]);
        expect(answer.text).not.toMatch(/locked|readonly|full|data\.db/i);
      }
    await refused;
    // With that of the test itself.
    expect(setting.refusedWrites).toBe(asked.length + written.length + 1);
    mend();

    expect(await counts()).toEqual(before);
    expectAnswer(await caller.get("/api/notes/1"), 200, { data: { id: 1, body: "first" } });
    const next = dataOf<Tokens>(await browser.post("/auth/refresh", { refresh_token }));
    expect((await client(server, { Authorization: `Bearer ${next.access_token}` }).get("/auth/me")).status).toBe(200);
    expect((await caller.post("/api/notes", { body: "second" })).status).toBe(201);
    expect((await browser.post("/auth/login", ada)).status).toBe(200);
    expect((await browser.post("/auth/register", { email: "new@example.com", password })).status).toBe(201);
    expect((await browser.post("/auth/password-reset/request", { email: ada.email })).status).toBe(202);
    expectAnswer(await browser.post("/auth/logout", { refresh_token: next.refresh_token }), 200, {
      data: { revoked: true },
    });
    expectRefusal(await caller.get("/auth/me"), 401, "unauthorized");
    for (const secret of [password, access_token, refresh_token, next.refresh_token])
      expect(server.log.lines.join("\n")).not.toContain(secret);
  });
});
