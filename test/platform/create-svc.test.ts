import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createSvc, type Svc, SvcError } from "../../src/node/server/create-svc.js";
import { freePort } from "../support/free-port.js";

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
  expect(() => one.asKey([])).toThrow(SvcError);
  const scopes = ["resource:notes:read"];
  const kept = one.asKey(scopes).table("notes");
  scopes.push("resource:notes:write");
  await expect(kept.create({ owner_id: ada.id })).rejects.toMatchObject({ status: 403 });
  expect("auth" in one.asKey(["resource:notes:read"])).toBe(false);
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
  const options = { clientAddress: ({ headers }: Request) => headers.get("X-Client") ?? "192.0.2.1", environment };
  await expect(createSvc(directory, { ...options, console: "nowhere" })).rejects.toThrow(/host:port/);
  await expect(createSvc(directory, {} as never)).rejects.toThrow(/clientAddress/);
  const port = await freePort("127.0.0.1");
  const svc = await createSvc(directory, { ...options, console: `127.0.0.1:${port}` });
  onTestFinished(() => svc.close());
  expect((await svc.fetch(new Request(`${origin}/console`))).status).toBe(404);
  expect((await svc.fetch(new Request(`${origin}/admin/api/users`))).status).toBe(404);
  expect((await fetch(`http://127.0.0.1:${port}/admin/api/users`)).status).toBe(401);
});

describe("a client with the credentials of a request", () => {
  const host = "https://shop.example.com";
  const files = {
    "svc.toml": config.replace(
      "[log]",
      'cookie_mode = true\n[cors]\nallowed_origins = ["https://app.example.com"]\n[log]',
    ),
    "svc.schema.yaml": `$auth: { registration: public }\n${schema}`,
  };

  it("may do with a cookie what the routes would let its page do", async () => {
    const svc = await opened(projectDirectory(files));
    const answer = await svc.fetch(
      new Request(`${host}/auth/register`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Origin: host },
        body: JSON.stringify({ email: "ada@example.com", password: "correct horse battery" }),
      }),
    );
    const { data } = (await answer.json()) as { data: { user: { id: string } } };
    const Cookie = answer.headers
      .getSetCookie()
      .map((line) => line.split(";")[0])
      .join("; ");
    const made = (method: string, headers: Record<string, string>) =>
      svc
        .as(new Request(`${host}/functions/note`, { method, headers: { Cookie, ...headers } }))
        .table("notes")
        .create({ owner_id: data.user.id })
        .then(
          () => 201,
          ({ status }: SvcError) => status,
        );
    const routed = async (headers: Record<string, string>) => {
      const init = { method: "POST", headers: { Cookie, "Content-Type": "application/json", ...headers } };
      const body = JSON.stringify({ owner_id: data.user.id });
      return (await svc.fetch(new Request(`${host}/api/notes`, { ...init, body }))).status;
    };
    for (const [headers, status] of [
      [{ Origin: host }, 201],
      [{ Origin: "https://app.example.com" }, 201],
      [{ "Sec-Fetch-Site": "same-origin" }, 201],
      [{ Origin: "https://evil.example" }, 403],
      [{ Origin: "http://shop.example.com" }, 403],
      [{ "Sec-Fetch-Site": "cross-site" }, 403],
      [{}, 403],
    ] as const) {
      expect([headers, await routed(headers)]).toEqual([headers, status]);
      expect([headers, await made("POST", headers)]).toEqual([headers, status]);
    }
    // A page that another site leads to may be rendered with the caller's rows, and writes nothing.
    const navigation = new Request(`${host}/page`, { headers: { Cookie, "Sec-Fetch-Site": "cross-site" } });
    expect((await svc.as(navigation).table("notes").list()).length).toBeGreaterThan(0);
    expect(await made("GET", { "Sec-Fetch-Site": "cross-site" })).toBe(403);
  });

  it("is refused under another name than a loopback one while the development secret is in use", async () => {
    const secret = 'allow_insecure_dev_secret = true\ndev_secret = "a secret of the test suite, 32 bytes and more"';
    const directory = projectDirectory({
      "svc.toml": config.replace('jwt_secret_env = "SECRET"', secret),
      "svc.schema.yaml": `$auth: { registration: public }\n${schema}`,
    });
    const svc = await createSvc(directory, { clientAddress: () => "192.0.2.1", environment: {} });
    onTestFinished(() => svc.close());
    const ada = await register(svc, "ada@example.com");
    const notes = (url: string) => svc.as(new Request(url, { headers: ada.headers })).table("notes");
    expect(await notes(`${origin}/page`).list()).toEqual([]);
    await expect(notes(`${host}/page`).list()).rejects.toMatchObject({ status: 403 });
  });
});
