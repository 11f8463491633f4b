import { randomBytes, randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import type { Request } from "autocannon";
import { test } from "vitest";
import { figure, median } from "../support/figures.js";
import { type Chat, makeProject, numbers } from "./chat.js";
import { type Asked, connections, cpuSeconds, rate, send, startSvc } from "./contestant.js";
import { medianInterval } from "./median-interval.js";
import { startBatch } from "./pocketbase.js";

const pocketbase = process.env.POCKETBASE;

/** Even, so that each way to write is first as often as last. */
const rounds = 2 * Math.ceil(Math.max(6, Number(process.env.ROUNDS ?? 10)) / 2);
const rows = 1_000;
const batchRows = 100;
/** Of one turn of 16 clients, so many that it takes a second; one client makes a quarter of them. */
const creates = 6_400;
const transfers = 640;
const accounts = 1_000;

const schema = `
members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer }, user_id: { type: text } }
messages:
  columns:
    id:        { type: integer, primary_key: true }
    room_id:   { type: integer, not_null: true }
    author_id: { type: text, not_null: true }
    body:      { type: text, not_null: true }
  indexes: [{ columns: [room_id] }]
replies:
  columns:
    id:        { type: integer, primary_key: true }
    parent_id: { type: integer, not_null: true }
    author_id: { type: text, not_null: true }
    body:      { type: text, not_null: true }
accounts:
  columns:
    id:       { type: integer, primary_key: true }
    owner_id: { type: text, not_null: true }
    cents:    { type: integer, not_null: true }
transfers:
  columns:
    id:      { type: integer, primary_key: true }
    from_id: { type: integer, not_null: true }
    to_id:   { type: integer, not_null: true }
    cents:   { type: integer, not_null: true }
$operations:
  transfer:
    params: { from: integer, to: integer, cents: { type: integer, check: "cents > 0" } }
    allow: "exists(accounts a where a.id = params.from and a.owner_id = auth.id)"
    steps:
      - { sql: "update accounts set cents = cents - :cents where id = :from and cents >= :cents", expect: 1 }
      - { sql: "update accounts set cents = cents + :cents where id = :to", expect: 1, else: not_found }
      - { sql: "insert into transfers (from_id, to_id, cents) values (:from, :to, :cents) returning id", returns: one }
`;

const config = (synchronous: "full" | "normal") => `
[database]
synchronous = "${synchronous}"
[rules.messages]
read = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"
create = "new.author_id = auth.id and exists(members m where m.room_id = new.room_id and m.user_id = auth.id)"
[rules.replies]
read = "row.author_id = auth.id"
create = "new.author_id = auth.id and exists(replies r where r.id = new.parent_id and r.author_id = auth.id)"
[rules.accounts]
read = "row.owner_id = auth.id"
update = "row.owner_id = auth.id"
[rules.transfers]
read = "exists(accounts a where a.id = row.from_id and a.owner_id = auth.id)"
create = "exists(accounts a where a.id = new.from_id and a.owner_id = auth.id)"
`;

const fill = (userId: string) => [
  { sql: "INSERT INTO members VALUES (7, ?)", params: [userId] },
  { sql: "INSERT INTO replies VALUES (1, 1, ?, 'the first')", params: [userId] },
  {
    sql: `${numbers(accounts)} INSERT INTO accounts (owner_id, cents) SELECT ?, 1000000000 FROM n`,
    params: [userId],
  },
];

/** One way to do a piece of work, and how many requests of how many clients that takes. A turn does it `repeats` times. */
interface Way {
  readonly repeats: number;
  readonly name: string;
  readonly asked: Asked<"create">;
  readonly requests: number;
  readonly clients: number;
}

/** Seconds that one turn of a way takes, divided by its repetitions. */
async function secondsOf(way: Way): Promise<number> {
  const amount = way.requests * way.repeats;
  const options = { connections: way.clients, amount, sampleInt: 10, timeout: 60 };
  return way.requests / (await rate(way.asked, "create", options));
}

/** What is measured of each way in each round. Every other round goes backwards: what changes in time meets all alike. */
async function inTurns<T>(ways: readonly Way[], measure: (way: Way) => Promise<T>): Promise<readonly (readonly T[])[]> {
  const measured = ways.map(() => [] as T[]);
  // By then what is hot has been compiled.
  for (let i = 0; i < 2; i++) for (const way of ways) await measure(way);
  for (let round = 0; round < rounds; round++)
    for (const [i, way] of round % 2 === 0 ? [...ways.entries()] : [...ways.entries()].toReversed())
      measured[i]!.push(await measure(way));
  return measured;
}

/** The median of the ratios of single rounds, with its interval of 95 %. */
function ratioOf(times: readonly number[], others: readonly number[]): string {
  const { median: middle, low, high } = medianInterval(times.map((time, i) => time / others[i]!));
  return `${middle.toFixed(2)} x (${low.toFixed(2)} to ${high.toFixed(2)})`;
}

const ms = (times: readonly number[]) => `${(median(times) * 1000).toFixed(0)} ms`;

async function served(
  synchronous: "full" | "normal",
  measure: (svc: Awaited<ReturnType<typeof startSvc>>, chat: Chat) => Promise<void>,
): Promise<void> {
  const chat = await makeProject({ schema, config: config(synchronous) }, fill);
  try {
    const svc = await startSvc(chat);
    try {
      await measure(svc, chat);
    } finally {
      await svc.end();
    }
  } finally {
    rmSync(chat.directory, { recursive: true, force: true });
  }
}

const times = <T>(howMany: number, value: T): readonly T[] => Array.from({ length: howMany }, () => value);

test("1,000 rows at once, and one by one", async () => {
  const peer = pocketbase === undefined ? null : await startBatch(pocketbase, rows);
  try {
    for (const synchronous of ["full", "normal"] as const)
      await served(synchronous, async (svc, { userId }) => {
        const message = { room_id: 7, author_id: userId, body: "a message that is new" };
        const reply = { parent_id: 1, author_id: userId, body: "a reply that is new" };
        const create = { op: "create", table: "messages", values: message };
        const post = (path: string, body: object) =>
          asked(
            svc,
            send("POST", () => path, body),
          );
        const ways: Way[] = [
          {
            name: "one request with 1,000 rows",
            asked: post("/api/messages", times(rows, message)),
            requests: 1,
            clients: 1,
            repeats: 10,
          },
          {
            name: "one request with 1,000 rows, rule that reads the table itself",
            asked: post("/api/replies", times(rows, reply)),
            requests: 1,
            clients: 1,
            repeats: 10,
          },
          {
            name: "10 batches of 100 creates, in sequence",
            asked: post("/api/_svc/batch", { operations: times(batchRows, create) }),
            requests: rows / batchRows,
            clients: 1,
            repeats: 1,
          },
          {
            name: "1,000 creates, in sequence",
            asked: post("/api/messages", message),
            requests: rows,
            clients: 1,
            repeats: 1,
          },
          {
            name: "1,000 creates by 16 clients",
            asked: post("/api/messages", message),
            requests: rows,
            clients: connections,
            repeats: 2,
          },
        ];
        if (peer !== null)
          ways.push({
            name: "PocketBase, a batch of 1,000",
            asked: asked(peer, peer.batch),
            requests: 1,
            clients: 1,
            repeats: 10,
          });
        const measured = await inTurns(ways, secondsOf);
        for (const [i, { name }] of ways.entries())
          figure(
            "bulk",
            `${name}, "${synchronous}"`,
            ms(measured[i]!),
            `${(rows / median(measured[i]!)).toFixed(0)} /s`,
            ratioOf(measured[i]!, measured[0]!),
          );
      });
  } finally {
    await peer?.end();
  }
});

test.each(["full", "normal"] as const)('a create with an Idempotency-Key, "%s"', async (synchronous) => {
  await served(synchronous, async (svc, { userId }) => {
    const plain = send("POST", () => "/api/messages", {
      room_id: 7,
      author_id: userId,
      body: "a message that is new",
    });
    const withHeader = (name: string, value: () => string) => (): Request => {
      const request = plain();
      return { ...request, headers: { ...request.headers, [name]: value() } };
    };
    const keys = [
      // As svc's client makes them, and as many others do.
      {
        name: "keys that begin with the time",
        make: () => `${Date.now().toString(16)}-${randomBytes(16).toString("hex")}`,
      },
      { name: "random keys", make: randomUUID },
    ];
    for (const clients of [1, connections]) {
      const requests = clients === 1 ? creates / 4 : creates;
      const way = (create: () => Request): Way => ({
        name: "",
        asked: asked(svc, create),
        requests,
        repeats: 1,
        clients,
      });
      // The same bytes, so that whoever asks has as much to do: the difference is the server's.
      const ways = keys.flatMap(({ make }) => [
        way(withHeader("Idempotency-Key", make)),
        way(withHeader("X-Unread-Text-1", make)),
      ]);
      const measured = await inTurns([...ways, way(plain)], async (one) => {
        const before = cpuSeconds(svc.pid);
        return { seconds: await secondsOf(one), cpu: cpuSeconds(svc.pid) - before };
      });
      const seconds = measured.map((turns) => turns.map((turn) => turn.seconds));
      const cpu = measured.map((turns) => turns.map((turn) => turn.cpu));
      const row = (name: string, i: number, control: number, bound: string) =>
        figure(
          "idempotency",
          `${name}, ${clients === 1 ? "one client" : `${clients} clients`}, "${synchronous}"`,
          `${(requests / median(seconds[i]!)).toFixed(0)} /s`,
          `${(requests / median(seconds[control]!)).toFixed(0)} /s`,
          ratioOf(seconds[i]!, seconds[control]!),
          ratioOf(cpu[i]!, cpu[control]!),
          bound,
        );
      for (const [k, { name }] of keys.entries()) row(name, 2 * k, 2 * k + 1, "≤ 1.15 x");
      row("an unused header, compared with none", 1, 4, "");
    }
  });
});

test("three steps of an operation, and as requests", async () => {
  for (const synchronous of ["full", "normal"] as const)
    await served(synchronous, async (svc) => {
      const account = () => 1 + Math.floor(Math.random() * accounts);
      const json = { "Content-Type": "application/json" };
      const request = (method: "POST" | "PATCH", path: string, body: object): Request => ({
        method,
        path,
        body: JSON.stringify(body),
        headers: json,
      });
      const transfer = () => {
        const from = account();
        return { from, to: (from % accounts) + 1, cents: 1 };
      };
      // A request can only say what a row shall be, not by how much it changes.
      const parts = () => {
        const { from, to, cents } = transfer();
        return [
          { op: "update", table: "accounts", key: { id: from }, set: { cents: 999_999_999 } },
          { op: "update", table: "accounts", key: { id: to }, set: { cents: 1_000_000_001 } },
          { op: "create", table: "transfers", values: { from_id: from, to_id: to, cents } },
        ] as const;
      };
      const waiting: Request[] = [];
      const single = (): Request => {
        if (waiting.length === 0)
          for (const part of parts())
            waiting.push(
              part.op === "update"
                ? request("PATCH", `/api/accounts/${part.key.id}`, part.set)
                : request("POST", "/api/transfers", part.values),
            );
        return waiting.shift()!;
      };
      for (const clients of [1, connections]) {
        const way = (name: string, requests: () => Request, each: number) => ({
          name,
          asked: asked(svc, requests),
          requests: (transfers / (clients === 1 ? 4 : 1)) * each,
          repeats: 1,
          clients,
        });
        const ways = [
          way("an operation", () => request("POST", "/ops/transfer", transfer()), 1),
          way("a batch", () => request("POST", "/api/_svc/batch", { operations: parts() }), 1),
          way("three requests", single, 3),
        ];
        const measured = await inTurns(ways, secondsOf);
        for (const [i, { name }] of ways.entries())
          figure(
            "three steps",
            `${name}, ${clients === 1 ? "one client" : `${clients} clients`}, "${synchronous}"`,
            `${((1000 * median(measured[i]!)) / (ways[0]!.requests / clients)).toFixed(2)} ms`,
            `${(ways[0]!.requests / median(measured[i]!)).toFixed(0)} /s`,
            ratioOf(measured[i]!, measured[0]!),
          );
      }
    });
});

/** One kind of work of a server that runs. */
function asked({ url, headers }: Pick<Asked<"create">, "url" | "headers">, create: () => Request) {
  return { url, headers, prepare: async () => {}, requests: { create } };
}
