import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { EventSource } from "eventsource";
import { expect, onTestFinished, test, vi } from "vitest";
import { Random } from "../../property/support/random.js";
import { client, dataOf } from "../../support/client.js";
import { type Change, Copy, idOf, type Rows, sorted } from "../../support/copy.js";
import { Events, eventParser, type StreamEvent } from "../../support/events.js";
import { patiently } from "../../support/patience.js";
import { member, run } from "../../support/people.js";
import { apiKey, inWorkerd, type SignedIn, serve, type TestServer } from "../../support/server.js";

/** Connections that break off anywhere: what has arrived whole counts, and the rest is told again to whoever comes back. */

const page = "https://app.example.com";
const schema = `
$history: forever
members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer }, user_id: { type: text } }
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer }
    body: { type: text }
  indexes: [{ columns: [room_id] }]
`;
const config = `
[auth]
cookie_mode = true
[cors]
allowed_origins = ["${page}"]
[rules.messages]
read = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"
`;
/** Pages of two, so that whole states take several events. */
const path = `/api/_svc/live?q=${encodeURIComponent(JSON.stringify({ tables: { messages: {} }, limit: 2 }))}`;

async function world() {
  const server = await serve({ schema, config });
  await run(server, "INSERT INTO members VALUES (1, 'ann'), (2, 'ann')");
  // Of several bytes a character, so that a cut can be in the middle of one.
  await run(
    server,
    "INSERT INTO messages VALUES (1, 1, 'æ'), (2, 1, '€ and\nanother line'), (3, 2, '😀'), (4, 2, 'd'), (5, 1, 'e'), (6, 3, 'of others')",
  );
  return { server, ann: await member(server, "ann") };
}

/** The messages that a list shows. */
async function listed(server: TestServer, { bearer }: SignedIn): Promise<Rows> {
  const rows = dataOf<{ id: number }[]>(await client(server, bearer).get("/api/messages?limit=1000"));
  return new Map(rows.map((row) => [idOf("messages", { id: row.id }), row]));
}

const take = (copy: Copy, { event, data, id }: StreamEvent) => {
  expect(event).toBe("change");
  copy.take(data.changes as Change[], id);
};

test("a stream that is cut after any of its bytes is gone on with by Last-Event-ID, to exactly the rows", async () => {
  const { server, ann } = await world();
  const response = await server.request(path, { headers: ann.bearer });
  const reader = response.body!.getReader();
  let bytes = Buffer.alloc(0);
  /** Reads on until so many whole states have come, each with an id. */
  const readUntil = async (states: number) => {
    while (bytes.toString("latin1").split("\nid: ").length <= states || !bytes.toString().endsWith("\n\n"))
      bytes = Buffer.concat([bytes, (await reader.read()).value!]);
  };
  const key = client(server, await apiKey(server, "project:backend"));
  await readUntil(1);
  await key.patch("/api/messages/2", { body: "other, ünd" });
  await readUntil(2);
  await key.delete("/api/members/_svc/key?room_id=2&user_id=ann");
  await readUntil(3);
  await key.post("/api/messages", { id: 7, room_id: 1, body: "last" });
  await readUntil(4);
  await reader.cancel();
  // What is written after the cut, too: a row that the client may have had goes, and another comes.
  await key.delete("/api/messages/1");
  await key.post("/api/messages", { id: 8, room_id: 1, body: "after the cut" });
  const expected = sorted(await listed(server, ann));

  const copies = new Map<string, Copy>();
  for (let cut = 0; cut <= bytes.length; cut++) {
    const copy = new Copy();
    const decoder = new TextDecoder();
    const feed = eventParser((event) => take(copy, event));
    // One byte at a time, and the end of what came is the end of the connection.
    for (const byte of bytes.subarray(0, cut)) feed(decoder.decode(Uint8Array.of(byte), { stream: true }));
    copy.rewind();
    // Copies of one state are the same, wherever the cut was.
    const same = copies.get(copy.lastId ?? "") ?? copy;
    expect(sorted(copy.whole)).toEqual(sorted(same.whole));
    copies.set(copy.lastId ?? "", copy);
  }
  expect(copies.size).toBe(5);
  for (const [lastId, copy] of copies) {
    const events = new Events(await server.request(path, { headers: { ...ann.bearer, "Last-Event-ID": lastId } }));
    while (events.lastId === null) take(copy, (await events.next())!);
    expect(sorted(copy.whole)).toEqual(expected);
    await events.cancel();
  }
});

/**
 * A server in front of the one under test that breaks the connection of a stream off, each time after as many bytes as `cuts`
 * says; after the last of them it lets streams be. Its streams say that clients come back at once.
 */
async function cutting(server: TestServer, cuts: number[]) {
  const lastIds: (string | undefined)[] = [];
  const proxy = createServer(async ({ url, headers }, answer) => {
    const gone = new AbortController();
    answer.once("close", () => gone.abort());
    lastIds.push(headers["last-event-id"] as string | undefined);
    const passed = Object.entries(headers).filter(([name]) => /^(cookie|origin|last-event-id)$/.test(name));
    const response = await server.request(url!, { headers: passed as [string, string][] });
    answer.writeHead(response.status, Object.fromEntries(response.headers));
    answer.write("retry: 1\n\n");
    const reader = response.body!.getReader();
    gone.signal.addEventListener("abort", () => void reader.cancel().catch(() => undefined));
    let left = cuts.shift() ?? Number.POSITIVE_INFINITY;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const part = value.subarray(0, left);
      left -= part.length;
      await new Promise((sent) => answer.write(part, sent));
      if (left === 0) answer.destroy();
    }
    answer.end();
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, lastIds };
}

test("an EventSource with cookies comes back after cuts at arbitrary bytes, and ends with exactly the rows", async () => {
  const { server, ann } = await world();
  const random = new Random(Random.seedOfRun());
  // A Worker may not be told that a client has gone, and a session has ten streams.
  const cutCount = inWorkerd ? 8 : 60;
  const cuts = random.times(cutCount, () => random.int(1, 3000));
  const { url, lastIds } = await cutting(server, cuts);
  const cookie = { Cookie: `svc_access=${ann.accessToken}`, Origin: page };
  // Before the source is made: while the test waits for anything, events come, and nobody would listen yet.
  const key = client(server, await apiKey(server, "project:backend"));
  const source = new EventSource(url + path, {
    withCredentials: true,
    // A browser's jar, and the page that it is on.
    fetch: (to, init) => fetch(to, { ...init, headers: { ...init.headers, ...cookie } }),
  });
  onTestFinished(() => source.close());
  const copy = new Copy();
  let states = 0;
  const done = new Promise<void>((resolve, reject) => {
    source.addEventListener("error", ({ code, message }) => {
      copy.rewind();
      if (source.readyState === source.CLOSED) reject(new Error(`${code}: ${message}`));
    });
    for (const event of ["reset", "bye"])
      source.addEventListener(event, ({ data }) => reject(new Error(`${event} ${data}`)));
    source.addEventListener("change", (told) => {
      const { changes, more } = JSON.parse(told.data) as { changes: Change[]; more: boolean };
      try {
        // An EventSource says the last id with every event.
        copy.take(changes, more ? null : told.lastEventId);
      } catch (error) {
        reject(error);
      }
      if (more) return;
      states++;
      if (copy.whole.has(idOf("messages", { id: lastMessage }))) resolve();
    });
  });
  /** What the client has come to: connections and whole states. */
  const came = () => lastIds.length + states;
  for (let id = 10; cuts.length > 0; id++) {
    const before = came();
    if (random.chance(0.4)) await key.patch(`/api/messages/${random.int(1, id)}`, { body: `again ${id} 😀` });
    if (random.chance(0.3)) await key.delete(`/api/messages/${random.int(1, id)}`);
    if (random.chance(0.2))
      await (random.chance(0.5)
        ? key.delete("/api/members/_svc/key?room_id=2&user_id=ann")
        : key.post("/api/members", { room_id: 2, user_id: "ann" }));
    // One that is told in any case, so that there is a state to wait for, or a cut on its way.
    await key.post("/api/messages", { id, room_id: 1, body: `message ${id} €` });
    await Promise.race([done, vi.waitUntil(() => came() > before, patiently)]);
  }
  await key.post("/api/messages", { id: lastMessage, room_id: 1, body: "the last" });
  await done;
  expect(sorted(copy.whole)).toEqual(sorted(await listed(server, ann)));
  // The last cut may not have been come to.
  expect(lastIds.length).toBeGreaterThanOrEqual(cutCount);
  // It was not always the beginning that it came back to.
  expect(new Set(lastIds).size).toBeGreaterThan(1);
});

/** Its coming ends the test. */
const lastMessage = 1_000_000;
