import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Client } from "autocannon";
import { expect, test } from "vitest";
import { figure, median, quantile } from "../support/figures.js";
import { copyOf, login, makeChat } from "./chat.js";
import { connections, load, peakMb, rate, startBare, startSvc, type Work } from "./contestant.js";
import { compare, works } from "./works.js";

const readRounds = 11;
const readSeconds = 2;

const atLeast: Readonly<Record<Work, number>> = {
  point: 0.5,
  room: 0.8,
  all: 0.8,
  create: 1.5,
  update: 1.5,
  delete: 1.5,
};

test("beside a bare server on the same data", async () => {
  const chat = await makeChat();
  const copy = copyOf(chat);
  const svc = await startSvc(chat);
  const bare = await startBare(copy, chat.userId);
  try {
    for (const [work, name] of works) {
      const [ours, theirs] = await compare([svc, bare], work);
      const rates = [ours!, theirs!].map(({ rate }) => `${rate.toFixed(0)} /s`);
      figure("speed", name, ...rates, ours!.ratio, `≥ ${atLeast[work]}`);
    }
    figure("speed", "one fsync on this disk", `${fsyncMs(chat.directory).toFixed(2)} ms`, "", "", "");
  } finally {
    await svc.end();
    await bare.end();
    rmSync(chat.directory, { recursive: true, force: true });
    rmSync(dirname(copy), { recursive: true, force: true });
  }
});

test("reads at half of the rate that they can have, while four users sign in a second", async () => {
  const chat = await makeChat();
  const svc = await startSvc(chat);
  try {
    const overallRate = Math.floor((await rate(svc, "point", { connections, duration: 5 })) / 2);
    const p99OfReads = async (): Promise<number> => {
      const times: number[] = [];
      // As clients saw them: autocannon's own are whole milliseconds, with others made up for what was not asked meanwhile.
      const setupClient = (client: Client): void => {
        client.on("response", (_status: number, _bytes: number, ms: number) => times.push(ms));
      };
      await load(svc, "point", { connections, duration: readSeconds, overallRate, setupClient });
      return quantile(times, 0.99);
    };
    const p99: { readonly alone: number; readonly beside: number }[] = [];
    for (let round = 0; round < readRounds; round++) {
      const alone = await p99OfReads();
      const signIns: Promise<string>[] = [];
      const timer = setInterval(() => signIns.push(login(svc.url)), 250);
      p99.push({ alone, beside: await p99OfReads() });
      clearInterval(timer);
      expect((await Promise.all(signIns)).length).toBeGreaterThan(readSeconds * 2);
    }
    const name = "p99 of point reads at half of the rate above, during four sign-ins a second";
    const besideMs = median(p99.map(({ beside }) => beside));
    const aloneMs = median(p99.map(({ alone }) => alone));
    const ratio = median(p99.map(({ alone, beside }) => beside / alone));
    figure("speed", name, `${besideMs.toFixed(1)} ms`, `${aloneMs.toFixed(1)} ms without`, ratio, "≤ 1.5");
    figure("speed", "peak memory under that load", `${peakMb(svc.pid).toFixed(0)} MB`, "", "", "< 160 MB");
  } finally {
    await svc.end();
    rmSync(chat.directory, { recursive: true, force: true });
  }
});

/** The median, behind a write of two pages. Writes of the bare server each wait for one, those of svc that wait together share one. */
function fsyncMs(directory: string): number {
  const file = openSync(join(directory, "fsync"), "w");
  const pages = Buffer.alloc(8192);
  const times = Array.from({ length: 200 }, () => {
    writeSync(file, pages);
    const from = performance.now();
    fsyncSync(file);
    return performance.now() - from;
  });
  closeSync(file);
  return median(times);
}
