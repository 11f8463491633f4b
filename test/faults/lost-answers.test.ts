import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { apiKeyRandomBytes, newApiKey } from "../../src/auth/callers/api-key.js";
import { insertServiceKey } from "../../src/auth/store/service-keys.js";
import { hashSecret } from "../../src/encoding/hash-secret.js";
import { openLibsql } from "../../src/node/database/libsql.js";
import { systemRandom } from "../../src/node/system.js";
import type { Database } from "../../src/platform/database.js";
import { applyChange } from "../../src/schema/apply.js";
import { type D1Binding, openD1 } from "../../src/worker/d1.js";
import { Random } from "../property/support/random.js";
import { type Cut, type CuttingProxy, startCuttingProxy } from "../support/cutting-proxy.js";
import { figure } from "../support/figures.js";
import { startProduct } from "../support/workerd/product.js";
import { start } from "./killed-server.js";
import { type Before, type Kind, kinds, Model, type Received, schema, type Write, Writer } from "./mixed-writes.js";

/**
 * Between clients and the server is a proxy that breaks connections: within requests, while the server works, and within
 * answers. A client sends the same again until it has an answer, and in the end each write was done exactly once.
 * `WRITES=1000` is the long form: there the answer of one write of each kind is cut at every byte.
 */
const writesInAll = Number(process.env.WRITES ?? 60);
/** Of the writes whose answers are cut again and again: from one cut to the next, in bytes. */
const stride = writesInAll >= 1000 ? 1 : 211;
const writerCount = 4;
const seed = Random.seedOfRun();
vi.setConfig({ testTimeout: 900_000 + 10 * writesInAll * 500 });

interface Served {
  readonly url: string;
  readonly database: Database;
}

/** The server of a process of its own. */
async function onNode(): Promise<Served> {
  const directory = mkdtempSync(join(tmpdir(), "svc-lost-answers-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const config = `[auth]\nallow_insecure_dev_secret = true\ndev_secret = "a secret of the fault tests, 32 bytes"\n`;
  writeFileSync(join(directory, "svc.toml"), config);
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  const { url } = await start(directory);
  const path = join(directory, ".svc/data.db");
  const database = openLibsql({ path, synchronous: "normal", commandLine: true });
  onTestFinished(() => database.close());
  return { url, database };
}

/** The product's Worker. */
async function onD1(): Promise<Served> {
  const { url, miniflare } = await startProduct(null);
  const database = openD1((await miniflare.getD1Database("DB")) as unknown as D1Binding);
  // The tables that the bundled rules are about have to be there, too.
  const tables = readFileSync("svc.schema.yaml", "utf8") + schema;
  const applied = await applyChange(database, tables, { allowDestructive: false, now: Date.now() });
  expect(applied.outcome).toBe("applied");
  return { url, database };
}

/** The secrets of API keys, which nobody's rules bind. */
async function keysIn(database: Database, count: number): Promise<string[]> {
  const secrets = Array.from({ length: count }, () => newApiKey(systemRandom.bytes(apiKeyRandomBytes)));
  const keys = secrets.map(async (secret, i) =>
    insertServiceKey({
      id: `k${i}`,
      name: "writer",
      hash: await hashSecret(secret),
      scopes: ["project:backend"],
      createdAtMs: 0,
      expiresAtMs: null,
      createdBy: "cli",
    }),
  );
  await database.batch(await Promise.all(keys));
  return secrets;
}

/** The answer to one attempt over a connection of its own; null where it did not come whole. */
function attempt(url: string, secret: string, { method, path, body, headers }: Write): Promise<Received | null> {
  return new Promise((resolve) => {
    const lost = () => resolve(null);
    const sent = request(
      url + path,
      {
        method,
        agent: false,
        headers: {
          ...headers,
          Connection: "close",
          Authorization: `Bearer ${secret}`,
          ...(body !== undefined && {
            "Content-Type": "application/json",
            "Content-Length": Buffer.byteLength(body),
          }),
        },
      },
      (answer) => {
        let text = "";
        answer
          .setEncoding("utf8")
          .on("data", (part) => {
            text += part;
          })
          .on("error", lost)
          .on("close", lost)
          .on("end", () => {
            if (!answer.complete) return lost();
            const { statusCode, headers } = answer;
            resolve({ status: statusCode!, headers, body: JSON.parse(text) });
          });
      },
    );
    sent.on("error", lost).end(body);
  });
}

/** How often connections were broken, and where. */
interface Tally {
  readonly cuts: Record<Cut["within"], number>;
  readonly writes: Map<Kind, number>;
  /** After how many bytes answers were cut. */
  readonly offsets: Set<number>;
  /** Of the writes whose answers were cut again and again, how long the last answer was. */
  readonly sweptBytes: Map<Kind, number>;
  /** How many writes were sent again after they were done, or may have been. */
  repeated: number;
}

/** Sends a write over and over, each time with another cut, and at last without. */
async function persist(
  write: Write,
  secret: string,
  proxy: CuttingProxy,
  cuts: Iterable<Cut>,
  tally: Tally,
): Promise<void> {
  let before: Before = "not done";
  for (const cut of cuts) {
    proxy.cutNext(cut);
    expect(await attempt(proxy.url, secret, write), `${write.kind}: an answer in spite of the cut`).toBeNull();
    tally.cuts[cut.within]++;
    if (cut.within === "wait" && before === "not done") before = "perhaps done";
    // The answer of a push may have been one that stopped early, beside an attempt that nobody waits for.
    if (cut.within === "answer" && !(write.kind === "push" && before === "perhaps done")) before = "done";
  }
  const answered = async () => {
    const answer = await attempt(proxy.url, secret, write);
    if (answer === null) throw new Error(`${write.method} ${write.path} gets no answer`);
    return answer;
  };
  let answer = await answered();
  while (!write.isWhole(answer)) {
    expect(before).toBe("perhaps done");
    answer = await answered();
  }
  write.settle(answer, before);
  if (before !== "not done") tally.repeated++;
  tally.writes.set(write.kind, (tally.writes.get(write.kind) ?? 0) + 1);
}

/** The answer is cut after 0 bytes, after `stride`, and so on through the whole of it. */
function* everyByte(proxy: CuttingProxy, kind: Kind, tally: Tally): Generator<Cut> {
  let at = 0;
  do {
    yield { within: "answer", after: () => at };
    tally.offsets.add(at);
    at += stride;
    // The answer to a repetition may be of another length than the first one.
  } while (at < proxy.answerBytes - 20);
  for (let missing = 20; missing > 0; missing -= stride) yield { within: "answer", after: (total) => total - missing };
  tally.sweptBytes.set(kind, proxy.answerBytes);
}

/** Perhaps a cut before the answer, and one within it or more. */
function* someCuts(random: Random, turn: number, tally: Tally): Generator<Cut> {
  if (random.chance(0.25)) {
    const share = random.next();
    yield { within: "request", after: (total) => Math.floor(total * share) };
  }
  if (random.chance(0.25)) yield { within: "wait", isServerCut: random.chance(0.5) };
  do {
    yield {
      within: "answer",
      after: (total) => {
        tally.offsets.add(turn % total);
        return turn % total;
      },
    };
  } while (random.chance(0.2));
}

it.each([
  ["Node", onNode],
  ["workerd + D1", onD1],
] as const)(`${writesInAll} writes whose answers are cut are each done exactly once, on %s`, async (target, serve) => {
  const { url, database } = await serve();
  const secrets = await keysIn(database, writerCount);
  const random = new Random(seed);
  const model = new Model();
  const tally: Tally = {
    cuts: { request: 0, wait: 0, answer: 0 },
    writes: new Map(),
    offsets: new Set(),
    sweptBytes: new Map(),
    repeated: 0,
  };
  const lines = await Promise.all(
    secrets.map(async (secret, i) => ({
      secret,
      proxy: await startCuttingProxy(url),
      writer: new Writer(`w${i}`, model, random.fork(i)),
    })),
  );
  const [first] = lines;
  for (const write of first!.writer.sharedCounters()) await persist(write, first!.secret, first!.proxy, [], tally);
  const step = stride === 1 ? 1 : 37;
  let turn = 0;
  await Promise.all(
    lines.map(async ({ secret, proxy, writer }) => {
      const sweeps = writer === first!.writer ? [...kinds] : [];
      while (turn < writesInAll || sweeps.length > 0) {
        const number = turn++;
        const kind = sweeps.shift();
        const write = writer.choose(kind ?? writer.random.pick(kinds));
        const cuts = kind === undefined ? someCuts(writer.random, number * step, tally) : everyByte(proxy, kind, tally);
        await persist(write, secret, proxy, cuts, tally);
      }
    }),
  );
  await model.check(database);
  for (const kind of kinds) expect(tally.writes.get(kind) ?? 0, kind).toBeGreaterThan(0);
  const { cuts, offsets, sweptBytes, repeated } = tally;
  const bytes = [...sweptBytes.values()].sort((a, b) => a - b);
  figure(
    "strength",
    `${writesInAll} mixed writes on ${target}, each response cut off`,
    `connections cut ${cuts.request} times during requests, ${cuts.wait} while the server worked, ${cuts.answer} during responses, at ${offsets.size} different bytes${stride === 1 ? `, at every byte of ${bytes.length} responses of ${bytes[0]} to ${bytes.at(-1)} bytes` : ""}; ${repeated} writes repeated after they were done; lost 0; done twice 0`,
  );
});
