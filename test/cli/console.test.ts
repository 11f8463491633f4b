import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../support/free-port.js";
import { projectDirectory, svc } from "../support/project-directory.js";
import { servePatiently } from "../support/spawned-server.js";
import { cli } from "./svc.js";

const password = "correct horse battery";
const admin = ["admin", "create-user", "--email", "root@example.com", "--role", "admin", "--password-stdin"];
const schema = "notes: { columns: { id: { type: integer, primary_key: true } } }";

interface Started {
  readonly url: string;
  /** What standard error has, but for warnings and lines of requests, when the server has ended. */
  end(): Promise<readonly string[]>;
  /** The next line of standard error that has this in it. */
  line(part: string): Promise<string>;
}

async function start(directory: string, config = "", environment: Record<string, string> = {}): Promise<Started> {
  appendFileSync(`${directory}/svc.toml`, config);
  const server = spawn(process.execPath, [...servePatiently, cli, "serve", "--dir", directory, "--port", "0"], {
    env: { PATH: process.env.PATH, ...environment },
  });
  onTestFinished(() => void server.kill("SIGKILL"));
  const lines: string[] = [];
  const errors = createInterface(server.stderr);
  errors.on("line", (line) => lines.push(line));
  const ended = new Promise((resolve) => errors.once("close", resolve));
  const line = async (part: string): Promise<string> => {
    const found = lines.find((text) => text.includes(part));
    if (found !== undefined) return found;
    await new Promise((resolve) => errors.once("line", resolve));
    return line(part);
  };
  for await (const text of createInterface(server.stdout)) {
    const url = /^listening on (\S+)$/.exec(text)![1]!;
    const end = async () => {
      server.kill("SIGTERM");
      await ended;
      return lines.filter((text) => !/^(warning: |\S+ (info|warn) )/.test(text));
    };
    return { url, line, end };
  }
  throw new Error(`it did not start: ${lines.join("\n")}`);
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

describe("svc serve", () => {
  it("says where the console is, and by which link the first administrator is made", async () => {
    const server = await start(projectDirectory(schema));
    const link = (await server.line("#/setup/")).trim();
    const [page, token] = link.split("#/setup/") as [string, string];
    expect(page).toBe(`${server.url}/console`);
    const own = { Origin: server.url };
    const answer = await post(`${server.url}/admin/api/setup`, { token, email: "root@example.com", password }, own);
    expect(answer.status, await answer.clone().text()).toBe(201);
    const [cookie] = answer.headers.getSetCookie();
    const users = await fetch(`${server.url}/admin/api/users`, {
      headers: { ...own, Cookie: cookie!.split(";")[0]! },
    });
    const settings = await fetch(`${server.url}/admin/api/settings`, {
      headers: { ...own, Cookie: cookie!.split(";")[0]! },
    });
    expect(await settings.json()).toMatchObject({
      data: { settings: { server: { host: "127.0.0.1", port: 0 } } },
    });
    // A browser would have sent Sec-Fetch-Site for this, instead of Origin.
    expect([users.status, await users.json()]).toMatchObject([200, { data: [{ email: "root@example.com" }] }]);
    expect(await server.end()).toEqual([
      `console: ${server.url}/console`,
      "no administrator yet: this makes the first, once, within half an hour",
      `  ${link}`,
    ]);
  });

  it("has no link to print where there is an administrator, and none to make a second one", async () => {
    const directory = projectDirectory(schema);
    const first = await start(directory);
    const token = (await first.line("#/setup/")).split("#/setup/")[1]!;
    svc(directory, admin, `${password}\n`);
    const refused = await post(
      `${first.url}/admin/api/setup`,
      { token, email: "me@example.com", password },
      { Origin: first.url },
    );
    expect(refused.status).toBe(400);
    await first.end();
    const second = await start(directory);
    await second.line("console: ");
    expect(await second.end()).toEqual([`console: ${second.url}/console`]);
  });

  it("prints no link where others reach the server and nobody reads along, but names the command", async () => {
    const directory = projectDirectory(schema);
    const environment = { SVC_JWT_SECRET: "a secret of the fault tests, 32 bytes", HOST: "0.0.0.0" };
    const server = await start(directory, "", environment);
    await server.line("svc admin create-user");
    expect(await server.end()).toEqual([
      `console: ${server.url}/console`,
      "no administrator yet: svc admin create-user --email you@example.com --role admin --password-stdin makes one",
    ]);
    svc(directory, admin, `${password}\n`);
    const again = await start(directory, "", environment);
    await again.line("console: ");
    expect(await again.end()).toEqual([`console: ${again.url}/console`]);
  });

  it("says so in JSON where the log is JSON, and nothing where the console is off", async () => {
    const json = await start(projectDirectory(schema), '[log]\nformat = "json"\n');
    await json.line("#/setup/");
    const lines = (await json.end()).map((line) => JSON.parse(line) as { level: string; message: string });
    expect(lines.filter(({ level }) => level === "info").map(({ message }) => message)).toEqual([
      `console: ${json.url}/console`,
      expect.stringContaining(`${json.url}/console#/setup/`),
    ]);
    const off = await start(projectDirectory(schema), "[console]\nenabled = false\n");
    expect((await fetch(`${off.url}/console`)).status).toBe(404);
    expect(await off.end()).toEqual([]);
  });
});

describe("[console] listen", () => {
  it("has the console and /admin/api at an address of their own, and at no other", async () => {
    const directory = projectDirectory(schema);
    const port = await freePort("127.0.0.1");
    const server = await start(directory, `[console]\nlisten = "127.0.0.1:${port}"\n`);
    const own = `http://127.0.0.1:${port}`;
    expect((await server.line("console: ")).trim()).toBe(`console: ${own}/console`);
    const token = (await server.line("#/setup/")).split("#/setup/")[1]!;
    const first = { token, email: "root@example.com", password };
    for (const origin of [server.url, own])
      expect((await post(`${server.url}/admin/api/setup`, first, { Origin: origin })).status).toBe(404);
    expect((await post(`${own}/admin/api/setup`, first, { Origin: server.url })).status).toBe(403);
    const made = await post(`${own}/admin/api/setup`, first, { Origin: own });
    expect(made.status).toBe(201);
    const cookie = { Cookie: made.headers.getSetCookie()[0]!.split(";")[0]!, Origin: own };
    const login = await post(`${server.url}/auth/login`, first);
    const { data } = (await login.json()) as { data: { access_token: string } };
    const bearer = { Authorization: `Bearer ${data.access_token}` };
    const statuses = async (url: string, headers: Record<string, string>) =>
      Promise.all(
        ["/console", "/console/", "/admin/api/session", "/admin/api/users", "/health", "/auth/me", "/api/notes"].map(
          async (path) => (await fetch(url + path, { headers, redirect: "manual" })).status,
        ),
      );
    const page = (await fetch(`${own}/console`)).status;
    expect(await statuses(server.url, bearer)).toEqual([404, 404, 404, 404, 200, 200, 403]);
    expect(await statuses(own, bearer)).toEqual([page, 307, 401, 200, 404, 404, 404]);
    expect(await statuses(own, cookie)).toEqual([page, 307, 200, 200, 404, 404, 404]);
    await server.end();
  });

  it("is no other machine's with the secret for development, and nothing listens then", () => {
    const directory = projectDirectory(schema);
    appendFileSync(`${directory}/svc.toml`, '[console]\nlisten = "0.0.0.0:8790"\n');
    const failed = spawn(process.execPath, [cli, "serve", "--dir", directory, "--port", "0"]);
    let errors = "";
    failed.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    return new Promise<void>((resolve) =>
      failed.once("close", (code) => {
        expect([code, errors]).toEqual([2, expect.stringContaining("not 0.0.0.0")]);
        resolve();
      }),
    );
  });

  it("that is taken already ends the start", async () => {
    const directory = projectDirectory(schema);
    const other = await start(projectDirectory(schema));
    appendFileSync(`${directory}/svc.toml`, `[console]\nlisten = "${new URL(other.url).host}"\n`);
    const failed = spawn(process.execPath, [cli, "serve", "--dir", directory, "--port", "0"]);
    const code = await new Promise((resolve) => failed.once("close", resolve));
    expect(code).toBe(1);
    await other.end();
  });
});
