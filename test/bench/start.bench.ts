import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "vitest";
import { figure, median, timed } from "../support/figures.js";

const repetitions = 10;

test("from the start of the process to the first answer", async () => {
  const empty: number[] = [];
  const existing: number[] = [];
  const nothing: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const directory = mkdtempSync(join(tmpdir(), "svc-start-"));
    for (const file of ["svc.toml", "svc.schema.yaml"]) cpSync(file, join(directory, file));
    empty.push(await timed(() => firstAnswer(directory)));
    existing.push(await timed(() => firstAnswer(directory)));
    rmSync(directory, { recursive: true });
    nothing.push(await timed(async () => spawnSync(process.execPath, ["-e", "0"])));
  }
  const name = "start of the process to its first response";
  figure(
    "speed",
    name,
    `${median(existing).toFixed(0)} ms`,
    `${median(empty).toFixed(0)} ms without a database, ${median(nothing).toFixed(0)} ms for Node alone`,
    "",
    "< 400 ms",
  );
});

/** Starts the built server, waits for its first answer, and stops it again. */
async function firstAnswer(directory: string): Promise<void> {
  const server = spawn(process.execPath, ["dist/svc/main.js", "serve", "--dir", directory, "--port", "0"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const line of createInterface(server.stdout)) {
    await fetch(`${line.replace("listening on ", "")}/api/tags`);
    break;
  }
  const exited = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  await exited;
}
