import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { figure, quantile } from "../support/figures.js";
import { spawnServer } from "../support/spawned-server.js";

/** `npm run test:faults` measures 20 reloads. */
const isWhole = process.env.FIGURES === "1";
const reloads = isWhole ? 20 : 4;
const perSecond = isWhole ? 1_000 : 200;
const connections = 32;

const secret = 'allow_insecure_dev_secret = true\ndev_secret = "a secret of the test suite, 32 bytes and more"';
/** The rows of each round's rules: those up to the fifth, or those after it. */
const sides = [
  { rule: "row.id <= 5", rows: [1, 2, 3, 4, 5] },
  { rule: "row.id > 5", rows: [6, 7, 8, 9, 10] },
] as const;

test("requests beside reloads of rules and schema are all answered, by the old rules or by the new ones", async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-reload-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const write = (round: number) => {
    const added = Array.from({ length: round }, (_, i) => `    c${i}: { type: text }\n`).join("");
    const columns = `    id: { type: integer, primary_key: true }\n    body: { type: text }\n${added}`;
    writeFileSync(join(directory, "svc.schema.yaml"), `notes:\n  columns:\n${columns}`);
    const rules = `[rules.notes]\nread = "${round === 0 ? "public" : sides[round % 2]!.rule}"\ncreate = "public"\n`;
    writeFileSync(join(directory, "svc.toml"), `[auth]\n${secret}\n[log]\nlevel = "error"\n${rules}`);
  };
  write(0);
  const { url, process: server, end } = await spawnServer(directory, "pipe");
  const lines: string[] = [];
  createInterface(server.stderr!).on("line", (line) => lines.push(line));
  const rows = Array.from({ length: 10 }, (_, i) => ({ body: `${i + 1}` }));
  const headers = { "Content-Type": "application/json" };
  const created = await fetch(`${url}/api/notes`, { method: "POST", headers, body: JSON.stringify(rows) });
  expect([created.status, await created.text()]).toEqual([201, expect.anything()]);

  const taken = () => lines.filter((line) => line === "the files are taken over").length;
  const reload = async (round: number) => {
    write(round);
    server.kill("SIGHUP");
    await expect.poll(taken, { interval: 5 }).toBe(round);
  };
  await reload(1);

  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  onTestFinished(() => agent.destroy());
  const answers = new Map<string, number>();
  const times: { ms: number; reload: boolean }[] = [];
  let isReloading = false;
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const beganMs = performance.now();
      const wasReloading = isReloading;
      get(`${url}/api/notes?select=id`, { agent }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece) => (text += piece));
        response.on("end", () => {
          times.push({ ms: performance.now() - beganMs, reload: wasReloading || isReloading });
          const said = response.statusCode === 200 ? JSON.parse(text).data.map(({ id }: { id: number }) => id) : text;
          const shown = `${response.statusCode} ${JSON.stringify(said)}`;
          answers.set(shown, (answers.get(shown) ?? 0) + 1);
          resolve();
        });
      }).on("error", reject);
    });
  const asked: Promise<void>[] = [];
  let isOver = false;
  const asking = (async () => {
    const beganMs = performance.now();
    while (!isOver) {
      const due = Math.floor(((performance.now() - beganMs) / 1000) * perSecond);
      while (asked.length < due) asked.push(ask());
      await delay(2);
    }
    await Promise.all(asked);
  })();

  for (let round = 2; round < 2 + reloads; round++) {
    isReloading = true;
    await reload(round);
    isReloading = false;
    await delay(isWhole ? 500 : 100);
  }
  isOver = true;
  await asking;
  expect(await end("SIGTERM")).toBe(0);
  expect([...answers.keys()].sort()).toEqual(sides.map(({ rows }) => `200 ${JSON.stringify(rows)}`));
  const msOf = (reload: boolean) => times.filter((time) => time.reload === reload).map(({ ms }) => ms);
  const [quiet, during] = [msOf(false), msOf(true)];
  const p99 = (ms: readonly number[]) => `${quantile(ms, 0.99).toFixed(1)} ms`;
  const name = `${reloads} reloads of rules and a column, ${perSecond} lists a second`;
  figure(
    "reload",
    name,
    asked.length,
    0,
    p99(quiet),
    p99(during),
    `${Math.max(...times.map(({ ms }) => ms)).toFixed(0)} ms`,
  );
});
