import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { median } from "../support/figures.js";
import { builtCommand } from "../support/spawned-server.js";
import { type Chat, makeChat } from "./chat.js";
import { type Contestant, connections, peakMb, rate, startSvc } from "./contestant.js";
import { medianInterval } from "./median-interval.js";
import { inPairs, pairs, works } from "./works.js";

const base = process.env.BASE;

/** Even, so that each begins as often as the other. */
const pairCount = 2 * Math.ceil(Math.max(10, Number(process.env.ROUNDS ?? 20)) / 2);

/** Of each kind, to a server that has just started. */
const requestsBeforeMemory = 2_000;

interface Side {
  readonly chat: Chat;
  readonly command: string;
}

test.skipIf(base === undefined)(
  "this checkout beside another",
  async () => {
    const sides: Side[] = [];
    try {
      for (const command of [builtCommand, join(base!, builtCommand)])
        sides.push({ chat: await makeChat("", command), command });
      row("", "this", "base", "this / base", "95 % interval");
      row("---", "---", "---", "---", "---");
      const both = sides as [Side, Side];
      await compareWorks(both);
      await compareStarts(both);
      process.stdout.write(
        `medians of ${pairCount} pairs; intervals of the median ratio by order statistics; of rates more is better, of the last two less\n`,
      );
    } finally {
      for (const { chat } of sides) rmSync(chat.directory, { recursive: true, force: true });
    }
  },
  1_800_000,
);

/** Both servers run; one of them works at a time. */
async function compareWorks([ours, theirs]: readonly [Side, Side]): Promise<void> {
  const running: Contestant[] = [];
  try {
    for (const { chat, command } of [ours, theirs]) running.push(await startSvc(chat, command));
    for (const [work, name] of works)
      report(name, "/s", await pairs(running as [Contestant, Contestant], work, pairCount));
  } finally {
    for (const contestant of running) await contestant.end();
  }
}

/** How long it takes until something is answered, and what the process holds after some requests. */
async function compareStarts(sides: readonly [Side, Side]): Promise<void> {
  const memory = new Map<Side, number[]>(sides.map((side) => [side, []]));
  const starts = await inPairs(sides, pairCount, async (side) => {
    const server = await startSvc(side.chat, side.command);
    for (const work of ["point", "room"] as const)
      await rate(server, work, { connections, amount: requestsBeforeMemory, sampleInt: 10 });
    memory.get(side)!.push(peakMb(server.pid));
    expect(await server.end()).toBe(0);
    return server.startMs;
  });
  const [ours, theirs] = sides.map((side) => memory.get(side)!);
  report("start of the process to its first answer", "ms", starts);
  report(
    `memory after ${2 * requestsBeforeMemory} reads, its peak`,
    "MB",
    ours!.map((mb, i) => [mb, theirs![i]!] as const),
  );
}

function report(name: string, unit: string, measured: readonly (readonly [number, number])[]): void {
  const of = (side: 0 | 1) => `${median(measured.map((pair) => pair[side])).toFixed(0)} ${unit}`;
  const ratio = medianInterval(measured.map(([ours, theirs]) => ours / theirs));
  row(name, of(0), of(1), ratio.median.toFixed(3), `${ratio.low.toFixed(3)} to ${ratio.high.toFixed(3)}`);
}

function row(...cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
}
