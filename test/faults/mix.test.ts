import { once } from "node:events";
import { appendFileSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished, vi } from "vitest";
import { openLibsql } from "../../src/node/database/libsql.js";
import { Random } from "../property/support/random.js";
import { figure, median, quantile } from "../support/figures.js";
import { spawnServer } from "../support/spawned-server.js";

/**
 * Users of the example project, each on one connection: as soon as an answer is there, the next request is sent. Nothing is
 * refused, and what it costs is written down. It runs in `npm run test:faults` alone.
 */
const seconds = Number(process.env.SECONDS ?? 60);
const connectionCount = 16;
const roomCount = 40;
const messageCount = 10_000;
const random = new Random(Random.seedOfRun());
vi.setConfig({ testTimeout: 900_000 + 10 * seconds * 2_000 });

const password = "correct horse battery staple";

type Kind = "reads" | "writes" | "auth" | "logins";

interface Work {
  readonly kind: Kind;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly status: number;
  /** Takes what the answer says. */
  answered?(data: unknown): void;
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Milliseconds of every answer, by kind. */
type Latencies = Record<Kind, number[]>;

/** A user, their connection, and the messages that nobody else changes. */
class Member {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #credentials: { readonly email: string; readonly password: string };
  #tokens: Tokens | null = null;
  #messages: number[] = [];
  id = "";
  readonly rooms: string[] = [];

  constructor(
    readonly url: string,
    readonly name: string,
  ) {
    this.#credentials = { email: `${name}@example.com`, password };
  }

  /** The milliseconds that the answer took. */
  async perform({ method, path, body, status, answered }: Work): Promise<number> {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const from = performance.now();
    const answer = await ask(this.#agent, this.url + path, method, this.#tokens, sent);
    const ms = performance.now() - from;
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    answered?.((JSON.parse(answer.text) as { data: unknown }).data);
    return ms;
  }

  register(): Work {
    const answered = (data: unknown) => {
      this.#tokens = data as Tokens;
      this.id = (data as { user: { id: string } }).user.id;
    };
    return { ...this.#signIn("/auth/register", this.#credentials), kind: "logins", status: 201, answered };
  }

  /** 70 % reads, 20 % writes, 10 % authentication. */
  choose(): Work {
    const turn = random.next();
    if (turn < 0.7) return this.#read();
    if (turn < 0.9) return this.#write();
    if (turn < 0.96) return this.#signIn("/auth/refresh", { refresh_token: this.#tokens!.refresh_token });
    if (turn < 0.995) return { kind: "auth", method: "GET", path: "/auth/me", status: 200 };
    return { ...this.#signIn("/auth/login", this.#credentials), kind: "logins" };
  }

  #read(): Work {
    const room = random.pick(this.rooms);
    const paths = [
      `/api/messages?where[room_id]=${room}&sort=-created_at`,
      `/api/messages?where[room_id]=${room}&limit=10`,
      "/api/rooms",
      `/api/rooms/${room}`,
      `/api/messages/${random.pick(this.#messages)}`,
      `/api/messages/${random.pick(this.#messages)}`,
    ];
    return { kind: "reads", method: "GET", path: random.pick(paths), status: 200 };
  }

  #write(): Work {
    const turn = random.next();
    if (turn < 0.4) return this.create();
    const id = random.pick(this.#messages);
    const path = `/api/messages/${id}`;
    if (turn < 0.7 || this.#messages.length < 10)
      return { kind: "writes", method: "PATCH", path, body: { body: "changed" }, status: 200 };
    this.#messages = this.#messages.filter((other) => other !== id);
    return { kind: "writes", method: "DELETE", path, status: 200 };
  }

  create(): Work {
    const answered = (data: unknown) => this.#messages.push((data as { id: number }).id);
    const body = { room_id: random.pick(this.rooms), author_id: this.id, body: `${this.name} says this` };
    return { kind: "writes", method: "POST", path: "/api/messages", body, status: 201, answered };
  }

  /** Or else nothing but empty lists would be read. */
  readAll(): Work {
    const path = `/api/messages?filter[room_id][in]=${this.rooms}&limit=1000`;
    const answered = (data: unknown) => expect(data).toHaveLength(1000);
    return { kind: "reads", method: "GET", path, status: 200, answered };
  }

  #signIn(path: string, body: object): Work {
    const answered = (data: unknown) => {
      this.#tokens = data as Tokens;
    };
    return { kind: "auth", method: "POST", path, body, status: 200, answered };
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Not by fetch, which takes more of the processors that the server runs on. */
function ask(
  agent: Agent,
  url: string,
  method: string,
  tokens: Tokens | null,
  body: string | undefined,
): Promise<Answer> {
  const headers = {
    ...(tokens !== null && { Authorization: `Bearer ${tokens.access_token}` }),
    ...(body !== undefined && { "Content-Type": "application/json" }),
  };
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, method, headers }, (response) => {
      text(response).then((read) => resolve({ status: response.statusCode!, text: read }), reject);
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

/** Every user owns some of the rooms and is a member of a quarter of them, which hold 250 messages each. */
async function furnish(file: string, members: readonly Member[]): Promise<void> {
  const rooms = Array.from({ length: roomCount }, (_, i) => `room-${i}`);
  for (const [i, member] of members.entries()) member.rooms.push(...rooms.filter((_, room) => room % 4 === i % 4));
  const owned = rooms.map((room, i) => ({
    sql: "INSERT INTO rooms (id, owner_id, name) VALUES (?, ?, ?)",
    params: [room, members[i % members.length]!.id, room],
  }));
  const joined = members.flatMap((member) =>
    member.rooms.map((room) => ({
      sql: "INSERT INTO room_members (room_id, user_id) VALUES (?, ?)",
      params: [room, member.id],
    })),
  );
  const said = {
    sql: `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${messageCount - 1})
      INSERT INTO messages (room_id, author_id, body, created_at)
      SELECT r.id, r.owner_id, 'this is message number ' || i, 1700000000 + i
      FROM n JOIN rooms r ON r.id = 'room-' || (i % ${roomCount})`,
    params: [],
  };
  const database = openLibsql({ path: file, synchronous: "full", commandLine: true });
  await database.batch([...owned, ...joined, said]);
  await database.close();
}

interface Measured {
  readonly latencies: Latencies;
  /** Anything but the answer that is due. It ends the work of whoever got it. */
  readonly errors: string[];
}

async function work(members: readonly Member[], ms: number): Promise<Measured> {
  const latencies: Latencies = { reads: [], writes: [], auth: [], logins: [] };
  const errors: string[] = [];
  const until = performance.now() + ms;
  const workOf = async (member: Member) => {
    while (performance.now() < until) {
      const chosen = member.choose();
      latencies[chosen.kind].push(await member.perform(chosen));
    }
  };
  await Promise.all(members.map((member) => workOf(member).catch((error) => errors.push(String(error)))));
  return { latencies, errors };
}

/** What `process-figures.js` answers. */
interface ProcessFigures {
  readonly lagP99Ms: number;
  readonly lagMaxMs: number;
  readonly rssMaxMb: number;
}

const ms = (value: number) => value.toFixed(value < 10 ? 1 : 0);

function shown({ latencies, errors }: Measured, { lagP99Ms, lagMaxMs, rssMaxMb }: ProcessFigures): string {
  const kinds = Object.entries(latencies).filter(([, values]) => values.length > 0);
  const count = kinds.reduce((sum, [, values]) => sum + values.length, 0);
  return [
    `requests ${count} (${Math.round(count / seconds)} a second), errors ${errors.length}`,
    ...kinds.map(([kind, values]) => `${kind} p50 ${ms(median(values))} ms, p99 ${ms(quantile(values, 0.99))} ms`),
    `event loop lag p99 ${ms(lagP99Ms)} ms, max ${ms(lagMaxMs)} ms`,
    `memory max ${rssMaxMb.toFixed(0)} MB`,
  ].join("; ");
}

it.skipIf(process.env.SECONDS === undefined)(
  `${seconds} s of 70 % reads, 20 % writes, 10 % auth, by ${connectionCount} connections`,
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "svc-mix-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    for (const file of ["svc.toml", "svc.schema.yaml"]) cpSync(file, join(directory, file));
    appendFileSync(join(directory, "svc.toml"), "\n[api]\ndeadline_ms = 600000\n");
    const server = await spawnServer(directory, "scanned", "./test/support/process-figures.js");
    onTestFinished(async () => void (await server.end("SIGKILL")));
    const members = Array.from({ length: connectionCount }, (_, i) => new Member(server.url, `user${i}`));
    await Promise.all(members.map((member) => member.perform(member.register())));
    await furnish(join(directory, ".svc/data.db"), members);
    const settle = async (member: Member) => {
      for (let i = 0; i < 10; i++) await member.perform(member.create());
      await member.perform(member.readAll());
    };
    await Promise.all(members.map(settle));

    // What is compiled only once is no part of the figures.
    expect((await work(members, 500)).errors).toEqual([]);
    server.process.send("begin");
    const measured = await work(members, seconds * 1000);
    expect(measured.errors).toEqual([]);
    const answer = once(server.process, "message");
    server.process.send("end");
    const [used] = (await answer) as [ProcessFigures];
    expect(await server.end("SIGTERM")).toBe(0);

    const name = `${seconds} s of 70 % reads, 20 % writes, 10 % auth, ${connectionCount} connections`;
    figure("strength", name, shown(measured, used));
  },
);
