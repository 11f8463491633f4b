import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { apiKeyRandomBytes, newApiKey } from "../../src/auth/callers/api-key.js";
import { insertServiceKey } from "../../src/auth/store/service-keys.js";
import { hashSecret } from "../../src/encoding/hash-secret.js";
import { openLibsql } from "../../src/node/database/libsql.js";
import { systemRandom } from "../../src/node/system.js";
import { Random } from "../property/support/random.js";
import { type Change, Copy, idOf, NotFollowedError, type Pulled, type Rows, sorted } from "../support/copy.js";
import { eventParser, type StreamEvent } from "../support/events.js";
import { figure } from "../support/figures.js";
import { patiently } from "../support/patience.js";
import type { SpawnedServer } from "../support/spawned-server.js";
import { type Asked, ask, start } from "./killed-server.js";

/**
 * A server that is killed again and again while some write and others keep copies of what they may see, by pages and by
 * streams. After each restart every copy goes on from its last checkpoint, and ends with exactly the rows of a list.
 * `npm run test:faults` runs fifty rounds.
 */
const rounds = Number(process.env.ROUNDS ?? 2);
const writerCount = 8;
const followersOfAKind = 4;
const seed = Random.seedOfRun();
const random = new Random(seed);
vi.setConfig({ testTimeout: 900_000 + 10 * rounds * 10_000 });

const schema = `
$history: forever
members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer }, user_id: { type: text }, since: { type: text } }
messages:
  columns:
    id: { type: text, primary_key: true }
    room_id: { type: integer, not_null: true }
    body: { type: text }
  indexes: [{ columns: [room_id] }]
`;
// Access tokens outlast the run.
const config = `
[database]
synchronous = "full"
[auth]
allow_insecure_dev_secret = true
dev_secret = "a secret of the fault tests, 32 bytes"
access_token_ttl_secs = 3600
[rules.members]
read = "row.user_id = auth.id"
[rules.messages]
read = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"
`;
const tables = { members: {}, messages: {} };
const keysOf = { members: ["room_id", "user_id"], messages: ["id"] } as const;
type TableName = keyof typeof tables;

/** Of the key of a row. */
const idOfRow = (table: TableName, row: Record<string, unknown>) =>
  idOf(table, Object.fromEntries(keysOf[table].map((column) => [column, row[column]])));

/** The rows that lists show to whoever has the token. */
async function listed(url: string, token: string): Promise<Rows> {
  const rows: Rows = new Map();
  for (const table of Object.keys(tables) as TableName[]) {
    const answer = await ask(url, { method: "GET", path: `/api/${table}?limit=1000`, token });
    expect(answer?.status).toBe(200);
    const data = answer!.data as Record<string, unknown>[];
    // A page holds them all.
    expect(data.length).toBeLessThan(1000);
    for (const row of data) rows.set(idOfRow(table, row), row);
  }
  return rows;
}

interface Write {
  readonly request: Asked;
  readonly status: number;
  /** The row afterwards, by `idOf`; null where it is gone. */
  readonly id: string;
  readonly row: object | null;
}

/** Somebody with an API key who changes messages and who is a member of one room: rows that nobody else writes. */
class Writer {
  readonly token = newApiKey(systemRandom.bytes(apiKeyRandomBytes));
  readonly #random: Random;
  #writes = 0;
  /** What was acknowledged of each row. */
  readonly #rows = new Map<string, object>();
  #inDoubt: Write | null = null;
  acknowledged = 0;
  unanswered = 0;

  constructor(
    readonly number: number,
    readonly users: readonly string[],
  ) {
    this.#random = new Random(seed + number + 1);
  }

  /** Works until the server is killed, and throws where it refuses anything. */
  async work(url: string, isKilled: () => boolean): Promise<void> {
    while (!isKilled()) {
      const write = this.#choose();
      const answer = await ask(url, { ...write.request, token: this.token });
      if (answer !== null && answer.status !== write.status)
        throw new Error(`${write.request.method} ${write.request.path} is answered ${answer.status}`);
      if (answer === null && !isKilled()) throw new Error(`${write.request.path} gets no answer`);
      if (answer === null) {
        this.#inDoubt = write;
        this.unanswered++;
        return;
      }
      this.#note(write);
      this.acknowledged++;
    }
  }

  #note({ id, row }: Write): void {
    if (row === null) this.#rows.delete(id);
    else this.#rows.set(id, row);
  }

  #choose(): Write {
    const body = `write ${this.#writes++} of ${this.number}`;
    return this.#random.chance(0.2) ? this.#changeMember(body) : this.#changeMessage(body);
  }

  #changeMember(since: string): Write {
    const row = { room_id: this.number, user_id: this.#random.pick(this.users), since };
    const id = idOfRow("members", row);
    if (!this.#rows.has(id))
      return { request: { method: "POST", path: "/api/members", body: row }, status: 201, id, row };
    const path = `/api/members/_svc/key?room_id=${row.room_id}&user_id=${row.user_id}`;
    return { request: { method: "DELETE", path }, status: 200, id, row: null };
  }

  #changeMessage(body: string): Write {
    const random = this.#random;
    const key = `w${this.number}-${random.int(1, 30)}`;
    const id = idOf("messages", { id: key });
    const path = `/api/messages/${key}`;
    const values = { room_id: random.int(0, writerCount - 1), body };
    const row = { id: key, ...values };
    if (!this.#rows.has(id))
      return { request: { method: "POST", path: "/api/messages", body: row }, status: 201, id, row };
    return random.chance(0.3)
      ? { request: { method: "DELETE", path }, status: 200, id, row: null }
      : { request: { method: "PATCH", path, body: values }, status: 200, id, row };
  }

  /** What is not as it was acknowledged; a write without an answer has happened as a whole, or not at all. */
  check(there: Rows): string[] {
    const wrong: string[] = [];
    if (this.#inDoubt !== null) {
      const { id, row } = this.#inDoubt;
      if (JSON.stringify(there.get(id) ?? null) === JSON.stringify(row)) this.#note(this.#inDoubt);
      this.#inDoubt = null;
    }
    const own = [...there.keys()].filter(
      (id) => id.startsWith(`messages {"id":"w${this.number}-`) || id.startsWith(`members {"room_id":${this.number},`),
    );
    for (const id of new Set([...own, ...this.#rows.keys()])) {
      const [acknowledged, found] = [this.#rows.get(id), there.get(id)].map((row) => JSON.stringify(row));
      if (acknowledged !== found) wrong.push(`${id}: ${acknowledged} was answered, ${found} is there`);
    }
    return wrong;
  }
}

/** What clients were told. */
const counts = { pages: 0, events: 0, changes: 0, removals: 0, comebacks: 0 };

function count(changes: readonly Change[]): void {
  counts.changes += changes.length;
  counts.removals += changes.filter(({ op }) => op === "remove").length;
}

/** Somebody who keeps a copy. */
interface Follower {
  readonly name: string;
  readonly token: string;
  /** Until the server is killed. Throws where it is told something wrong. */
  work(url: string, isKilled: () => boolean): Promise<void>;
  /** Goes on while nobody writes, until it has everything. */
  settle(url: string): Promise<Rows>;
}

/** Asks for pages of any size, and at times waits for one. */
class Puller implements Follower {
  readonly #random: Random;
  readonly #copy = new Copy();
  /** Whether further pages of the same moment follow. */
  #isWithin = false;

  constructor(
    readonly name: string,
    readonly token: string,
    seedOfPuller: number,
  ) {
    this.#random = new Random(seedOfPuller);
  }

  async work(url: string, isKilled: () => boolean): Promise<void> {
    while (!isKilled()) {
      const wait_ms = this.#random.pick([0, 50, 20_000]);
      const page = await this.#pull(url, wait_ms);
      if (page === null && !isKilled()) throw new Error(`${this.name}: a pull gets no answer`);
    }
  }

  async settle(url: string): Promise<Rows> {
    counts.comebacks++;
    // The pages that are left of a round are of its moment, which was before the kill.
    if (this.#isWithin) await this.#finish(url);
    await this.#finish(url);
    return this.#copy.whole;
  }

  async #finish(url: string): Promise<void> {
    do {
      const page = await this.#pull(url, 0);
      if (page === null) throw new Error(`${this.name}: a pull gets no answer`);
    } while (this.#isWithin);
  }

  async #pull(url: string, wait_ms: number): Promise<Pulled | null> {
    const limit = this.#random.pick([1, 2, 3, 7, 50, 500]);
    const body = { tables, checkpoint: this.#copy.lastId, limit, wait_ms };
    const answer = await ask(url, { method: "POST", path: "/api/_svc/pull", body, token: this.token });
    if (answer === null) return null;
    if (answer.status !== 200) throw new Error(`${this.name}: a pull is answered ${answer.status}`);
    const page = answer.data as Pulled;
    if (page.reset !== null) throw new NotFollowedError(`${this.name}: a reset, ${page.reset}`);
    if (page.changes.length > limit) throw new NotFollowedError(`${this.name}: more than ${limit} changes`);
    // A page in the middle of a state can be gone on from, too.
    this.#copy.take(page.changes, page.checkpoint);
    this.#isWithin = page.more;
    counts.pages++;
    count(page.changes);
    return page;
  }
}

/** Follows a stream, leaves it at times, and comes back with Last-Event-ID. */
class Listener implements Follower {
  readonly #random: Random;
  readonly #copy = new Copy();

  constructor(
    readonly name: string,
    readonly token: string,
    seedOfListener: number,
  ) {
    this.#random = new Random(seedOfListener);
  }

  async work(url: string, isKilled: () => boolean): Promise<void> {
    while (!isKilled()) {
      let left = this.#random.int(1, 80);
      const hasLeft = await this.#follow(url, () => --left === 0);
      if (!hasLeft && !isKilled()) throw new Error(`${this.name}: a stream breaks off`);
    }
  }

  async settle(url: string): Promise<Rows> {
    counts.comebacks++;
    if (!(await this.#follow(url, ({ id }) => id !== null))) throw new Error(`${this.name}: a stream breaks off`);
    return this.#copy.whole;
  }

  /** Whether it has read an event after which it is to leave; false where the connection broke off before. */
  async #follow(url: string, isLast: (event: StreamEvent) => boolean): Promise<boolean> {
    const leaving = new AbortController();
    const { lastId } = this.#copy;
    let isDone = false;
    const feed = eventParser((event) => {
      // What came with the last one is left unread.
      if (isDone) return;
      this.#take(event);
      isDone = isLast(event);
    });
    try {
      const body = await this.#open(url, lastId, leaving.signal);
      if (body === null) return false;
      const decoder = new TextDecoder();
      for await (const part of untilBroken(body)) {
        feed(decoder.decode(part, { stream: true }));
        if (isDone) break;
      }
      return isDone;
    } finally {
      leaving.abort();
      this.#copy.rewind();
    }
  }

  async #open(url: string, lastId: string | null, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const asked = JSON.stringify({ tables, limit: this.#random.pick([1, 3, 50, 500]) });
    const headers = {
      Authorization: `Bearer ${this.token}`,
      ...(lastId !== null && { "Last-Event-ID": lastId }),
    };
    const path = `/api/_svc/live?q=${encodeURIComponent(asked)}`;
    const response = await fetch(url + path, { headers, signal }).catch(() => null);
    if (response !== null && response.status !== 200)
      throw new Error(`${this.name}: a stream is answered ${response.status}`);
    return response?.body ?? null;
  }

  #take({ event, data, id }: StreamEvent): void {
    if (event !== "change") throw new NotFollowedError(`${this.name}: ${event} ${JSON.stringify(data)}`);
    const changes = data.changes as Change[];
    this.#copy.take(changes, id);
    counts.events++;
    count(changes);
  }
}

/** The parts of a body up to where its connection ends, however it does. */
async function* untilBroken(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (;;) {
    const part = await reader.read().catch(() => null);
    if (part === null || part.done) return;
    yield part.value;
  }
}

/** Lets all work until some more is acknowledged, and kills the server in the middle of it. */
async function killAtWork(
  server: SpawnedServer,
  writers: readonly Writer[],
  followers: readonly Follower[],
): Promise<void> {
  let killed = false;
  const acknowledged = () => writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
  const enough = acknowledged() + random.int(20, 400);
  const work = Promise.all([...writers, ...followers].map((one) => one.work(server.url, () => killed)));
  await Promise.race([work, vi.waitUntil(() => acknowledged() >= enough, patiently)]);
  killed = true;
  await server.end("SIGKILL");
  await work;
}

async function register(url: string, name: string): Promise<{ id: string; token: string }> {
  const body = { email: `${name}@example.com`, password: "correct horse battery staple" };
  const answer = await ask(url, { method: "POST", path: "/auth/register", body });
  expect(answer?.status).toBe(201);
  const { user, access_token } = answer!.data as { user: { id: string }; access_token: string };
  return { id: user.id, token: access_token };
}

it(`${rounds} times kill -9: copies go on from their last checkpoints, without a reset, and end with the rows of a list`, async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-sync-kill-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "svc.toml"), config);
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  let server = await start(directory);
  const { url } = server;
  const users = await Promise.all(Array.from({ length: 2 * followersOfAKind }, (_, i) => register(url, `user${i}`)));
  const followers = users.map(({ token }, i) =>
    i < followersOfAKind
      ? new Puller(`puller ${i}`, token, seed + 100 + i)
      : new Listener(`listener ${i}`, token, seed + 100 + i),
  );
  const ids = users.map(({ id }) => id);
  const writers = Array.from({ length: writerCount }, (_, i) => new Writer(i, ids));
  const database = openLibsql({
    path: join(directory, ".svc/data.db"),
    synchronous: "full",
    commandLine: true,
  });
  const keys = writers.map(async ({ token, number }) =>
    insertServiceKey({
      id: `k${number}`,
      name: "writer",
      hash: await hashSecret(token),
      scopes: ["project:backend"],
      createdAtMs: 0,
      expiresAtMs: null,
      createdBy: "cli",
    }),
  );
  await database.batch(await Promise.all(keys));
  await database.close();

  const findings: string[] = [];
  for (let round = 0; round < rounds; round++) {
    await killAtWork(server, writers, followers);
    server = await start(directory);
    const there = await listed(server.url, writers[0]!.token);
    for (const writer of writers) findings.push(...writer.check(there));
    await Promise.all(
      followers.map(async (follower) => {
        const [has, sees] = [await follower.settle(server.url), await listed(server.url, follower.token)];
        const [own, shown] = [sorted(has), sorted(sees)];
        for (const row of own) if (!shown.includes(row)) findings.push(`${follower.name} has ${row}`);
        for (const row of shown) if (!own.includes(row)) findings.push(`${follower.name} lacks ${row}`);
      }),
    );
    expect(findings, `SEED=${seed}, round ${round}`).toEqual([]);
  }
  expect(await server.end("SIGTERM")).toBe(0);

  const sum = (of: (writer: Writer) => number) => writers.reduce((total, writer) => total + of(writer), 0);
  const { pages, events, changes, removals, comebacks } = counts;
  expect(comebacks).toBe(rounds * followers.length);
  for (const some of Object.values(counts)) expect(some).toBeGreaterThan(0);
  figure(
    "strength",
    `kill -9, ${rounds} rounds, ${writerCount} writers, ${followersOfAKind} copies by pull and ${followersOfAKind} by streams`,
    `writes acknowledged ${sum((writer) => writer.acknowledged)}, unanswered ${sum((writer) => writer.unanswered)}; pages ${pages}, events ${events}, with ${changes} changes, ${removals} of them removals; lost 0; resets 0; every copy was exact after each round`,
  );
});
