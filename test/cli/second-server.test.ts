import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { projectDirectory, svc } from "../support/project-directory.js";
import { builtCommand, type SpawnedServer, spawnServer } from "../support/spawned-server.js";

const schema = "notes: { columns: { id: { type: integer, primary_key: true }, body: { type: text } } }\n";

/** A server on the project, ended with the test. */
async function served(directory: string): Promise<SpawnedServer> {
  const server = await spawnServer(directory, "pipe");
  onTestFinished(async () => void (await server.end("SIGKILL")));
  return server;
}

function refusal(directory: string) {
  const args = [builtCommand, "serve", "--dir", directory, "--port", "0"];
  return spawnSync(process.execPath, args, { encoding: "utf8", timeout: 600_000 });
}

/** The first line of its standard error that says so. */
async function said(server: SpawnedServer, text: string): Promise<string> {
  for await (const line of createInterface(server.process.stderr!)) if (line.includes(text)) return line;
  throw new Error(`the server ended without saying ${text}`);
}

it("is refused while another one has the database, and not once that one has ended, however it did", async () => {
  const directory = projectDirectory(schema);
  const first = await served(directory);
  const { status, stderr, stdout } = refusal(directory);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("another server has ");
  expect(stderr).toContain("second = true under [server] in svc.toml lets this one run beside it");
  await first.end("SIGKILL");
  const next = await served(directory);
  expect(await next.end("SIGTERM")).toBe(0);
});

it("with server.second runs beside it, loses nothing, and takes over once it is gone", async () => {
  const directory = projectDirectory(schema);
  appendFileSync(join(directory, "svc.toml"), "server = { second = true }\n");
  svc(directory, ["schema", "apply"]);
  const key = svc(directory, ["admin", "create-service-key", "--name", "t", "--scope", "project:backend"]);
  const headers = {
    Authorization: `Bearer ${key.trim().split("\n").at(-1)}`,
    "Content-Type": "application/json",
  };
  const add = async ({ url }: SpawnedServer, count: number) => {
    for (let i = 0; i < count; i++) {
      const answer = await fetch(`${url}/api/notes`, { method: "POST", headers, body: '{"body":"a note"}' });
      expect(answer.status).toBe(201);
    }
  };
  const total = async ({ url }: SpawnedServer) => {
    const { meta } = (await (await fetch(`${url}/api/notes?limit=1`, { headers })).json()) as {
      meta: { total: number };
    };
    return meta.total;
  };
  const first = await served(directory);
  const second = await served(directory);
  const takesOver = said(second, "this one checkpoints from now on");
  await Promise.all([add(first, 50), add(second, 50)]);
  expect([await total(first), await total(second)]).toEqual([100, 100]);
  await first.end("SIGKILL");
  await takesOver;
  await add(second, 10);
  // The lock is the second one's now, and is given up with it.
  const third = await served(directory);
  expect(await total(third)).toBe(110);
  expect(await second.end("SIGTERM")).toBe(0);
  await said(third, "this one checkpoints from now on");
  expect(await third.end("SIGTERM")).toBe(0);
  // The last one has moved the log into the database.
  expect(existsSync(join(directory, ".svc/data.db-wal"))).toBe(false);
  expect(await total(await served(directory))).toBe(110);
});
