import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { request as secureRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { storeEntries } from "../../src/metering/database-journal.js";
import { openLibsql } from "../../src/node/database/libsql.js";
import { certificate } from "../support/certificate.js";
import { patiently } from "../support/patience.js";
import { receipt } from "../support/receipts.js";
import { spawnServer } from "../support/spawned-server.js";
import { cli as built, svc as commandLine, type Outcome } from "./svc.js";

/** A copy of the example project in a directory of its own. */
function exampleProject(): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-cli-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const file of ["svc.toml", "svc.schema.yaml"]) cpSync(file, join(directory, file));
  return directory;
}

function svc(directory: string, args: readonly string[], input = ""): Outcome {
  return commandLine([...args, "--dir", directory], input);
}

function edit(directory: string, file: string, change: (text: string) => string): void {
  writeFileSync(join(directory, file), change(readFileSync(join(directory, file), "utf8")));
}

async function served(directory: string): Promise<string> {
  const { url, end } = await spawnServer(directory);
  onTestFinished(async () => {
    expect(await end("SIGTERM")).toBe(0);
  });
  return url;
}

describe("help", () => {
  it("is of a file that may be executed, however often it was built", () => {
    expect(statSync(built).mode & 0o111).toBe(0o111);
  });

  it("is what svc prints without a command, and for each command", () => {
    const none = svc(".", []);
    expect(none.status).toBe(2);
    const overview = commandLine([]);
    expect(overview.status).toBe(0);
    expect(overview.stdout).toContain("svc schema apply");
    const one = svc(".", ["schema", "apply", "--help"]);
    expect(one).toMatchObject({ status: 0, stderr: "" });
    expect(one.stdout).toContain("--allow-destructive");
  });

  it("says the package's version", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
    expect(commandLine(["--version"])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: "" });
  });

  it.each([
    [["no-such-command"]],
    [["serve", "--port", "x"]],
    [["admin", "create-user", "--email", "a@example.com"]],
    [["admin", "set-user", "--email", "a@example.com"]],
    [["admin", "revoke-sessions"]],
    [["admin", "revoke-sessions", "--all", "--email", "a@example.com"]],
    [["schema", "plan", "--no-such-option"]],
    [["schema", "plan", "extra"]],
  ])("comes with exit code 2 for %j", (args) => {
    const outcome = svc(exampleProject(), args);
    expect(outcome.status).toBe(2);
    expect(outcome.stderr).toContain("svc");
  });
});

describe("a project that is not right", () => {
  it("is told every problem of both files at once, with exit code 2", () => {
    const directory = exampleProject();
    edit(directory, "svc.toml", (text) => `${text}\n[rules.rooms.columns.nope]\nread = "public"\n`);
    edit(directory, "svc.schema.yaml", (text) => text.replace("type: integer, primary_key", "type: int, primary_key"));
    const outcome = svc(directory, ["check"]);
    expect(outcome.status).toBe(2);
    expect(outcome.stderr).toContain("svc.schema.yaml:24: messages.columns.id.type: expected");
  });

  it.each([
    ["without a secret", ""],
    ["with a short one", 'allow_insecure_dev_secret = true\ndev_secret = "short"'],
  ])("does not start %s", (_, auth) => {
    const directory = exampleProject();
    edit(directory, "svc.toml", () => `[auth]\n${auth}\n`);
    const outcome = svc(directory, ["serve", "--port", "0"]);
    expect({ status: outcome.status, stdout: outcome.stdout }).toEqual({ status: 2, stdout: "" });
    expect(existsSync(join(directory, ".svc/data.db"))).toBe(false);
  });

  it("does not serve a development secret on an address that others can reach", () => {
    expect(svc(exampleProject(), ["serve", "--port", "0", "--host", "0.0.0.0"]).status).toBe(2);
  });

  it("serves one to nobody who has come by another name than that of the machine itself", async () => {
    const directory = exampleProject();
    edit(directory, "svc.toml", (text) => `${text}\n[cors]\nallowed_origins = ["https://app.example"]\n`);
    const { port } = new URL(await served(directory));
    const status = async (method: string, host: string) => {
      const headers = {
        Host: host,
        Origin: "https://app.example",
        "Access-Control-Request-Method": "GET",
      };
      const asked = request({ port, method, path: "/health", headers }).end();
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      const allowed = answer.headers["access-control-allow-origin"];
      answer.resume();
      return [answer.statusCode, allowed];
    };
    for (const method of ["GET", "HEAD", "OPTIONS"])
      expect(await status(method, `rebound.example:${port}`), method).toEqual([403, undefined]);
    for (const host of ["localhost", "127.0.0.2", "[::1]"])
      expect(await status("GET", `${host}:${port}`), host).toEqual([200, "https://app.example"]);
  });

  it.each([
    ["cookie_mode = true", "[cors]\nallow_any_origin = true"],
    ["cookie_mode = true", ""],
  ])("does not start with %s and %j", (auth, cors) => {
    const directory = exampleProject();
    edit(directory, "svc.toml", (text) => `${text.replace("[auth]", `[auth]\n${auth}`)}\n${cors}\n`);
    expect(svc(directory, ["serve", "--port", "0"]).status).toBe(2);
  });
});

describe("what is loaded late", () => {
  it("serves HTTPS where there is a certificate", async () => {
    const directory = exampleProject();
    const { cert, key } = await certificate();
    writeFileSync(join(directory, "cert.pem"), cert);
    writeFileSync(join(directory, "key.pem"), key);
    const base = '[auth]\npublic_base_url = "https://api.example.com"';
    edit(directory, "svc.toml", (text) =>
      `${text}\n[server]\ntls_cert = "cert.pem"\ntls_key = "key.pem"\n`.replace("[auth]", base),
    );
    const url = await served(directory);
    expect(url).toMatch(/^https:/);
    const sent = secureRequest(`${url}/health`, { ca: cert, servername: "localhost" }).end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      "content-type": "application/json",
      "strict-transport-security": "max-age=31536000",
      "x-content-type-options": "nosniff",
    });
    answer.resume();
    // The certificate is of another name than the address at which the command finds the project's server.
    const asked = (args: readonly string[]) => commandLine(["health", ...args, "--dir", directory], "", { PORT: port });
    const { port } = new URL(url);
    expect(asked([])).toMatchObject({ status: 0, stderr: "" });
    expect(asked(["--url", url])).toMatchObject({ status: 1, stderr: expect.stringContaining("self-signed") });
  });

  it("leaves a mail as a file", async () => {
    const directory = exampleProject();
    edit(directory, "svc.schema.yaml", (text) =>
      text.replace("$auth:\n", "$auth:\n  email_verification: { required: true }\n"),
    );
    const url = await served(directory);
    const answer = await fetch(`${url}/auth/register`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: "ada@example.com", password: "correct horse" }),
    });
    expect(answer.status).toBe(202);
    const mails = () => readdirSync(join(directory, ".svc/mail")).filter((file) => file.endsWith(".eml"));
    await vi.waitFor(() => expect(mails()).toHaveLength(1), patiently);
  });
});

describe("administration", () => {
  it("works on the local database, and takes effect from the running server's next request", async () => {
    const directory = exampleProject();
    const url = await served(directory);
    const made = svc(
      directory,
      ["admin", "create-user", "--email", "root@example.com", "--role", "admin", "--password-stdin"],
      "correct horse\n",
    );
    expect(made).toMatchObject({ status: 0, stderr: "" });
    const login = () =>
      fetch(`${url}/auth/login`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ email: "root@example.com", password: "correct horse" }),
      });
    expect((await login()).status).toBe(200);
    const last = svc(directory, ["admin", "set-user", "--email", "root@example.com", "--disabled", "true"]);
    expect(last.status).toBe(1);
    const users = JSON.parse(svc(directory, ["admin", "list-users", "--json"]).stdout);
    const root = { id: made.stdout.trim(), email: "root@example.com", role: "admin", created_by: "cli" };
    expect(users).toMatchObject([root]);

    const key = svc(directory, [
      "admin",
      "create-service-key",
      "--name",
      "ci",
      "--scope",
      "project:backend",
      "--scope",
      "*",
    ]);
    expect(key.stderr).toContain("* is a legacy scope");
    const secret = key.stdout.trim().split("\n").at(-1)!;
    const remote = ["--url", url, "--key-stdin"];
    expect(svc(directory, ["admin", "list-users", ...remote], secret).stdout).toContain("root@example.com");
    const more = svc(
      directory,
      ["admin", "create-user", "--email", "ada@example.com", "--password-stdin", ...remote],
      `${secret}\ncorrect horse\n`,
    );
    expect(more).toMatchObject({ status: 0, stderr: "" });
    const setAda = ["admin", "set-user", "--email", "ada@example.com"];
    const promoted = svc(directory, [...setAda, "--role", "admin", ...remote], secret);
    expect(promoted).toMatchObject({ status: 1, stdout: "" });
    expect(promoted.stderr).toContain("a key cannot make admins");
    expect(svc(directory, [...setAda, "--disabled", "true", ...remote], secret).stdout).toContain("disabled");
    expect(svc(directory, [...setAda, "--role", "admin"]).stdout).toContain("  admin  ");
    const revoke = ["admin", "revoke-sessions"];
    const ofRoot = ["--email", "root@example.com"];
    expect(svc(directory, [...revoke, ...ofRoot])).toMatchObject({ status: 0, stdout: "ended 1 session\n" });
    for (let i = 0; i < 2; i++) await login();
    expect(svc(directory, [...revoke, "--all"])).toMatchObject({ status: 0, stdout: "ended 2 sessions\n" });
    await login();
    const revokedByKey = svc(directory, [...revoke, ...ofRoot, ...remote], secret);
    expect(revokedByKey).toMatchObject({ status: 0, stdout: "ended 1 session\n" });
    const none = svc(directory, [...revoke, "--all", ...remote], secret);
    expect(none).toMatchObject({ status: 0, stdout: "ended 0 sessions\n" });
    expect(svc(directory, [...revoke, "--email", "nobody@example.com"]).status).toBe(1);
    const admin = ["--url", url, "--email", "root@example.com", "--password-stdin"];
    const byAdmin = svc(
      directory,
      ["admin", "create-service-key", "--name", "two", "--scope", "resource:tags:read", ...admin],
      "correct horse\n",
    );
    expect(byAdmin.stdout).toContain("svc_sk_");
    const [{ id, created_by: keyMaker }, { created_by: byAdminMaker }] = JSON.parse(
      svc(directory, ["admin", "list-service-keys", "--json"]).stdout,
    );
    expect([keyMaker, byAdminMaker]).toEqual(["cli", `user:${root.id}`]);
    expect(svc(directory, ["admin", "revoke-service-key", id]).status).toBe(0);
    expect(svc(directory, ["admin", "list-users", ...remote], secret).status).toBe(1);
  });

  it("signs an admin in to a server that leaves tokens to cookies", async () => {
    const directory = exampleProject();
    const cors = '[cors]\nallowed_origins = ["https://app.example.com"]';
    edit(directory, "svc.toml", (text) =>
      text.replace("[auth]", `${cors}\n[auth]\ncookie_mode = true\ncookie_tokens_in_body = false`),
    );
    const url = await served(directory);
    const root = ["--email", "root@example.com", "--password-stdin"];
    svc(directory, ["admin", "create-user", "--role", "admin", ...root], "correct horse\n");
    addUsers(directory, 1_500);
    const list = ["admin", "list-users", "--json", "--url", url, ...root];
    const listed = svc(directory, list, "correct horse\n");
    expect(listed).toMatchObject({ status: 0, stderr: "" });
    const users = JSON.parse(listed.stdout) as readonly { readonly email: string }[];
    expect(new Set(users.map(({ email }) => email)).size).toBe(1_501);
    expect(users.some(({ email }) => email === "root@example.com")).toBe(true);
  });
});

/** Puts users into the database of a project: more than one page of a list has. */
function addUsers(directory: string, howMany: number): void {
  const database = new Libsql(join(directory, ".svc", "data.db"));
  database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${howMany})
    INSERT INTO _users (id, email, email_key, role, created_at)
    SELECT 'u' || i, i || '@example.com', i || '@example.com', 'user', '2026-01-01T00:00:00.000Z' FROM n`);
  database.close();
}

describe("the schema", () => {
  it("waits for a person at start, and the tables of the server itself that are missing do not", async () => {
    const directory = exampleProject();
    expect(svc(directory, ["schema", "apply"]).status).toBe(0);
    const database = new Libsql(join(directory, ".svc", "data.db"));
    onTestFinished(() => {
      database.close();
    });
    // As a state from before 0.1.0 has left it.
    database.exec(`DROP TABLE _usage_days; DROP TABLE _migrations;
      DROP TABLE _changes; DROP TABLE _transactions; DROP TABLE _history;
      DROP TABLE _staged; DROP TABLE _idempotency; DROP TABLE _push_clients; DROP TABLE _push_results;
      DROP TABLE _past_mails; ALTER TABLE _outbox DROP COLUMN last_error;
      DROP INDEX _sessions_family; DROP INDEX _sessions_created_at; DROP INDEX _refresh_tokens_generation;
      DROP TABLE _setup; DROP INDEX _users_admins; DROP INDEX _sessions_token_hash; DROP INDEX _sessions_expires_at;
      ALTER TABLE _sessions DROP COLUMN kind; ALTER TABLE _sessions DROP COLUMN token_hash;
      ALTER TABLE _sessions DROP COLUMN expires_at; ALTER TABLE _sessions DROP COLUMN confirmed_until;
      ALTER TABLE _sessions DROP COLUMN latest_at; ALTER TABLE _sessions DROP COLUMN family;
      ALTER TABLE _refresh_tokens DROP COLUMN generation;
      ALTER TABLE _users DROP COLUMN created_by;
      ALTER TABLE _service_keys DROP COLUMN created_by;
      DROP INDEX _throttle_ends_at; ALTER TABLE _throttle DROP COLUMN ends_at;
      CREATE INDEX _throttle_started_at ON _throttle (started_at);
      CREATE INDEX _refresh_tokens_session_id ON _refresh_tokens (session_id)`);
    edit(directory, "svc.schema.yaml", (text) => text.replace("    color: { type: text }\n", ""));
    const { process: server, url, end } = await spawnServer(directory, "pipe");
    onTestFinished(async () => {
      await end("SIGTERM");
    });
    let told = "";
    server.stderr!.on("data", (some: Buffer) => {
      told += some.toString();
    });
    expect((await fetch(`${url}/api/tags?select=color`)).status).toBe(200);
    await vi.waitFor(() => expect(told).toMatch(/in force until [^\n]*: tags\.color/), patiently);
    const tables = database.prepare("SELECT count(*) FROM sqlite_master WHERE name = '_usage_days'");
    expect(tables.raw(true).all([])).toEqual([[1]]);
  });

  it("is planned and applied on the local database and on a running server", async () => {
    const directory = exampleProject();
    const url = await served(directory);
    edit(directory, "svc.schema.yaml", (text) => text.replace("    color: { type: text }\n", ""));
    const plan = svc(directory, ["schema", "plan"]);
    expect(plan.stdout).toMatch(/^base: [0-9a-f]{64}\n1 steps?, [\s\S]*\ndrop column tags.color\n {2}DESTRUCTIVE/);
    expect(plan.stdout).not.toContain("ALTER TABLE");
    expect(svc(directory, ["schema", "plan", "--sql"]).stdout).toContain('ALTER TABLE "tags" DROP COLUMN "color";');
    expect([plan.status, svc(directory, ["schema", "plan", "--json"]).status]).toEqual([3, 3]);
    const refused = svc(directory, ["schema", "apply"]);
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(refused.stderr).toContain("--allow-destructive");
    expect(svc(directory, ["schema", "apply", "--allow-destructive", "--base", "0".repeat(64)]).status).toBe(1);
    expect(svc(directory, ["schema", "apply", "--allow-destructive"])).toMatchObject({
      status: 0,
      stderr: "",
    });
    expect((await fetch(`${url}/api/tags?select=color`)).status).toBe(400);
    expect(svc(directory, ["schema", "plan"]).status).toBe(0);
    edit(directory, "svc.schema.yaml", (text) =>
      text.replace("\ntags:\n", "\nsizes:\n  columns: { id: { type: integer, primary_key: true } }\n\ntags:\n"),
    );
    expect(svc(directory, ["schema", "apply"])).toMatchObject({ status: 0, stderr: "" });

    const key = svc(directory, ["admin", "create-service-key", "--name", "ci", "--scope", "project:backend"]);
    const secret = key.stdout.trim().split("\n").at(-1)!;
    edit(directory, "svc.schema.yaml", (text) => `${text}    shade: { type: text }\n`);
    const remote = ["--url", url, "--key-stdin"];
    const planned = svc(directory, ["schema", "plan", ...remote], secret);
    expect(planned).toMatchObject({ status: 0, stdout: expect.stringContaining("\nadd column tags.shade") });
    expect(svc(directory, ["schema", "plan", "--json", ...remote], secret).stdout).toContain('"add_column"');
    expect(svc(directory, ["schema", "apply", ...remote], secret).status).toBe(0);
    expect((await fetch(`${url}/api/tags?select=shade`)).status).toBe(200);

    // What cannot be done comes before what waits for a person.
    await fetch(`${url}/api/tags`, {
      method: "POST",
      headers: { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" },
      body: JSON.stringify({ label: "x" }),
    });
    edit(directory, "svc.schema.yaml", (text) =>
      text.replace("    shade: { type: text }\n", "    tone: { type: text, not_null: true }\n"),
    );
    for (const more of [[], ["--json"], ["--sql"]]) {
      expect(svc(directory, ["schema", "plan", ...more]).status).toBe(1);
      expect(svc(directory, ["schema", "plan", ...more, ...remote], secret).status).toBe(1);
    }
    edit(directory, "svc.schema.yaml", (text) => `${text}    shade: 5\n`);
    expect(svc(directory, ["schema", "plan"]).status).toBe(2);
  });
});

it("a schema and the rules that fit it, applied by a command, are served without a restart", async () => {
  const directory = exampleProject();
  const url = await served(directory);
  const tags = async (query: string) => (await fetch(`${url}/api/tags?${query}`)).status;
  expect(await tags("select=color")).toBe(200);
  edit(directory, "svc.schema.yaml", (text) =>
    text
      .replace("    color: {", "    shade: { renamed_from: color,")
      .replace("\ntags:\n", "\nsizes:\n  columns: { id: { type: integer, primary_key: true } }\n\ntags:\n"),
  );
  edit(
    directory,
    "svc.toml",
    (text) => `${text}\n[rules.tags.columns.shade]\nread = "authenticated"\n[rules.sizes]\nread = "public"\n`,
  );
  expect(svc(directory, ["schema", "apply"]).status).toBe(0);
  expect(await tags("select=label")).toBe(200);
  // The rule hides the column.
  expect(await tags("select=shade")).toBe(400);
  expect((await fetch(`${url}/api/sizes`)).status).toBe(200);
  // The next change is judged by the rules that are served now, over HTTP too.
  const key = svc(directory, ["admin", "create-service-key", "--name", "ci", "--scope", "project:backend"]);
  const headers = {
    Authorization: `Bearer ${key.stdout.trim().split("\n").at(-1)!}`,
    "Content-Type": "application/yaml",
  };
  const apply = (body: string) => fetch(`${url}/admin/api/schema/apply`, { method: "POST", headers, body });
  const applied = readFileSync(join(directory, "svc.schema.yaml"), "utf8");
  const renamed = applied.replace("shade: { renamed_from: color,", "tone: { renamed_from: shade,");
  expect((await apply(renamed)).status).toBe(400);
  edit(directory, "svc.toml", (text) => text.replace("columns.shade", "columns.tone"));
  expect((await apply(renamed)).status).toBe(200);
  expect(await tags("select=tone")).toBe(400);
  expect((await fetch(`${url}/api/tags?select=tone`, { headers })).status).toBe(200);
});

describe("usage", () => {
  it("says in its export how many requests a sum stands for", async () => {
    const directory = exampleProject();
    svc(directory, ["schema", "apply"]);
    const database = openLibsql({
      path: join(directory, ".svc/data.db"),
      synchronous: "normal",
      commandLine: true,
    });
    const sum = receipt("a", {
      principalKind: "anonymous",
      principalId: null,
      rowsRead: 7,
      sum: { requests: 3, unknownReads: 1 },
    });
    await storeEntries(database, [{ receipts: [sum, receipt("b")], gaps: [] }]);
    await database.close();
    const lines = svc(directory, ["usage", "export", "--format", "csv"]).stdout.trim().split("\n");
    expect(lines.slice(1)).toEqual([
      "a,1970-01-01T00:00:00.001Z,anonymous,,GET,notes,list,200,7,0,2,3,1",
      "b,1970-01-01T00:00:00.001Z,user,ada,GET,notes,list,200,,0,2,1,1",
    ]);
    const [first] = svc(directory, ["usage", "export"]).stdout.split("\n");
    expect(JSON.parse(first!)).toMatchObject({ attempt_id: "a", requests: 3, unknown_reads: 1 });
  });

  it("is exported while the server runs, as NDJSON or CSV, from a time on", async () => {
    const directory = exampleProject();
    const url = await served(directory);
    const made = svc(directory, ["admin", "create-service-key", "--name", "k", "--scope", "project:backend"]);
    const headers = { Authorization: `Bearer ${made.stdout.trim().split("\n").at(-1)}` };
    const answer = (await (await fetch(`${url}/api/tags`, { headers })).json()) as {
      meta: { metering: { attempt_id: string; status: string } };
    };
    const { attempt_id, status } = answer.meta.metering;
    expect(status).toBe("recorded");
    const exported = svc(directory, ["usage", "export"]);
    expect(exported).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(exported.stdout)).toMatchObject({
      attempt_id,
      table: "tags",
      action: "list",
      rows_read: 0,
    });
    const [header, line, ...others] = svc(directory, ["usage", "export", "--format", "csv"]).stdout.trim().split("\n");
    expect(header).toMatch(/^attempt_id,at,principal_kind,/);
    expect(line).toMatch(new RegExp(`^${attempt_id},2.*,key,[0-9a-f]{32},GET,tags,list,200,0,0,0,1,0$`));
    expect(others).toEqual([]);
    expect(svc(directory, ["usage", "export", "--since", "2999-01-01"]).stdout).toBe("");
    expect(svc(directory, ["usage", "export", "--since", "2999-01-01T00:00:00.123456+00"]).stdout).toBe("");
    expect(svc(directory, ["usage", "export", "--since", "yesterday"]).status).toBe(2);
    expect(svc(directory, ["usage", "export", "--format", "xml"]).status).toBe(2);
    expect(svc(directory, ["usage", "recover"]).stdout).toBe("recovered 0 receipts; gaps: 0\n");
  });
});

describe("svc schema pull", () => {
  it("says on each line of standard error what is done with what it names", () => {
    const directory = mkdtempSync(join(tmpdir(), "svc-cli-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const from = join(directory, "old.db");
    const database = new Libsql(from);
    database.exec(`
      CREATE TABLE a (id INTEGER PRIMARY KEY, at DATETIME);
      INSERT INTO a VALUES (1, '2020-01-01');
      CREATE VIEW v AS SELECT id FROM a;
      CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT their_function(new.id); END;
    `);
    database.close();
    const { status, stdout, stderr } = svc(directory, ["schema", "pull", "--from", from]);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `wrote ${join(directory, "svc.schema.yaml")}\n`,
    });
    expect(stderr.trimEnd().split("\n")).toEqual([
      "note: left out: view v",
      "note: kept in the database alone: a: trigger t",
      "note: not every value is taken: a.at: DATETIME turns texts that read as numbers into numbers, so it takes none of them",
      expect.stringMatching(/^note: limited: a: can only be read here: no such function: their_function/),
    ]);
    const text = readFileSync(join(directory, "svc.schema.yaml"), "utf8");
    expect(text).toMatch(/^# Left out:\n# {3}view v\n/m);
    expect(text).toMatch(/^# Limited:\n# {3}a: can only be read here: /m);
  });
});
