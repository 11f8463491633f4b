import { rmSync } from "node:fs";
import { test } from "vitest";
import { figure } from "../support/figures.js";
import { type Chat, makeChat } from "./chat.js";
import { type Contestant, startSvc, type Work } from "./contestant.js";
import { compare } from "./works.js";

const configs = ["", "usage = { enabled = false }"];
const reads: readonly (readonly [work: Work, name: string])[] = [
  ["point", "point read"],
  ["room", "list of 50, with total"],
];

test("what metering costs", async () => {
  const chats: Chat[] = [];
  const contestants: Contestant[] = [];
  try {
    for (const config of configs) chats.push(await makeChat(config));
    for (const chat of chats) contestants.push(await startSvc(chat));
    for (const [work, name] of reads) {
      const compared = await compare(contestants, work);
      const rates = compared.map(({ rate }) => `${rate.toFixed(0)} /s`);
      figure("metering", name, ...rates, compared[0]!.ratio);
    }
  } finally {
    for (const contestant of contestants) await contestant.end();
    for (const { directory } of chats) rmSync(directory, { recursive: true, force: true });
  }
});
