import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { figure, median, quantile } from "../support/figures.js";
import { makeChat } from "./chat.js";
import { anyId, type Contestant, newMessage, startBare, startSvc } from "./contestant.js";
import { compare } from "./works.js";

/**
 * What a slow disk costs: each fsync takes some milliseconds longer, by a library that is preloaded into the servers. It
 * has to be compiled, by `cc`.
 */
const folder = mkdtempSync(join(tmpdir(), "svc-slow-disk-"));
const shim = join(folder, "slow-fsync.so");
const compiled = spawnSync("cc", ["-shared", "-fPIC", "-o", shim, "test/bench/slow-fsync.c", "-ldl"]);
const canSlowDown = compiled.status === 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const turns = 5;
const secondsOfTurn = 4;
const readsPerSecond = 200;
const writesPerSecond = 200;

/** A server whose disk is slow. */
async function onSlowDisk<T>(ms: number, start: () => Promise<T>): Promise<T> {
  Object.assign(process.env, { LD_PRELOAD: shim, SLOW_MS: String(ms) });
  try {
    return await start();
  } finally {
    delete process.env.LD_PRELOAD;
    delete process.env.SLOW_MS;
  }
}

// Given up before the server gives them up, after five seconds.
const agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: 2_000 });

/** Milliseconds of one request, from when it should have been sent. */
function ask(contestant: Contestant, method: string, path: string, body: object | null, fromMs: number) {
  return new Promise<number>((resolve, reject) => {
    const headers = { ...contestant.headers, ...(body && { "Content-Type": "application/json" }) };
    const sent = request(contestant.url + path, { agent, method, headers }, (response) => {
      if (response.statusCode! >= 300) reject(new Error(`${method} ${path} is answered ${response.statusCode}`));
      response.resume().once("end", () => resolve(performance.now() - fromMs));
    });
    sent.once("error", reject);
    sent.end(body === null ? undefined : JSON.stringify(body));
  });
}

/** So many a second, whether the ones before are answered or not. */
async function openLoop(perSecond: number, send: (fromMs: number) => Promise<number>): Promise<number[]> {
  const begunMs = performance.now();
  const asked: Promise<number>[] = [];
  for (let n = 0; n < perSecond * secondsOfTurn; n++) {
    const dueMs = begunMs + (n * 1000) / perSecond;
    while (performance.now() < dueMs) await new Promise((resolve) => setTimeout(resolve, 1));
    asked.push(send(dueMs));
  }
  return Promise.all(asked);
}

async function readsOf(contestant: Contestant, userId: string, isWriting: boolean) {
  const read = (fromMs: number) => ask(contestant, "GET", `/api/drafts/${anyId()}`, null, fromMs);
  const write = (fromMs: number) => ask(contestant, "POST", "/api/messages", newMessage(userId), fromMs);
  const [reads, writes] = await Promise.all([
    openLoop(readsPerSecond, read),
    isWriting ? openLoop(writesPerSecond, write) : [],
  ]);
  return { p50: quantile(reads, 0.5), p99: quantile(reads, 0.99), writes };
}

const spread = (values: readonly number[], digits: number) =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;

test.skipIf(!canSlowDown).each([1, 5, 10])("reads beside writes, %i ms a flush", async (ms) => {
  const chat = await makeChat();
  const svc = await onSlowDisk(ms, () => startSvc(chat));
  try {
    await readsOf(svc, chat.userId, true);
    const ratios: number[] = [];
    const excess: number[] = [];
    for (let turn = 0; turn < turns; turn++) {
      const alone = await readsOf(svc, chat.userId, false);
      const beside = await readsOf(svc, chat.userId, true);
      ratios.push(beside.p50 / alone.p50);
      excess.push(beside.p99 - 2 * alone.p99);
    }
    figure(
      "slow disk",
      `reads during ${writesPerSecond} writes a second, ${ms} ms per flush`,
      `p50 ${spread(ratios, 2)} times the p50 without writes`,
      `p99 minus twice the p99 without writes: ${spread(excess, 1)} ms`,
    );
    expect(ratios).toHaveLength(turns);
  } finally {
    await svc.end();
    rmSync(chat.directory, { recursive: true, force: true });
  }
});

test.skipIf(!canSlowDown)("writes of 16 clients beside a bare server, 5 ms a flush", async () => {
  const chat = await makeChat();
  const copy = join(folder, "bare.db");
  cpSync(chat.file, copy);
  const svc = await onSlowDisk(5, () => startSvc(chat));
  const bare = await onSlowDisk(5, () => startBare(copy, chat.userId));
  try {
    for (const work of ["create", "update"] as const) {
      const [ours, theirs] = await compare([svc, bare], work);
      figure(
        "slow disk",
        `${work}s by 16 clients, 5 ms per flush`,
        `${ours!.rate.toFixed(0)} a second, the bare server ${theirs!.rate.toFixed(0)}`,
        `${ours!.ratio.toFixed(1)} times`,
      );
    }
  } finally {
    await svc.end();
    await bare.end();
    rmSync(chat.directory, { recursive: true, force: true });
  }
});
