import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { figure } from "../support/figures.js";
import { type Chat, makeChat, rooms, rows } from "./chat.js";
import { type Contestant, startSvc } from "./contestant.js";
import { startPocketbase } from "./pocketbase.js";
import { compare, works } from "./works.js";

const pocketbase = process.env.POCKETBASE;

/** Its defaults, and as durable as PocketBase by its own: a power cut may take the last writes. */
const configs = ["", '[database]\nsynchronous = "normal"'];

test.skipIf(pocketbase === undefined)("beside PocketBase on the same data", async () => {
  const chats: Chat[] = [];
  const contestants: Contestant[] = [];
  try {
    for (const config of configs) chats.push(await makeChat(config));
    for (const chat of chats) contestants.push(await startSvc(chat));
    contestants.push(await startPocketbase(pocketbase!));
    for (const contestant of contestants) {
      expect(await listed(contestant, "room")).toEqual({ page: 50, total: rows / rooms });
      expect(await listed(contestant, "all")).toEqual({ page: 50, total: rows });
    }
    for (const [work, name] of works) {
      const compared = await compare(contestants, work);
      const rates = compared.map(({ rate }) => `${rate.toFixed(0)} /s`);
      const [full, normal] = compared;
      figure("PocketBase", name, ...rates, full!.ratio, normal!.ratio);
    }
  } finally {
    for (const contestant of contestants) await contestant.end();
    for (const { directory } of chats) rmSync(directory, { recursive: true, force: true });
  }
});

/** What it answers to a list. */
async function listed({ url, headers, requests }: Contestant, work: "room" | "all") {
  const response = await fetch(url + requests[work]().path, { headers });
  const { data, meta, items, totalItems } = (await response.json()) as Partial<Listed>;
  return { page: (data ?? items)?.length, total: meta?.total ?? totalItems };
}

/** As svc has it, and as PocketBase has it. */
interface Listed {
  readonly data: readonly unknown[];
  readonly meta: { readonly total: number };
  readonly items: readonly unknown[];
  readonly totalItems: number;
}
