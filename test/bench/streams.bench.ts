import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createParser } from "eventsource-parser";
import { expect, onTestFinished, test, vi } from "vitest";
import { apiKeyRandomBytes, newApiKey } from "../../src/auth/callers/api-key.js";
import { insertServiceKey } from "../../src/auth/store/service-keys.js";
import { hashSecret } from "../../src/encoding/hash-secret.js";
import { openLibsql } from "../../src/node/database/libsql.js";
import { systemRandom } from "../../src/node/system.js";
import { figure, quantile } from "../support/figures.js";
import { spawnServer } from "../support/spawned-server.js";
import { cpuSeconds } from "./contestant.js";
import { startRealtime } from "./pocketbase.js";

/** How many streams are open at once; a process of svc has a thousand at most. */
const streamCount = Number(process.env.STREAMS ?? 1_000);
const seconds = Number(process.env.SECONDS ?? 20);
const changesPerSecond = 100;
const changes = seconds * changesPerSecond;
/** Bounds of svc: how many streams a session and a key have. */
const [ofSession, ofKey] = [10, 100];

/** After how long a client comes back whose stream was ended. */
const comesBackAfterMs = 1_000;

type Headers = Readonly<Record<string, string>>;

/** A server that tells of the creation of messages, each of which has the body `change N`. */
interface Told {
  readonly pid: number;
  /** Creates a message, and returns after the answer. */
  create(body: string): Promise<void>;
  /**
   * Opens stream `i`, after the last event of a stream before it, and returns once it follows. `ended` is called where the
   * server ends it.
   */
  open(i: number, lastId: string, told: (text: string, id: string) => void, ended: () => void): Promise<ClientRequest>;
  /** Collects garbage, where the server can be asked to; MB of its heap and what belongs to it. */
  collect(): Promise<number | null>;
  end(): Promise<unknown>;
}

// Connections that rest are closed before the server closes them, which might be while a request is sent.
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: 3_000 });

async function post(url: string, headers: Headers, body: object): Promise<unknown> {
  const sent = request(url, {
    agent,
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
  });
  sent.end(JSON.stringify(body));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const part of response.setEncoding("utf8")) text += part;
  if (response.statusCode! >= 300) throw new Error(`${url}: ${response.statusCode} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

/** A stream of events, once the first has come, whose data is `first`; `told` gets the data and the id of each. */
async function follow(url: string, headers: Headers, told: (text: string, id: string) => void, ended: () => void) {
  const sent = request(url, { agent: false, headers: { Accept: "text/event-stream", ...headers } });
  sent.on("error", () => {});
  sent.end();
  const [response] = (await once(sent, "response").catch((error: unknown) => {
    throw new RefusedError(`${url}: ${error}`);
  })) as [IncomingMessage];
  if (response.statusCode !== 200) {
    sent.destroy();
    throw new RefusedError(`${url}: ${response.statusCode}`);
  }
  let hasBegun = false;
  const first = await new Promise<string>((resolve, reject) => {
    const parser = createParser({
      onEvent: ({ data, id }) => {
        told(data, id ?? "");
        hasBegun = true;
        resolve(data);
      },
    });
    response.setEncoding("utf8").on("data", (text) => parser.feed(text));
    // The benchmark ends streams itself, too.
    response.on("error", () => {});
    response.on("close", () => {
      if (hasBegun) ended();
      else reject(new RefusedError(`${url}: ended before its first event`));
    });
  });
  return { sent, first };
}

/** A stream does not begin. */
class RefusedError extends Error {}

const schema = `
$history: forever
members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer }, user_id: { type: text } }
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, not_null: true }
    body: { type: text, not_null: true }
  indexes: [{ columns: [room_id] }]
`;
const config = `
[auth]
allow_insecure_dev_secret = true
dev_secret = "a secret of the benchmarks, 32 bytes"
[rules.messages]
read = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"
`;

/** The built server. Streams are those of API keys, or of users who are members of the one room that is written to. */
async function startSvc(callers: "keys" | "users"): Promise<Told> {
  const directory = mkdtempSync(join(tmpdir(), "svc-streams-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "svc.toml"), config);
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  const server = await spawnServer(directory, "ignore", "./test/support/collect-garbage.js");
  const { url } = server;
  onTestFinished(async () => void (await server.end("SIGKILL")));
  // The first is the writer's.
  const keys = Array.from({ length: 1 + Math.ceil(streamCount / ofKey) }, () =>
    newApiKey(systemRandom.bytes(apiKeyRandomBytes)),
  );
  const inserted = keys.map(async (key, i) =>
    insertServiceKey({
      id: `k${i}`,
      name: "bench",
      hash: await hashSecret(key),
      scopes: [i === 0 ? "project:backend" : "resource:messages:read"],
      createdAtMs: 0,
      expiresAtMs: null,
      createdBy: "cli",
    }),
  );
  const database = openLibsql({
    path: join(directory, ".svc/data.db"),
    synchronous: "full",
    commandLine: true,
  });
  await database.batch(await Promise.all(inserted));
  await database.close();
  const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` });
  const writer = bearer(keys[0]!);
  const tokens = callers === "keys" ? keys.slice(1) : [];
  for (let i = 0; callers === "users" && i < Math.ceil(streamCount / ofSession); i++) {
    const account = { email: `user${i}@example.com`, password: "correct horse battery" };
    const { data } = (await post(`${url}/auth/register`, {}, account)) as {
      data: { user: { id: string }; access_token: string };
    };
    await post(`${url}/api/members`, writer, { room_id: 1, user_id: data.user.id });
    tokens.push(data.access_token);
  }
  const asked = JSON.stringify({ tables: { messages: {} }, from: "now" });
  const path = `${url}/api/_svc/live?q=${encodeURIComponent(asked)}`;
  return {
    pid: server.process.pid!,
    create: async (body) => void (await post(`${url}/api/messages`, writer, { room_id: 1, body })),
    open: async (i, lastId, told, ended) => {
      const headers = bearer(tokens[i % tokens.length]!);
      return (await follow(path, { ...headers, "Last-Event-ID": lastId }, told, ended)).sent;
    },
    collect: async () => {
      const answer = once(server.process, "message");
      server.process.send("collect");
      const [{ heapUsed, external }] = (await answer) as [NodeJS.MemoryUsage];
      return (heapUsed + external) / 2 ** 20;
    },
    end: () => server.end("SIGTERM"),
  };
}

/** PocketBase, whose subscribers are its superuser, whom no rule is asked for, or a member of the room. */
async function startPocketbase(binary: string, callers: "superuser" | "user"): Promise<Told> {
  const { url, path, pid, end, message, userHeaders, superuserHeaders } = await startRealtime(binary);
  const headers = callers === "user" ? userHeaders : superuserHeaders;
  return {
    pid,
    create: async (body) => void (await post(url + path, userHeaders, message(body))),
    open: async (_i, _lastId, told, ended) => {
      const { sent, first } = await follow(`${url}/api/realtime`, {}, told, ended);
      const { clientId } = JSON.parse(first) as { clientId: string };
      await post(`${url}/api/realtime`, headers, { clientId, subscriptions: ["messages/*"] });
      return sent;
    },
    collect: async () => null,
    end,
  };
}

/** MB that a process has in memory. */
function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}

/** Does `work` for each of so many numbers, some at once. */
async function eachOf(count: number, atOnce: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function measure(name: string, server: Told): Promise<void> {
  // What is compiled and cached only once is no part of the figures.
  await eachOf(200, 4, () => server.create("before"));
  const heapBefore = await server.collect();
  const residentBefore = residentMb(server.pid);

  /** When each stream was told of each change, in milliseconds; 0: it was not. */
  const arrivals = new Float64Array(changes * streamCount);
  let arrived = 0;
  let twice = 0;
  const streams: (ClientRequest | undefined)[] = [];
  const lastIds = new Array<string>(streamCount).fill("");
  /** Streams that the server ended, and attempts to come back that it refused. */
  const broken = { ended: 0, refused: 0 };
  let isOver = false;
  const told = (i: number, text: string, id: string) => {
    const now = performance.now();
    if (id !== "") lastIds[i] = id;
    for (const [, change] of text.matchAll(/"change (\d+)"/g)) {
      const at = Number(change) * streamCount + i;
      if (arrivals[at] === 0) {
        arrivals[at] = now;
        arrived++;
      } else twice++;
    }
  };
  const open = async (i: number): Promise<void> => {
    const ended = () => {
      if (isOver) return;
      broken.ended++;
      comeBack(i);
    };
    streams[i] = await server.open(i, lastIds[i]!, (text, id) => told(i, text, id), ended);
  };
  // As a client does that has the last whole state.
  const comeBack = (i: number): void =>
    void setTimeout(async () => {
      if (isOver) return;
      await open(i).catch((error: unknown) => {
        if (!(error instanceof RefusedError)) throw error;
        broken.refused++;
        comeBack(i);
      });
    }, comesBackAfterMs);
  const opening = performance.now();
  await eachOf(streamCount, 8, open);
  const openedMs = performance.now() - opening;
  const heapAfter = await server.collect();
  const residentAfter = residentMb(server.pid);

  const [usedBefore, ownBefore] = [cpuSeconds(server.pid), cpuSeconds(process.pid)];
  const began = performance.now();
  const sentAt: number[] = [];
  const answeredAt: number[] = [];
  const write = async (i: number) => {
    sentAt[i] = performance.now();
    await server.create(`change ${i}`);
    answeredAt[i] = performance.now();
  };
  // So many a second, whether the ones before have been answered or not.
  const writes: Promise<void>[] = [];
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(changes, Math.floor(((performance.now() - began) * changesPerSecond) / 1000));
      for (let i = writes.length; i < due; i++) {
        writes.push(write(i));
      }
      if (writes.length < changes) return;
      clearInterval(timer);
      resolve();
    }, 5);
  });
  await Promise.all(writes);
  await vi.waitUntil(() => arrived >= changes * streamCount, { timeout: 120_000, interval: 50 });
  isOver = true;
  const [used, own] = [cpuSeconds(server.pid) - usedBefore, cpuSeconds(process.pid) - ownBefore];
  const tookSeconds = (performance.now() - began) / 1000;
  // Again is told only what came before a stream was ended in the middle of a state.
  expect(arrived).toBe(changes * streamCount);
  if (broken.ended === 0) expect(twice).toBe(0);

  // A change that arrives before its writer has been answered has taken no time.
  const latencies = arrivals.map((at, i) => Math.max(0, at - answeredAt[Math.floor(i / streamCount)]!)).sort();
  const ofAll = (share: number) => `${latencies[Math.floor((latencies.length - 1) * share)]!.toFixed(0)} ms`;
  const answers = answeredAt.map((at, i) => at - sentAt[i]!);
  const perStream = (mb: number) => `${((mb * 1024) / streamCount).toFixed(0)} KB`;
  const heap = heapBefore === null || heapAfter === null ? "" : `, heap ${perStream(heapAfter - heapBefore)}`;
  figure(
    "streams",
    name,
    ofAll(0.5),
    ofAll(0.99),
    `${quantile(answers, 0.5).toFixed(0)} ms, ${quantile(answers, 0.99).toFixed(0)} ms`,
    `${used.toFixed(1)} s in ${tookSeconds.toFixed(1)} s`,
    `${own.toFixed(1)} s`,
    `${perStream(residentAfter - residentBefore)}${heap}`,
    `${openedMs.toFixed(0)} ms`,
    `${broken.ended}, ${broken.refused}`,
  );
  for (const stream of streams) stream?.destroy();
  await server.end();
}

const label = (who: string) => `${who}, ${streamCount} streams, ${changes} changes in ${seconds} s`;

test("streams of API keys", async () => {
  await measure(label("svc, keys"), await startSvc("keys"));
});

test("streams of users", async () => {
  await measure(label("svc, users by a membership"), await startSvc("users"));
});

const { POCKETBASE: pocketbase } = process.env;

test.skipIf(pocketbase === undefined)("PocketBase's subscriptions of a superuser", async () => {
  await measure(label("PocketBase, superuser"), await startPocketbase(pocketbase!, "superuser"));
});

test.skipIf(pocketbase === undefined)("PocketBase's subscriptions of a user", async () => {
  await measure(label("PocketBase, a user by a membership"), await startPocketbase(pocketbase!, "user"));
});
