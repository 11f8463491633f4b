import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { servePatiently } from "../support/spawned-server.js";
import { cli } from "./svc.js";

/** Serves, sends the requests, stops, and gives what the process has written. */
async function outputOf(log: string, ask: (url: string) => Promise<unknown>) {
  const directory = mkdtempSync(join(tmpdir(), "svc-log-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const secret = "only for development, 32 bytes and more";
  writeFileSync(join(directory, "svc.schema.yaml"), "{}");
  writeFileSync(
    join(directory, "svc.toml"),
    `[auth]\nallow_insecure_dev_secret = true\ndev_secret = "${secret}"\n[console]\nenabled = false\n[log]\n${log}`,
  );
  const server = spawn(process.execPath, [...servePatiently, cli, "serve", "--dir", directory, "--port", "0"]);
  onTestFinished(() => void server.kill("SIGKILL"));
  const errors = text(server.stderr);
  let output = "";
  for await (const chunk of server.stdout.setEncoding("utf8")) {
    output += chunk;
    if (!output.endsWith("\n")) continue;
    const url = /^listening on (\S+)\n$/.exec(output)?.[1];
    if (url === undefined) break;
    await ask(url);
    server.kill("SIGTERM");
  }
  return { output, lines: (await errors).trimEnd().split("\n") };
}

it("is on standard error, whole where a signal ends the server, and standard output has nothing of it", async () => {
  const { output, lines } = await outputOf('format = "json"', async (url) => {
    for (let i = 0; i < 20; i++) await fetch(`${url}/health`);
  });
  expect(output).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\n$/);
  const [warning, ...requests] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(warning).toMatchObject({ level: "warn", message: expect.stringContaining("development secret") });
  expect(requests).toHaveLength(20);
  for (const line of requests)
    expect(line).toMatchObject({ method: "GET", route: "/health", status: 200, address: "127.0.0.0/24" });
});

it("is text without any setting", async () => {
  const { lines } = await outputOf("", (url) => fetch(`${url}/nowhere`));
  expect(lines).toEqual([
    "warning: the development secret is in use: anyone who reads svc.toml can sign in as anyone",
    expect.stringMatching(
      /^\S+ info GET - 404 \d+(\.\d)?ms - address=127\.0\.0\.0\/24 error=not_found id=[\da-f-]{36}$/,
    ),
  ]);
});
