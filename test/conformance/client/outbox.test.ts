import { expect, test } from "vitest";
import type { Client } from "../../../src/client/client.js";
import {
  type Conflict,
  createOutbox,
  memoryOutboxStorage,
  type OutboxOptions,
  type OutboxStorage,
  type Refused,
} from "../../../src/client/outbox.js";
import { type Browser, resetInBody } from "../../support/browser.js";
import { rowsOf, run } from "../../support/people.js";
import { apiKey } from "../../support/server.js";
import { browse, credentials, type Tables } from "./support.js";

const pushPath = "/api/_svc/push";
const bob = { email: "bob@example.com", password: "correct horse" };

async function signedIn(options: OutboxOptions<Tables> = {}) {
  const { server, browser } = await browse();
  const client = browser.tab<Tables>();
  await client.auth.register(credentials);
  const storage = memoryOutboxStorage();
  const open = (by: Client<Tables> = client) => createOutbox(by, { storage, ...options });
  return { server, browser, client, storage, open, notes: client.table("notes") };
}

const down = async (): Promise<Response> => {
  throw new TypeError("fetch failed");
};

/** Pushes fail from now on; everything else goes through. */
function failPushes(browser: Browser, fail: (pass: () => Promise<Response>) => Promise<Response>): void {
  browser.network = (pass, request) => (request === `POST ${pushPath}` ? fail(pass) : pass());
}
const mend = (browser: Browser) => {
  browser.network = (pass) => pass();
};

const refused = (status: number, code: string, headers = {}) =>
  Response.json({ error: { code, message: "not now" } }, { status, headers });

test("what is written while the server cannot be reached is sent in its order once it can", async () => {
  const { browser, open, notes, client } = await signedIn();
  const outbox = open();
  await notes.create([{ body: "a" }, { body: "b" }]);
  browser.network = down;
  const kept = [
    await outbox.update("notes", { id: 1 }, { stars: 1 }),
    await outbox.update("notes", { id: 1 }, { stars: 2 }, { stars: 1 }),
    await outbox.delete("notes", { id: 2 }),
    await outbox.create("notes", { body: "c" }),
    await outbox.mutate([
      { op: "create", table: "notes", values: { body: "d" } },
      { op: "create", table: "comments", values: { note: { $ref: "0.id" } } },
    ]),
  ];
  expect(outbox.pending.map(({ name }) => name)).toEqual(kept.map(({ name }) => name));
  expect(outbox.pending[2]!.operations).toEqual([{ op: "delete", table: "notes", key: { id: 2 } }]);
  mend(browser);
  await outbox.whenSent();
  expect(outbox.pending).toEqual([]);
  expect(await notes.list()).toEqual([
    { id: 1, body: "a", stars: 2 },
    { id: 2, body: "c", stars: null },
    { id: 3, body: "d", stars: null },
  ]);
  expect(await client.table("comments").list()).toEqual([{ id: 1, note: 3 }]);
  const results = await Promise.all(kept.map(({ settled }) => settled));
  expect(results.map(({ id, status }) => [id, status])).toEqual([1, 2, 3, 4, 5].map((id) => [id, "applied"]));
  expect(results[4]!.rows).toEqual([
    { id: 3, body: "d", stars: null },
    { id: 1, note: 3 },
  ]);
  expect(outbox.state).toEqual({ status: "sent", error: null });
});

test("a closed tab loses nothing, and a lost answer does nothing twice", async () => {
  const { browser, open, notes } = await signedIn();
  const closed = open();
  let lost = 0;
  failPushes(browser, async (pass) => {
    lost++;
    return resetInBody(await pass());
  });
  await closed.create("notes", { body: "a" });
  while (lost === 0) await new Promise((resolve) => setImmediate(resolve));
  closed.close();
  const before = lost;
  const outbox = open(browser.tab<Tables>());
  await outbox.create("notes", { body: "b" });
  while (lost === before) await new Promise((resolve) => setImmediate(resolve));
  mend(browser);
  await outbox.whenSent();
  expect((await notes.list()).map(({ body }) => body)).toEqual(["a", "b"]);
});

test("a conflict is told with the row as it is, and is given up or sent again with other operations", async () => {
  const conflicts: Conflict<Tables>[] = [];
  const { open, notes, browser } = await signedIn({
    onConflict: async (conflict) => {
      conflicts.push(conflict);
      const [operation] = conflict.mutation.operations;
      if (operation!.op === "delete") return "discard";
      return [{ op: "update", table: "notes", key: { id: 1 }, set: { stars: 10 }, base: { stars: 7 } }];
    },
  });
  const outbox = open();
  await notes.create({ body: "a", stars: 7 });
  browser.network = down;
  const [first, second, third] = [
    await outbox.update("notes", { id: 1 }, { stars: 8 }, { stars: 3, body: "a" }),
    await outbox.delete("notes", { id: 1 }, { body: "x" }),
    await outbox.update("notes", { id: 1 }, { body: "b" }),
  ];
  mend(browser);
  await outbox.whenSent();
  const current = { id: 1, body: "a", stars: 7 };
  expect(
    conflicts.map(({ mutation: { name }, fields, current, operation, error }) => [
      name,
      fields,
      current,
      operation!.op,
      error.code,
    ]),
  ).toEqual([
    [first!.name, ["stars"], current, "update", "conflict"],
    [second!.name, ["body"], current, "delete", "conflict"],
  ]);
  expect((await first!.settled).status).toBe("applied");
  expect((await second!.settled).status).toBe("conflict");
  expect((await third!.settled).status).toBe("applied");
  expect(await notes.list()).toEqual([{ id: 1, body: "b", stars: 10 }]);
});

test("what the server refuses is told, and stops nothing", async () => {
  const told: Refused<Tables>[] = [];
  const { open, notes } = await signedIn({ onRejected: (each) => void told.push(each) });
  const outbox = open();
  const bad = await outbox.update("notes", { id: 9 }, { stars: 8 });
  const malformed = await outbox.create("notes", { nobody: "x" } as never);
  const mixed = await outbox.mutate([
    { op: "create", table: "notes", values: { body: "undone" } },
    { op: "delete", table: "members", key: { room: "r", user: "u" } },
  ]);
  await outbox.create("notes", { body: "a" });
  await outbox.whenSent();
  expect(told.map(({ mutation: { name }, operation, error: { code } }) => [name, operation?.op, code])).toEqual([
    [bad.name, "update", "not_found"],
    [malformed.name, "create", "bad_request"],
    [mixed.name, "delete", "not_found"],
  ]);
  expect((await bad.settled).status).toBe("rejected");
  expect((await notes.list()).map(({ body }) => body)).toEqual(["a"]);
});

test("a handler that fails is asked again, and nothing is lost", async () => {
  let asked = 0;
  const { open, notes, browser } = await signedIn({
    onRejected: async () => {
      // As a handler that reads a row which is gone.
      if (++asked === 1) await notes.get(99);
    },
  });
  const outbox = open();
  browser.network = down;
  const bad = await outbox.update("notes", { id: 9 }, { stars: 8 });
  await outbox.create("notes", { body: "a" });
  const waiting: unknown[] = [];
  outbox.listen((_pending, { status, error }) => status === "waiting" && waiting.push(error?.cause));
  mend(browser);
  await outbox.whenSent();
  expect(asked).toBe(2);
  expect((await bad.settled).status).toBe("rejected");
  expect(waiting).toContainEqual(expect.objectContaining({ status: 404 }));
  expect((await notes.list()).map(({ body }) => body)).toEqual(["a"]);
});

test("a mutation that no push takes is refused alone", async () => {
  const told: Refused<Tables>[] = [];
  const { browser, open, notes } = await signedIn({ onRejected: (each) => void told.push(each) });
  const outbox = open();
  browser.network = down;
  await outbox.create("notes", { body: "a" });
  const large = await outbox.create("notes", { body: "x".repeat(2_000_000) });
  await outbox.create("notes", { body: "b" });
  mend(browser);
  await outbox.whenSent();
  expect(told.map(({ mutation: { name }, error: { code } }) => [name, code])).toEqual([
    [large.name, "payload_too_large"],
  ]);
  expect((await notes.list()).map(({ body }) => body)).toEqual(["a", "b"]);
});

test("a server that is busy, or something in between, gets it later", async () => {
  const { browser, open, notes } = await signedIn();
  const outbox = open();
  const answers = [
    refused(429, "rate_limited", { "Retry-After": "7" }),
    refused(503, "unavailable"),
    new Response("<h1>Welcome</h1>"),
    new Response("<h1>Sign in to the hotel's network</h1>", { status: 401 }),
  ];
  const from = browser.time.nowMs;
  const statuses = new Set<string>();
  outbox.listen((_pending, { status }) => statuses.add(status));
  failPushes(browser, async (pass) => answers.shift() ?? pass());
  await outbox.create("notes", { body: "a" });
  await outbox.whenSent();
  expect(browser.time.nowMs - from).toBeGreaterThanOrEqual(7_000);
  expect([...statuses]).toEqual(["sent", "sending", "waiting"]);
  expect(browser.requestsTo(pushPath)).toBe(5);
  expect((await notes.list()).map(({ body }) => body)).toEqual(["a"]);
});

test("a server that refuses pushes altogether is asked again with the next mutation", async () => {
  const { browser, open, notes } = await signedIn();
  const outbox = open();
  failPushes(browser, async () => refused(403, "forbidden"));
  const isRefused = new Promise<void>((resolve) => {
    outbox.listen((_pending, { status }) => status === "refused" && resolve());
  });
  await outbox.create("notes", { body: "a" });
  await isRefused;
  expect(outbox.state.error).toMatchObject({ status: 403 });
  expect(outbox.pending).toHaveLength(1);
  mend(browser);
  await outbox.create("notes", { body: "b" });
  await outbox.whenSent();
  expect((await notes.list()).map(({ body }) => body)).toEqual(["a", "b"]);
});

test("a key without write scope loses nothing", async () => {
  const { server, browser } = await browse();
  const storage = memoryOutboxStorage();
  const open = async (...scopes: string[]) => {
    const { Authorization } = await apiKey(server, ...scopes);
    return createOutbox(browser.tab<Tables>(undefined, { apiKey: Authorization!.replace("Bearer ", "") }), { storage });
  };
  const reader = await open("resource:notes:read");
  const isRefused = new Promise<void>((resolve) => {
    reader.listen((_pending, { status }) => status === "refused" && resolve());
  });
  await reader.create("notes", { body: "a" });
  await isRefused;
  expect(reader.state.error).toMatchObject({ status: 403, code: "forbidden" });
  expect(reader.pending).toHaveLength(1);
  reader.close();
  const writer = await open("resource:notes:write");
  await writer.whenSent();
  expect(await rowsOf(server, "SELECT body FROM notes")).toEqual([["a"]]);
});

test("nobody's mutations are sent as somebody else", async () => {
  const { browser, server, open, client, notes } = await signedIn();
  const outbox = open();
  browser.network = down;
  const { settled } = await outbox.create("notes", { body: "of ada" });
  mend(browser);
  failPushes(browser, down);
  await client.auth.logout();
  await expect(outbox.create("notes", { body: "of nobody" })).rejects.toMatchObject({ status: 401 });
  await client.auth.register(bob);
  mend(browser);
  await outbox.create("notes", { body: "of bob" });
  await outbox.whenSent();
  expect((await notes.list()).map(({ body }) => body)).toEqual(["of bob"]);
  await client.auth.logout();
  await client.auth.login(credentials);
  expect((await settled).status).toBe("applied");
  expect((await notes.list()).map(({ body }) => body)).toEqual(["of bob", "of ada"]);
  expect((await run(server, "SELECT count(*) FROM _push_clients")).rows).toEqual([[2]]);
});

test("a session that ended keeps what is pending until the user signs in again", async () => {
  const { browser, server, open, client, notes } = await signedIn();
  const outbox = open();
  browser.network = down;
  const { settled } = await outbox.create("notes", { body: "a" });
  await run(server, "DELETE FROM _sessions");
  const isOut = new Promise<void>((resolve) => {
    outbox.listen((_pending, { status }) => status === "signed_out" && resolve());
  });
  mend(browser);
  await isOut;
  await client.auth.login(credentials);
  expect((await settled).status).toBe("applied");
  expect((await notes.list()).map(({ body }) => body)).toEqual(["a"]);
});

test("a server that has forgotten what it did is sent the rest under another name", async () => {
  const { browser, server, open, notes } = await signedIn();
  const outbox = open();
  for (const body of ["a", "b", "c"]) await outbox.create("notes", { body });
  await outbox.whenSent();
  // As after a restore from a copy that was made after the first one.
  await run(server, "UPDATE _push_clients SET last_id = 1");
  await run(server, "DELETE FROM _push_results WHERE mutation > 1");
  await outbox.create("notes", { body: "d" });
  await outbox.whenSent();
  await run(server, "DELETE FROM _push_clients");
  await run(server, "DELETE FROM _push_results");
  browser.network = down;
  await outbox.create("notes", { body: "e" });
  await outbox.create("notes", { body: "f" });
  mend(browser);
  await outbox.whenSent();
  expect((await notes.list()).map(({ body }) => body)).toEqual(["a", "b", "c", "d", "e", "f"]);
});

test("a device whose storage was copied goes on under another name, and does nothing twice", async () => {
  const { browser, open, notes, storage } = await signedIn();
  const outbox = open();
  browser.network = down;
  for (const body of ["a", "b"]) await outbox.create("notes", { body });
  while (outbox.state.status !== "waiting") await new Promise((resolve) => setImmediate(resolve));
  const copied = await copyOf(storage, browser.stored);
  mend(browser);
  await outbox.whenSent();
  await outbox.create("notes", { body: "c" });
  await outbox.whenSent();
  const other = createOutbox(browser.tab<Tables>(), { storage: copied });
  for (const body of ["d", "e"]) await other.create("notes", { body });
  await other.whenSent();
  expect((await notes.list()).map(({ body }) => body)).toEqual(["a", "b", "c", "d", "e"]);
});

/** A copy of the storage of the only user who has one. */
async function copyOf(storage: OutboxStorage, stored: ReadonlyMap<string, string>): Promise<OutboxStorage> {
  const { user } = JSON.parse(stored.get("svc.session http://127.0.0.1:8787")!) as { user: { id: string } };
  const name = JSON.stringify(["http://127.0.0.1:8787", user.id, ""]);
  const copy = memoryOutboxStorage();
  await storage.change(name, (kept) => {
    void copy.change(name, () => structuredClone(kept!));
    return kept!;
  });
  return copy;
}

test("tabs that write at once send each mutation once", async () => {
  const { browser, open, notes } = await signedIn();
  const tabs = [open(), open(browser.tab<Tables>()), open(browser.tab<Tables>())];
  const kept = await Promise.all(
    tabs.flatMap((tab, i) => [1, 2, 3].map((n) => tab.create("notes", { body: `${i}.${n}` }))),
  );
  await Promise.all(tabs.map((tab) => tab.whenSent()));
  expect(kept).toHaveLength(9);
  const bodies = (await notes.list()).map(({ body }) => body);
  expect([...bodies].sort()).toEqual(tabs.flatMap((_, i) => [1, 2, 3].map((n) => `${i}.${n}`)));
});
