import { expect, onTestFinished, test } from "vitest";
import { createOutbox, memoryOutboxStorage, type OutboxOptions } from "../../../src/client/outbox.js";
import type { LiveQuery } from "../../../src/client/query.js";
import { client } from "../../support/client.js";
import { apiKey, serve } from "../../support/server.js";
import { type Page, pagesOf } from "./pages.js";

const schema = `
$history: forever
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer }
    body: { type: text, check: "length(body) < 20" }
    done: { type: boolean, not_null: true, default: false }
`;
const config = `
[rules.messages]
read = "authenticated"
create = "authenticated"
update = "authenticated"
delete = "authenticated"
`;

interface Message {
  readonly id: number;
  readonly room_id: number;
  readonly body: string | null;
  readonly done: boolean;
  readonly _pending?: true;
}

/** A page whose pushes wait for `release`, and its outbox. */
async function world(options: OutboxOptions = {}) {
  const server = await serve({ schema, config });
  const key = client(server, await apiKey(server, "project:backend"));
  for (const id of [1, 2, 3]) await key.post("/api/messages", { id, room_id: 1, body: `m${id}` });
  let release = () => {};
  let gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const hold = () => {
    gate = new Promise<void>((resolve) => {
      release = resolve;
    });
  };
  const { page } = pagesOf(server, async (request) => {
    if (request === "POST /api/_svc/push") await gate;
  });
  const here = page();
  await here.client.auth.register({ email: "ada@example.com", password: "correct horse" });
  const outbox = createOutbox(here.client, { storage: memoryOutboxStorage(), ...options });
  onTestFinished(() => {
    release();
    outbox.close();
  });
  return { server, key, here, outbox, release: () => release(), hold };
}

interface List {
  rows: readonly Message[];
  /** What was shown, one after the other, as texts without repetitions. */
  readonly seen: string[];
  /** Resolves when the list shows rows with these texts; those that are not sent end with `*`. */
  until(...bodies: readonly string[]): Promise<void>;
}

function show({ client }: Page, query: LiveQuery<Message> = {}): List {
  const waiting = new Set<() => void>();
  const texts = () => list.rows.map(({ body, _pending }) => `${body}${_pending ? "*" : ""}`).join();
  const list: List = {
    rows: [],
    seen: [],
    until: (...bodies) =>
      new Promise((resolve) => {
        const look = () => {
          if (texts() !== bodies.join()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
  const stop = client.table<Message>("messages").live(query, (rows) => {
    list.rows = rows;
    if (list.seen.at(-1) !== texts()) list.seen.push(texts());
    for (const look of [...waiting]) look();
  });
  onTestFinished(stop);
  return list;
}

test("rows of pending mutations show at once, and the server's take their place without a gap", async () => {
  const { here, outbox, release } = await world();
  const all = show(here, { sort: "id" });
  const newest = show(here, { sort: "-id", limit: 2, select: ["body"] });
  await Promise.all([all.until("m1", "m2", "m3"), newest.until("m3", "m2")]);
  await outbox.update("messages", { id: 1 }, { body: "changed" });
  await outbox.delete("messages", { id: 2 });
  await outbox.create("messages", { room_id: 1, body: "new" });
  await Promise.all([all.until("changed*", "m3", "new*"), newest.until("new*", "m3")]);
  expect(all.rows[0]).toEqual({ id: 1, room_id: 1, body: "changed", done: false, _pending: true });
  expect(all.rows[2]).toEqual({ room_id: 1, body: "new", _pending: true });
  expect(newest.rows).toEqual([
    { body: "new", _pending: true },
    { id: 3, body: "m3" },
  ]);
  release();
  await Promise.all([all.until("changed", "m3", "new"), newest.until("new", "m3")]);
  await outbox.whenSent();
  // They stay when the server tells of them, too.
  await outbox.create("messages", { room_id: 1, body: "last" });
  await all.until("changed", "m3", "new", "last");
  expect(all.rows.at(-1)).toEqual({ id: 5, room_id: 1, body: "last", done: false });
  const after = all.seen.slice(all.seen.indexOf("changed*,m3,new*"));
  expect(after.filter((texts) => !/^changed\*?,m3,new\*?(,last\*?)?$/.test(texts))).toEqual([]);
});

test("rows show in lists alone whose filters they pass", async () => {
  const { here, outbox } = await world();
  const lists = {
    room: show(here, { where: { room_id: 2 }, sort: "id" }),
    open: show(here, { where: { done: false, room_id: 1 }, sort: "id" }),
    group: show(here, {
      filter: { $or: [{ body: { starts_with: "M" } }, { $not: { id: { lt: 3 } } }] },
      sort: "id",
    }),
    narrow: show(here, { where: { room_id: 1 }, select: ["body"], sort: "body" }),
  };
  await Promise.all([lists.open.until("m1", "m2", "m3"), lists.group.until("m3"), lists.room.until()]);
  await lists.narrow.until("m1", "m2", "m3");
  await outbox.update("messages", { id: 1 }, { room_id: 2 });
  await outbox.update("messages", { id: 3 }, { body: "Mm", done: true });
  await outbox.create("messages", { room_id: 2, body: "New" });
  await outbox.create("messages", { room_id: 2, body: "Most", id: 7 });
  await Promise.all([
    // What is not in a list comes into it when the server tells of it.
    lists.room.until("Most*", "New*"),
    lists.open.until("m2"),
    lists.group.until("Mm*", "Most*"),
    lists.narrow.until("Mm*", "m2"),
  ]);
});

test("what the server refuses is taken back", async () => {
  const { here, outbox, release } = await world({ onConflict: () => "discard" });
  const all = show(here, { sort: "id" });
  await all.until("m1", "m2", "m3");
  await outbox.create("messages", { room_id: 1, body: "x".repeat(30) });
  await outbox.delete("messages", { id: 1 }, { body: "other" });
  await outbox.update("messages", { id: 2 }, { body: "mine" }, { body: "theirs" });
  await all.until("mine*", "m3", `${"x".repeat(30)}*`);
  release();
  await outbox.whenSent();
  await all.until("m1", "m2", "m3");
  expect(outbox.state.status).toBe("sent");
});

test("a change of somebody else shows over what the server has answered", async () => {
  const { key, here, outbox, release } = await world();
  const all = show(here, { sort: "id" });
  await all.until("m1", "m2", "m3");
  release();
  await outbox.update("messages", { id: 1 }, { body: "mine" });
  await outbox.whenSent();
  await all.until("mine", "m2", "m3");
  await key.patch("/api/messages/1", { body: "theirs" });
  await all.until("theirs", "m2", "m3");
  await key.delete("/api/messages/1");
  await all.until("m2", "m3");
  await outbox.create("messages", { room_id: 1, body: "mine" });
  await outbox.whenSent();
  await all.until("m2", "m3", "mine");
  // Once the list is told of what came after it, it is told of it, too.
  await key.post("/api/messages", { id: 5, room_id: 1, body: "m5" });
  await all.until("m2", "m3", "mine", "m5");
  await key.delete("/api/messages/4");
  await all.until("m2", "m3", "m5");
});

test("signing out takes rows away that are not sent, and they come back with their user", async () => {
  const { here, outbox, hold } = await world();
  hold();
  const all = show(here, { sort: "id" });
  await all.until("m1", "m2", "m3");
  await outbox.create("messages", { room_id: 1, body: "mine" });
  await all.until("m1", "m2", "m3", "mine*");
  await here.client.auth.logout();
  await all.until();
  await here.client.auth.register({ email: "bob@example.com", password: "correct horse" });
  await all.until("m1", "m2", "m3");
  await here.client.auth.login({ email: "ada@example.com", password: "correct horse" });
  await all.until("m1", "m2", "m3", "mine*");
});
