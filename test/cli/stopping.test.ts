import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import Database from "libsql";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { drainMs } from "../../src/node/server/listening.js";
import { patiently } from "../support/patience.js";
import { servePatiently } from "../support/spawned-server.js";
import { continueProcess, stopProcess } from "../support/stopped-process.js";
import { cli, svc } from "./svc.js";

/** So many starts that a signal which comes too early for its handler is met. */
const rounds = Number(process.env.ROUNDS ?? 2);

function exampleProject(): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-stopping-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const file of ["svc.toml", "svc.schema.yaml"]) cpSync(file, join(directory, file));
  return directory;
}

/** Requests leave no line in the log. */
function addSettings(directory: string, settings: string): void {
  const config = readFileSync("svc.toml", "utf8");
  writeFileSync(join(directory, "svc.toml"), `${config}\n[log]\nformat = "off"\n${settings}`);
}

/** A project that is served over TLS. */
function tlsProject(): string {
  const directory = exampleProject();
  for (const part of ["cert", "key"]) cpSync(`test/data/localhost-${part}.pem`, join(directory, `${part}.pem`));
  addSettings(directory, '[server]\ntls_cert = "cert.pem"\ntls_key = "key.pem"\n');
  return directory;
}

/** A server whose stop waits for ten minutes where it would wait for `drainMs`: whatever else ends it comes first. */
const stopPatiently = `data:text/javascript,${encodeURIComponent(`
  const real = globalThis.setTimeout;
  globalThis.setTimeout = (act, ms, ...rest) => real(act, ms === ${drainMs} ? 600_000 : ms, ...rest);
`)}`;

function start(directory: string): ChildProcess {
  const options = [...servePatiently, "--import", stopPatiently];
  const server = spawn(process.execPath, [...options, cli, "serve", "--dir", directory, "--port", "0"]);
  onTestFinished(() => void server.kill("SIGKILL"));
  return server;
}

/** The port of a server, once it listens. */
async function portOf(server: ChildProcess): Promise<number> {
  const [line] = (await once(server.stdout!, "data")) as [Buffer];
  return Number(new URL(String(line).replace("listening on ", "")).port);
}

/** A socket once it is connected. That it is reset later is no error of the test. */
async function connected<S extends Socket>(socket: S, event = "connect"): Promise<S> {
  onTestFinished(() => void socket.destroy());
  await once(socket, event);
  return socket.on("error", () => {});
}

/** What a start says that is no error. */
const said = /^warning: the development secret.*\n|^console: .*\n(no administrator .*\n {2}.*\n)?/gm;

/** Once it has ended, and nobody holds its output any more. */
async function ended(server: ChildProcess) {
  const errors = text(server.stderr!);
  const [code, signal] = await once(server, "close");
  return { code, signal, errors: (await errors).replaceAll(said, "") };
}

/** What a process leaves behind that was not given the time to end. */
function leftBy(directory: string): readonly string[] {
  const journals = join(directory, ".svc/usage");
  const logs = ["data.db-wal", "data.db-shm"].filter((name) => existsSync(join(directory, ".svc", name)));
  return [...logs, ...(existsSync(journals) ? readdirSync(journals) : [])];
}

describe("a server", () => {
  it.each([
    ["SIGTERM", rounds],
    ["SIGINT", 1],
  ] as const)("that gets %s as soon as it says that it listens ends in order", async (signal, rounds) => {
    const directory = exampleProject();
    for (let round = 0; round < rounds; round++) {
      const server = start(directory);
      server.stdout!.once("data", () => server.kill(signal));
      expect(await ended(server)).toEqual({ code: 0, signal: null, errors: "" });
      expect(leftBy(directory)).toEqual([]);
    }
  });

  it("says bye to those who follow its changes, and ends in order", async () => {
    const directory = exampleProject();
    writeFileSync(
      join(directory, "svc.schema.yaml"),
      "notes: { history: 1d, columns: { id: { type: integer, primary_key: true } } }",
    );
    writeFileSync(
      join(directory, "svc.toml"),
      '[auth]\nallow_insecure_dev_secret = true\ndev_secret = "a secret of the tests, 32 bytes and more"\n[log]\nformat = "off"\n[rules.notes]\nread = "public"\n',
    );
    const server = start(directory);
    const [line] = (await once(server.stdout!, "data")) as [Buffer];
    const url = String(line).replace("listening on ", "").trim();
    const asked = { tables: { notes: {} } };
    const streams = Array.from({ length: 3 }, async () => {
      const stream = await fetch(`${url}/api/_svc/live?q=${encodeURIComponent(JSON.stringify(asked))}`);
      return { stream, events: stream.text() };
    });
    const opened = await Promise.all(streams);
    expect(opened.map(({ stream }) => stream.status)).toEqual([200, 200, 200]);
    server.kill("SIGTERM");
    for (const { events } of opened)
      expect((await events).split("\n\n").at(-2)).toBe('event: bye\ndata: {"reason":"shutdown"}');
    expect(await ended(server)).toEqual({ code: 0, signal: null, errors: "" });
    expect(leftBy(directory)).toEqual([]);
  });

  it("answers long reads that would last longer than its stop may, and ends in order", async () => {
    const server = await startWithLongReads();
    const [line] = (await once(server.stdout!, "data")) as [Buffer];
    const url = String(line).replace("listening on ", "").trim();
    const reads = Array.from({ length: 3 }, () => fetch(`${url}/api/things?limit=1`));
    // Others have their turn meanwhile, with a long read too, for which there is a thread.
    const signedUp = await fetch(`${url}/auth/register`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: "ada@example.com", password: "correct horse" }),
    });
    const { data } = (await signedUp.json()) as { data: { access_token: string } };
    // From another address: those of one address have two places together.
    const headers = { Authorization: `Bearer ${data.access_token}`, "X-Forwarded-For": "192.0.2.1" };
    expect((await fetch(`${url}/api/others?sort=other&limit=500`, { headers })).status).toBe(200);
    // As npm passes on what the terminal has sent already. It gets both at once, as it may within a second.
    await stopProcess(server.pid!);
    server.kill("SIGINT");
    server.kill("SIGTERM");
    await continueProcess(server.pid!);
    for (const read of reads) expect((await read).status).toBe(503);
    const { code, signal, errors } = await ended(server);
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(errors).not.toMatch(/error:/);
  });

  it("keeps no connection on which nothing was asked, and ends in order", async () => {
    const server = start(exampleProject());
    const port = await portOf(server);
    const sockets = await Promise.all(Array.from({ length: 3 }, () => connected(connect(port, "127.0.0.1"))));
    const closed = sockets.map((socket) => once(socket, "close"));
    server.kill("SIGTERM");
    await Promise.all(closed);
    expect(await ended(server)).toEqual({ code: 0, signal: null, errors: "" });
  });

  it("takes a TLS handshake for no request", async () => {
    const server = start(tlsProject());
    const port = await portOf(server);
    const raw = () => connected(connect(port, "127.0.0.1"));
    const secure = () => connected(connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false }), "secureConnect");
    const [silent, begun, shaken, idle] = await Promise.all([raw(), raw(), secure(), secure()]);
    // The server has read the beginning of a handshake once it has answered what came later.
    await new Promise((written) => begun.write(Buffer.from([22, 3, 1]), written));
    idle.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(idle, "data");
    const closed = [silent, begun, shaken, idle].map((socket) => once(socket.resume(), "close"));
    server.kill("SIGTERM");
    await Promise.all(closed);
    expect(await ended(server)).toEqual({ code: 0, signal: null, errors: "" });
  });

  it("answers what the system has taken for it before the signal", async () => {
    const directory = exampleProject();
    addSettings(directory, "");
    const server = start(directory);
    const port = await portOf(server);
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
    const known = await connected(connect(port, "127.0.0.1"));
    known.write(get("/health"));
    await once(known, "data");
    await stopProcess(server.pid!);
    const fresh = await Promise.all(Array.from({ length: 20 }, () => connected(connect(port, "127.0.0.1"))));
    const answers = [known, ...fresh].map(async (socket) => {
      await new Promise((written) => socket.write(get("/health"), written));
      return text(socket);
    });
    server.kill("SIGTERM");
    server.kill("SIGCONT");
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 .*\{"status":"ok"\}$/s);
    expect(await ended(server)).toEqual({ code: 0, signal: null, errors: "" });
  });

  it("ends at once at a second signal", async () => {
    const server = start(exampleProject());
    const [line] = (await once(server.stdout!, "data")) as [Buffer];
    const { port } = new URL(String(line).replace("listening on ", ""));
    // A request whose body never comes keeps an orderly stop waiting.
    const waiting = fetch(`http://127.0.0.1:${port}/auth/login`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode("{")) }),
      duplex: "half",
    } as RequestInit).catch(() => "ended");
    await fetch(`http://127.0.0.1:${port}/health`);
    server.kill("SIGTERM");
    server.once("exit", () => clearInterval(again));
    const again = setInterval(() => server.kill("SIGINT"), 50);
    expect((await ended(server)).signal).toBe("SIGINT");
    expect(await waiting).toBe("ended");
  });
});

/** A server with a table whose rule, which no index serves, looks at 1.6 thousand million rows for a list of it. */
async function startWithLongReads(): Promise<ChildProcess> {
  const directory = mkdtempSync(join(tmpdir(), "svc-stopping-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const columns = "{ columns: { id: { type: integer, primary_key: true }, other: { type: integer } } }";
  writeFileSync(join(directory, "svc.schema.yaml"), `things: ${columns}\nothers: ${columns}\n`);
  writeFileSync(
    join(directory, "svc.toml"),
    `[server]
trust_proxy = true
[auth]
allow_insecure_dev_secret = true
dev_secret = "an insecure secret for development only"
[api]
deadline_ms = 600000
[rules.things]
read = "exists(others o where o.other = row.other)"
[rules.others]
read = "auth.id is not null"
`,
  );
  svc(["schema", "apply", "--dir", directory]);
  const database = new Database(join(directory, ".svc/data.db"));
  for (const [table, other] of [
    ["things", "1"],
    ["others", "2"],
  ])
    database.exec(`INSERT INTO ${table} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
      SELECT i, ${other} FROM n`);
  database.close();
  return start(directory);
}

describe("npm run svc", () => {
  it("takes its server with it when it is ended", async () => {
    const checkout = mkdtempSync(join(tmpdir(), "svc-stopping-"));
    onTestFinished(() => rmSync(checkout, { recursive: true, force: true }));
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
    // A build would change what other tests are running.
    writeFileSync(join(checkout, "package.json"), JSON.stringify({ scripts: { ...scripts, build: "true" } }));
    symlinkSync(resolve("dist"), join(checkout, "dist"));
    const args = ["run", "--silent", "svc", "--", "serve", "--dir", exampleProject(), "--port", "0"];
    const npm = spawn("npm", args, { cwd: checkout, detached: true });
    onTestFinished(() => {
      try {
        process.kill(-npm.pid!, "SIGKILL");
      } catch {
        // Nobody is left.
      }
    });
    await once(npm.stdout, "data");
    npm.kill("SIGTERM");
    // Its output is closed once whoever could write it has gone, and is still to be waited for by its parent.
    await once(npm, "close");
    await vi.waitFor(() => expect(() => process.kill(-npm.pid!, 0)).toThrow("ESRCH"), patiently);
  });
});
