import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { projectDirectory } from "../support/project-directory.js";
import { spawnServer } from "../support/spawned-server.js";

const warning =
  "warning: X-Forwarded-For comes from 127.0.0.1, and server.trust_proxy is false: if a proxy of yours sends it, set that to true, or all clients count as one address";

it("a server that seems to stand behind a proxy, and does not trust it, says so once", async () => {
  const directory = projectDirectory("notes: { columns: { id: { type: integer, primary_key: true } } }");
  const { url, process, end } = await spawnServer(directory, "pipe");
  onTestFinished(async () => {
    await end("SIGKILL");
  });
  const lines: string[] = [];
  const reader = createInterface(process.stderr!).on("line", (line) => lines.push(line));
  const ask = (headers: Record<string, string>) =>
    fetch(`${url}/auth/login`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ email: "ada@example.com", password: "correct horse" }),
    });
  expect((await ask({})).status).toBe(401);
  expect((await ask({ "X-Forwarded-For": "203.0.113.1" })).status).toBe(401);
  expect((await ask({ "X-Forwarded-For": "203.0.113.2" })).status).toBe(401);
  const read = once(reader, "close");
  await end("SIGTERM");
  await read;
  expect(lines.filter((line) => line.includes("X-Forwarded-For"))).toEqual([warning]);
});
