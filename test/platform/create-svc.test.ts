import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { createSvc, type Svc, SvcError } from "../../src/node/server/create-svc.js";

const schema = `notes:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text, not_null: true, references: { table: $users } }
    body: { type: text }
`;
const config = `[auth]
jwt_secret_env = "SECRET"
[log]
format = "off"
[rules.notes]
read = "row.owner_id = auth.id"
create = "new.owner_id = auth.id"
`;
const environment = { SECRET: "a secret of the test suite, 32 bytes and more" };

function projectDirectory(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-host-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

const project = () =>
  projectDirectory({ "svc.toml": config, "svc.schema.yaml": `$auth: { registration: public }\n${schema}` });

async function opened(directory: string): Promise<Svc> {
  const svc = await createSvc(directory, { clientAddress: () => "192.0.2.1", environment });
  onTestFinished(() => svc.close());
  return svc;
}

const origin = "http://127.0.0.1:8787";

async function register(svc: Svc, email: string) {
  const answer = await svc.fetch(
    new Request(`${origin}/auth/register`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email, password: "correct horse battery" }),
    }),
  );
  expect(answer.status).toBe(201);
  const { data } = (await answer.json()) as { data: { access_token: string; user: { id: string } } };
  return { id: data.user.id, headers: { Authorization: `Bearer ${data.access_token}` } };
}

it("two projects in one process have rows, users and keys of their own", async () => {
  const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
  const before = listeners();
  const output = vi.spyOn(process.stdout, "write");
  const [one, other] = [await opened(project()), await opened(project())];
  const ada = await register(one, "ada@example.com");
  const request = new Request(`${origin}/page`, { headers: ada.headers });
  await one.as(request).table("notes").create({ owner_id: ada.id, body: "hello" });
  expect(await one.as(request).table("notes").list()).toMatchObject([{ body: "hello" }]);
  await expect(other.as(request).table("notes").list()).rejects.toMatchObject({ status: 401 });
  await expect(one.as(new Request(origin)).table("notes").create({ body: "x" })).rejects.toThrow(SvcError);
  const reader = one.asKey(["resource:notes:read"]).table("notes");
  expect(await reader.list()).toHaveLength(1);
  await expect(reader.create({ owner_id: ada.id })).rejects.toMatchObject({ status: 403, code: "forbidden" });
  expect(await other.asKey(["resource:notes:read"]).table("notes").list()).toEqual([]);
  expect(() => one.asKey(["resource:notes"])).toThrow(SvcError);
  expect(() => one.asKey(["*"])).toThrow(SvcError);
  await one.upkeep();
  expect(listeners()).toEqual(before);
  expect(output).not.toHaveBeenCalled();
});

it("frees the database when it closes, also if that is called twice, and answers 503 from then on", async () => {
  const directory = project();
  const svc = await opened(directory);
  await expect(createSvc(directory, { clientAddress: () => "192.0.2.1", environment })).rejects.toThrow(/server/);
  await Promise.all([svc.close(), svc.close()]);
  expect((await svc.fetch(new Request(`${origin}/health`))).status).toBe(503);
  const again = await opened(directory);
  expect((await again.fetch(new Request(`${origin}/health`))).status).toBe(200);
});

it("ends streams with bye when it closes", async () => {
  const files = {
    "svc.toml": config.replace('read = "row.owner_id = auth.id"', 'read = "public"'),
    "svc.schema.yaml": schema.replace("notes:\n", "notes:\n  history: 7d\n"),
  };
  const svc = await opened(projectDirectory(files));
  const q = encodeURIComponent(JSON.stringify({ tables: { notes: {} } }));
  const answer = await svc.fetch(new Request(`${origin}/api/_svc/live?q=${q}`));
  expect(answer.status).toBe(200);
  const pieces = answer.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  expect((await pieces.next()).value).toMatch(/^event: change/);
  const last = pieces.next();
  await svc.close();
  expect((await last).value).toBe('event: bye\ndata: {"reason":"shutdown"}\n\n');
});

it("rejects with every problem of the project, and leaves nothing open", async () => {
  const broken = projectDirectory({ "svc.toml": "[server]\nport = 70000\nhots = 1\n", "svc.schema.yaml": schema });
  const failure = await createSvc(broken, { clientAddress: () => "192.0.2.1", environment }).catch(String);
  expect(failure).toMatch(/svc\.toml:2: server\.port.*\n.*svc\.toml:3: server\.hots/);
  const directory = project();
  const withoutSecret = createSvc(directory, { clientAddress: () => "192.0.2.1", environment: {} });
  await expect(withoutSecret).rejects.toThrow(/SECRET/);
  await opened(directory);
});

it("serves a console at an address of its own alone", async () => {
  const directory = project();
  const options = { clientAddress: () => "192.0.2.1", environment };
  await expect(createSvc(directory, { ...options, console: "nowhere" })).rejects.toThrow(/host:port/);
  const svc = await createSvc(directory, { ...options, console: "127.0.0.1:0" });
  onTestFinished(() => svc.close());
  expect((await svc.fetch(new Request(`${origin}/console`))).status).toBe(404);
  expect((await svc.fetch(new Request(`${origin}/admin/api/users`))).status).toBe(404);
});
