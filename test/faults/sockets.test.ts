import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { figure } from "../support/figures.js";
import { spawnServer } from "../support/spawned-server.js";

async function start(): Promise<URL> {
  const directory = mkdtempSync(join(tmpdir(), "svc-sockets-"));
  for (const file of ["svc.toml", "svc.schema.yaml"]) cpSync(file, join(directory, file));
  const { url, end } = await spawnServer(directory);
  onTestFinished(async () => {
    await end("SIGKILL");
    rmSync(directory, { recursive: true });
  });
  return new URL(url);
}

async function open({ hostname, port }: URL, text: string): Promise<Socket> {
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write(text);
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** The first bytes of what the server answers. */
async function statusLine(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, "data")) as [Buffer];
  return chunk.toString().split("\r\n")[0]!;
}

const register = (url: URL, i: number) =>
  fetch(new URL("/auth/register", url), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: `user${i}@example.com`, password: "correct horse" }),
  });

it("500 sockets that say something and stop keep nobody else waiting, and are answered once they go on", async () => {
  const url = await start();
  const body = JSON.stringify({ email: "slow@example.com", password: "correct horse" });
  const beginnings = [
    "",
    "GET /api/tags HT",
    `GET /api/tags HTTP/1.1\r\nHost: ${url.host}\r\n`,
    `POST /auth/login HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n{`,
    `POST /auth/login HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
  ];
  const sockets = await Promise.all(Array.from({ length: 500 }, (_, i) => open(url, beginnings[i % 5]!)));
  const began = performance.now();
  const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(new URL("/api/tags", url))));
  const took = performance.now() - began;
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await register(url, 0)).status).toBe(201);
  const ends = [
    `GET /api/tags HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`,
    `TP/1.1\r\nHost: ${url.host}\r\n\r\n`,
    "\r\n",
    body.slice(1),
    `${(body.length - 1).toString(16)}\r\n${body.slice(1)}\r\n0\r\n\r\n`,
  ];
  const lines = sockets.slice(0, 10).map(async (socket, i) => {
    const line = statusLine(socket);
    socket.write(ends[i % 5]!);
    return line;
  });
  const [ok, wrong] = ["HTTP/1.1 200 OK", "HTTP/1.1 401 Unauthorized"];
  expect(await Promise.all(lines)).toEqual([ok, ok, ok, wrong, wrong, ok, ok, ok, wrong, wrong]);
  figure(
    "strength",
    "500 slow sockets",
    `50 lists meanwhile took ${took.toFixed(0)} ms; ten of the sockets then finished and got their responses`,
  );
});

it("a body that is too large, declared or not, is refused before it has arrived", async () => {
  const url = await start();
  const head = `POST /auth/register HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\n`;
  const declared = await open(url, `${head}Content-Length: 100000000\r\n\r\n{`);
  expect(await statusLine(declared)).toBe("HTTP/1.1 413 Payload Too Large");
  const chunked = await open(url, `${head}Transfer-Encoding: chunked\r\n\r\n`);
  chunked.on("error", () => {});
  const line = statusLine(chunked);
  const chunk = `4000\r\n${" ".repeat(0x4000)}\r\n`;
  for (let i = 0; i < 100 && !chunked.destroyed; i++) chunked.write(chunk);
  expect(await line).toBe("HTTP/1.1 413 Payload Too Large");
  expect((await fetch(new URL("/health", url))).status).toBe(200);
});

/** 64 with `npm run test:faults`. */
const loginCount = Number(process.env.LOGINS ?? 16);

it(`${loginCount} logins at once are answered, if some of them only with when to come back`, async () => {
  const url = await start();
  const made = await Promise.all(Array.from({ length: 8 }, (_, i) => register(url, i)));
  expect(made.map(({ status }) => status)).toEqual(Array(8).fill(201));
  const login = (i: number) =>
    fetch(new URL("/auth/login", url), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: `user${i % 8}@example.com`, password: "correct horse" }),
    });
  const began = performance.now();
  const logins = await Promise.all(Array.from({ length: loginCount }, (_, i) => login(i)));
  const took = performance.now() - began;
  const statuses = logins.map(({ status }) => status);
  // So many from one address are an attack until they turn out to be right.
  const later = logins.filter(({ status }) => status === 429 || status === 503);
  expect(statuses.filter((status) => status !== 200).length).toBe(later.length);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(loginCount / 2);
  for (const { status, headers } of later) if (status === 429) expect(headers.get("Retry-After")).toMatch(/^\d+$/);
  const refused = `${later.length} of them refused for now`;
  figure("strength", `${loginCount} logins at once`, `all responses within ${took.toFixed(0)} ms, ${refused}`);
});
