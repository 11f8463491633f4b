import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { createClient } from "../../src/client/index.js";
import { spawnServer } from "../support/spawned-server.js";
import { svc } from "./svc.js";

const secret = 'allow_insecure_dev_secret = true\ndev_secret = "a secret of the test suite, 32 bytes and more"';
const config = `[auth]\n${secret}\n[log]\nlevel = "warn"\n[rules.notes]\nread = "public"\ncreate = "public"\n`;
const schema = `notes:
  history: 7d
  columns:
    id: { type: integer, primary_key: true }
    body: { type: text }
`;

async function served(...options: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), "svc-reload-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const write = (files: { config?: string; schema?: string }) => {
    if (files.config !== undefined) writeFileSync(join(directory, "svc.toml"), files.config);
    if (files.schema !== undefined) writeFileSync(join(directory, "svc.schema.yaml"), files.schema);
  };
  write({ config, schema });
  const root = ["admin", "create-user", "--email", "root@example.com", "--role", "admin", "--password-stdin"];
  expect(svc([...root, "--dir", directory], "correct horse battery\n").status).toBe(0);
  const server = await spawnServer(directory, "pipe", undefined, undefined, options);
  onTestFinished(async () => {
    expect(await server.end("SIGTERM")).toBe(0);
  });
  const lines: string[] = [];
  createInterface(server.process.stderr!).on("line", (line) => lines.push(line));
  const admin = createClient({ url: server.url });
  await admin.auth.login({ email: "root@example.com", password: "correct horse battery" });
  const login = await fetch(`${server.url}/auth/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: "root@example.com", password: "correct horse battery" }),
  });
  const { data } = (await login.json()) as { data: { access_token: string } };
  const reload = async (body?: object) => {
    const response = await fetch(`${server.url}/admin/api/reload`, {
      method: "POST",
      headers: { Authorization: `Bearer ${data.access_token}`, "Content-Type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  };
  const list = async (query = "") => {
    const response = await fetch(`${server.url}/api/notes${query}`);
    return { status: response.status, body: (await response.json()) as { data: object[] } };
  };
  return { directory, write, server, lines, reload, list };
}

it("POST /admin/api/reload takes rules, schema and settings over, or nothing", async () => {
  const { write, reload, list, server } = await served();
  expect(await reload()).toMatchObject({
    status: 200,
    body: { data: { applied: false, restart: [], steps: [], waits: [] } },
  });
  write({ schema: `${schema}    done: { type: boolean }\n`, config: config.replace("public", "row.done = true") });

  const rehearsed = await reload({ dry_run: true });
  expect(rehearsed).toMatchObject({
    status: 200,
    body: { data: { applied: true, steps: [{ kind: "add_column", safe: true }], waits: [] } },
  });
  expect((await list("?select=done")).status).toBe(400);
  expect(await reload()).toMatchObject({
    status: 200,
    body: { data: { applied: true, steps: [{ kind: "add_column" }] } },
  });
  expect(await list("?select=id,done")).toMatchObject({ status: 200, body: { data: [] } });

  write({ config: `${config.replace("public", "row.nothing = 1")}[api]\ndeadline_ms = 1\n` });
  expect(await reload()).toMatchObject({
    status: 400,
    body: { error: { code: "bad_request", problems: [{ file: "svc.toml", line: 7, path: "rules.notes.read" }, {}] } },
  });
  write({ config: `${config}[server]\nport = 9999\n[database]\nurl = "file:other.db"\n` });
  expect(await reload()).toMatchObject({
    status: 400,
    body: {
      error: {
        problems: [
          { file: "svc.toml", line: 10, path: "server.port", message: "needs a restart" },
          { file: "svc.toml", line: 12, path: "database.url", message: "needs a restart" },
        ],
      },
    },
  });
  expect(await list()).toMatchObject({ status: 200, body: { data: [] } });

  // What would lose something waits, and the rules that fit the schema in force are taken.
  write({ config: config.replace('read = "public"', 'read = "row.id < 0"'), schema });
  expect(await reload()).toMatchObject({
    status: 200,
    body: { data: { applied: true, steps: [], waits: [{ kind: "drop_column", safe: false }] } },
  });
  const created = await fetch(`${server.url}/api/notes`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ body: "x", done: true }),
  });
  expect(created.status).toBe(201);
  expect((await list()).body.data).toEqual([]);
  expect(await reload({ dry: true })).toMatchObject({ status: 400 });
  expect(await reload({ dry_run: 1 })).toMatchObject({ status: 400 });
});

it("takes rules over that another process has replaced by those of an earlier file", async () => {
  const { write, reload, list, directory } = await served();
  const closed = config
    .replace('read = "public"', 'read = "deny"')
    .replace("[log]", "[schema]\nauto_apply = false\n[log]");
  write({ config: closed });
  expect(await reload()).toMatchObject({ body: { data: { applied: true } } });
  expect((await list()).status).toBe(401);
  // The apply of a schema takes the rules of the file along.
  write({ config: closed.replace("deny", "public"), schema: `${schema}    done: { type: boolean }\n` });
  expect(svc(["schema", "apply", "--dir", directory]).status).toBe(0);
  await expect.poll(async () => (await list()).status).toBe(200);
  write({ config: closed });
  expect(await reload()).toMatchObject({ body: { data: { applied: true } } });
  expect((await list()).status).toBe(401);
});

it("does not hold up the end of the server, however often it is asked for", async () => {
  const { reload, write, server } = await served();
  write({ schema: schema.replace("body:", "title:"), config: `${config}# changed\n` });
  const asked = Array.from({ length: 30 }, () => reload());
  await asked[0];
  const beganMs = performance.now();
  expect(await server.end("SIGTERM")).toBe(0);
  expect(performance.now() - beganMs).toBeLessThan(60_000);
  for (const { status } of await Promise.all(asked)) expect([200, 400]).toContain(status);
});

it("is for administrators alone", async () => {
  const { server } = await served();
  const response = await fetch(`${server.url}/admin/api/reload`, { method: "POST" });
  expect(response.status).toBe(401);
});

it("SIGHUP takes the files over, and streams go on", async () => {
  const { write, server, lines, list } = await served();
  const client = createClient({ url: server.url });
  await client.table("notes").create({ body: "one" });
  const shown: string[] = [];
  const stop = client.table("notes").live({}, (rows) => void shown.push(rows.map(({ body }) => body).join()));
  onTestFinished(stop);
  await expect.poll(() => shown.at(-1)).toBe("one");

  write({ config: config.replace('read = "public"', `read = "row.body = 'two'"`) });
  server.process.kill("SIGHUP");
  await expect.poll(() => lines).toContain("the files are taken over");
  await expect.poll(() => shown.at(-1)).toBe("");
  await client.table("notes").create({ body: "two" });
  await expect.poll(() => shown.at(-1)).toBe("two");

  write({ config: "[rules.notes\n" });
  server.process.kill("SIGHUP");
  await expect.poll(() => lines.some((line) => line.startsWith("svc.toml:1: "))).toBe(true);
  await expect.poll(() => lines).toContain("nothing is taken over: the server goes on as it was");
  expect((await list()).body.data).toMatchObject([{ body: "two" }]);
});

it("--watch takes both files over as one change", async () => {
  const { write, lines, list, directory } = await served("--watch");
  write({ schema: schema.replace("body:", "title:"), config });
  await expect
    .poll(() => lines.some((line) => line.includes("wait for `svc schema apply --allow-destructive`")))
    .toBe(true);
  expect((await list("?select=body")).status).toBe(200);
  write({ schema: `${schema}tags:\n  columns:\n    name: { type: text, primary_key: true }\n` });
  write({ config: `${config}[rules.tags]\nread = "public"\n` });
  await expect.poll(() => lines).toContain("the files are taken over");
  expect(lines.filter((line) => line === "the files are taken over")).toHaveLength(1);
  expect(readFileSync(join(directory, "svc.toml"), "utf8")).toContain("rules.tags");
});
