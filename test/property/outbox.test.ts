import { expect, test, vi } from "vitest";
import type { Client } from "../../src/client/client.js";
import { createOutbox, memoryOutboxStorage, type Outbox } from "../../src/client/outbox.js";
import { Browser, resetInBody } from "../support/browser.js";
import { rowsOf } from "../support/people.js";
import { serve } from "../support/server.js";
import { Random } from "./support/random.js";

const rounds = Number(process.env.OUTBOXES ?? 2);
vi.setConfig({ testTimeout: 900_000 + 10 * rounds * 10_000 });

const schema = `
counters:
  columns:
    id: { type: integer, primary_key: true }
    n: { type: integer, not_null: true }
entries:
  columns:
    id: { type: integer, primary_key: true }
    text: { type: text, unique: true, check: "text <> 'bad'" }
    counter: { type: integer, references: { table: counters } }
`;
const rule = 'read = "authenticated"\ncreate = "authenticated"\nupdate = "authenticated"\n';
const config = `[rules.counters]\n${rule}[rules.entries]\n${rule}`;

interface Tables {
  counters: {
    row: { id: number; n: number };
    create: { n: number };
    update: { n?: number };
    key: { id: number };
  };
  entries: {
    row: { id: number; text: string; counter: number | null };
    create: { text: string; counter?: number };
    update: { text?: string };
    key: { id: number };
  };
}

/** A device: its storage outlives its pages. */
class Device {
  readonly #storage = memoryOutboxStorage();
  #outbox: Outbox<Tables> | null = null;
  /** The texts of entries that it has written down, in their order. */
  readonly written: string[] = [];
  /** How often it has counted. */
  counted = 0;
  /** What it was told to be refused, by text. */
  readonly refused = new Set<string>();

  constructor(
    readonly name: string,
    private readonly client: Client<Tables>,
  ) {}

  get outbox(): Outbox<Tables> {
    this.#outbox ??= createOutbox(this.client, {
      storage: this.#storage,
      // Counts on from what it is by now.
      onConflict: ({ operation, current }) => {
        if (operation?.op !== "update" || operation.table !== "counters") return "discard";
        const { n } = current as { n: number };
        return [{ ...operation, set: { n: n + 1 }, base: { n } }];
      },
      onRejected: ({ mutation }) => {
        for (const each of mutation.operations)
          if (each.op === "create" && "text" in each.values) this.refused.add(String(each.values.text));
      },
    });
    return this.#outbox;
  }

  closeTab(): void {
    this.#outbox?.close();
    this.#outbox = null;
  }

  async act(random: Random): Promise<void> {
    const text = `${this.name}.${this.written.length}`;
    switch (random.int(0, 4)) {
      case 0: {
        const n = random.int(0, 9);
        this.counted++;
        return void (await this.outbox.update("counters", { id: random.int(1, 2) }, { n: n + 1 }, { n }));
      }
      case 1:
        this.written.push(text);
        return void (await this.outbox.create("entries", { text }));
      case 2:
        this.written.push(text);
        // A mutation is done as a whole or not at all.
        return void (await this.outbox.mutate([
          { op: "create", table: "entries", values: { text } },
          { op: "create", table: "entries", values: { text: random.chance(0.5) ? "bad" : `${text}+` } },
        ]));
      case 3:
        this.written.push(text);
        return void (await this.outbox.create("entries", { text, nobody: "x" } as never));
      default:
        this.written.push(text);
        return void (await this.outbox.create("entries", { text, counter: random.pick([1, 99]) }));
    }
  }
}

test("devices that write through a bad line, and whose tabs are closed, write each mutation once and in order", async () => {
  const random = new Random(Random.seedOfRun());
  let mutations = 0;
  let pushes = 0;
  for (let round = 0; round < rounds; round++) {
    const server = await serve({ schema, config });
    const browsers = ["a", "b", "c"].map(() => new Browser(server));
    const devices: Device[] = [];
    for (const [i, browser] of browsers.entries()) {
      const client = browser.tab<Tables>();
      const name = "abc"[i]!;
      await client.auth.register({ email: `${name}@example.com`, password: "correct horse" });
      if (i === 0) await client.table("counters").create([{ n: 0 }, { n: 0 }]);
      devices.push(new Device(name, client));
      browser.network = async (pass, request) => {
        if (request !== "POST /api/_svc/push") return pass();
        pushes++;
        switch (random.int(0, 5)) {
          case 0:
            throw new TypeError("fetch failed");
          case 1:
            return resetInBody(await pass());
          case 2:
            return Response.json({ error: { code: "unavailable", message: "not now" } }, { status: 503 });
          case 3:
            return new Response("<h1>Welcome</h1>");
          default:
            return pass();
        }
      };
    }
    for (let step = 0; step < 40; step++) {
      const device = random.pick(devices);
      await device.act(random);
      mutations++;
      if (random.chance(0.2)) device.closeTab();
      if (random.chance(0.3)) await random.pick(devices).outbox.whenSent();
    }
    for (const { outbox } of devices) await outbox.whenSent();
    const texts = (await rowsOf(server, "SELECT text FROM entries ORDER BY id")).map(([text]) => String(text));
    for (const { name, written, refused } of devices) {
      const own = texts.filter((text) => text.startsWith(name) && !text.endsWith("+"));
      expect(own).toEqual(written.filter((text) => !refused.has(text)));
    }
    expect(texts).not.toContain("bad");
    for (const text of texts.filter((each) => each.endsWith("+"))) expect(texts).toContain(text.slice(0, -1));
    const [[sum]] = (await rowsOf(server, "SELECT sum(n) FROM counters")) as [[number]];
    const counted = devices.reduce((all, device) => all + device.counted, 0);
    expect(sum).toBe(counted);
    const kept = await rowsOf(server, "SELECT count(*), count(DISTINCT client || mutation) FROM _push_results");
    expect(kept[0]![0]).toBe(kept[0]![1]);
    for (const device of devices) device.closeTab();
  }
  console.log(`${mutations} mutations in ${pushes} pushes`);
});
