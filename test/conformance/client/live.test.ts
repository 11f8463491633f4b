import { expect, onTestFinished, test } from "vitest";
import type { LiveState } from "../../../src/client/live/changes.js";
import type { LiveQuery } from "../../../src/client/query.js";
import { Random } from "../../property/support/random.js";
import { client } from "../../support/client.js";
import { run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";
import { type Page, type Pages, pagesOf } from "./pages.js";

const schema = `
$history: forever
rooms: { columns: { id: { type: integer, primary_key: true }, name: { type: text } } }
members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer, references: { table: rooms, on_delete: cascade } }, user_id: { type: text } }
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, references: { table: rooms, on_delete: cascade } }
    body: { type: text }
    size: { type: integer }
    hot: { type: boolean }
  indexes: [{ columns: [room_id] }]
plain: { history: none, columns: { id: { type: integer, primary_key: true } } }
`;
const config = `
auth.throttle.max_registrations_per_address = 1000
[rules.messages]
read = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"
[rules.plain]
read = "true"
`;

interface Message {
  readonly id: number;
  readonly room_id: number;
  readonly body: string | null;
  readonly size: number | string | null;
  readonly hot: boolean | null;
}

const credentials = { email: "ada@example.com", password: "correct horse" };

interface World extends Pages {
  readonly server: TestServer;
  readonly key: ReturnType<typeof client>;
}

async function world(): Promise<World> {
  const server = await serve({ schema, config });
  const key = client(server, await apiKey(server, "project:backend"));
  for (const id of [1, 2]) await key.post("/api/rooms", { id, name: `room ${id}` });
  return { server, key, ...pagesOf(server) };
}

/** What a live list shows, as it changes. */
interface Shown {
  rows: readonly Message[];
  state: LiveState | undefined;
  /** Resolves when there is something to show. */
  readonly first: Promise<void>;
  /** Resolves when the list shows these rows, by their ids, and is in this state. */
  until(ids: readonly number[], status?: LiveState["status"]): Promise<void>;
  readonly stop: () => void;
}

function show({ client }: Page, query: LiveQuery<Message> = {}): Shown {
  const waiting = new Set<() => void>();
  let begun = () => {};
  const shown: Shown = {
    rows: [],
    first: new Promise((resolve) => {
      begun = resolve;
    }),
    state: undefined,
    until: (ids, status = "live") =>
      new Promise((resolve) => {
        const look = () => {
          if (JSON.stringify(shown.rows.map(({ id }) => id)) !== JSON.stringify(ids)) return;
          if (shown.state?.status !== status) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    stop: client.table<Message>("messages").live(query, (rows, state) => {
      Object.assign(shown, { rows, state });
      begun();
      for (const look of [...waiting]) look();
    }),
  };
  onTestFinished(() => shown.stop());
  return shown;
}

/** Ada, in the page, and a member of the first room. */
async function ada({ page, server }: World): Promise<{ readonly first: Page; readonly id: string }> {
  const first = page();
  const { id } = (await first.client.auth.register(credentials)) as { readonly id: string };
  await run(server, "INSERT INTO members VALUES (1, ?)", id);
  return { first, id };
}

const row = (id: number, more: Partial<Message> = {}) => ({ id, room_id: 1, body: `m${id}`, ...more });

test("a live list follows rows, relations and its filters, in its order and up to its limit", async () => {
  const world_ = await world();
  const { server, key } = world_;
  const { first, id } = await ada(world_);
  for (const each of [1, 2, 3]) await key.post("/api/messages", row(each, { size: 10 - each }));
  const all = show(first, { sort: "-id" });
  const two = show(first, { sort: ["size"], limit: 2, select: ["id"] });
  const named = show(first, { where: { body: "m2" }, filter: { size: { gt: 1 } } });
  await Promise.all([all.until([3, 2, 1]), two.until([3, 2]), named.until([2])]);
  expect(all.rows[0]).toEqual({ id: 3, room_id: 1, body: "m3", size: 7, hot: null });
  expect(Object.keys(two.rows[0]!)).toEqual(["id", "size"]);

  await key.post("/api/messages", row(4, { size: 0 }));
  await Promise.all([all.until([4, 3, 2, 1]), two.until([4, 3])]);
  await key.patch("/api/messages/2", { size: 1 });
  await Promise.all([two.until([4, 2]), named.until([])]);
  await key.delete("/api/messages/4");
  await Promise.all([all.until([3, 2, 1]), two.until([2, 3])]);
  await run(server, "DELETE FROM members WHERE user_id = ?", id);
  await Promise.all([all.until([]), two.until([])]);
  await run(server, "INSERT INTO members VALUES (1, ?)", id);
  await all.until([3, 2, 1]);
  const before = all.rows;
  all.stop();
  await key.post("/api/messages", row(5));
  await two.until([5, 2]);
  expect(all.rows).toBe(before);
});

test("a line that is cut is made anew, and nothing is lost or doubled", async () => {
  const world_ = await world();
  const { key } = world_;
  const { first } = await ada(world_);
  const shown = show(first);
  await shown.until([]);
  const random = new Random(Random.seedOfRun());
  const ids: number[] = [];
  for (let id = 1; id <= 20; id++) {
    await key.post("/api/messages", row(id));
    ids.push(id);
    if (random.chance(0.3)) await key.delete(`/api/messages/${ids.shift()}`);
    if (random.chance(0.5)) first.cut();
  }
  await shown.until(ids);
});

test("tabs share one stream, and another tab takes over when the one that has it is closed", async () => {
  const world_ = await world();
  const { key, page, requests } = world_;
  const { first } = await ada(world_);
  const streams = () => requests.filter((request) => request === "POST /api/_svc/live").length;
  await key.post("/api/messages", row(1));
  const leading = show(first);
  await leading.until([1]);
  const [second, third] = [show(page()), show(page())];
  await Promise.all([second.until([1]), third.until([1])]);
  await key.post("/api/messages", row(2));
  await Promise.all([leading, second, third].map((each) => each.until([1, 2])));
  expect(streams()).toBe(1);
  leading.stop();
  await key.post("/api/messages", row(3));
  await Promise.all([second.until([1, 2, 3]), third.until([1, 2, 3])]);
  expect(streams()).toBe(2);
  // It went on from where the other tab was, and asked for nothing else.
  expect(requests.filter((request) => request === "POST /api/_svc/pull")).toHaveLength(1);
});

test("who signs out sees nothing more, in any tab, and what somebody else sees is their own", async () => {
  const world_ = await world();
  const { server, key, page } = world_;
  const { first } = await ada(world_);
  await key.post("/api/messages", row(1));
  await key.post("/api/messages", row(2, { room_id: 2 }));
  const [one, other] = [show(first), show(page())];
  await Promise.all([one.until([1]), other.until([1])]);
  await first.client.auth.logout();
  await Promise.all([one.until([], "signed_out"), other.until([], "signed_out")]);
  const ben = { email: "ben@example.com", password: "correct horse" };
  const { id } = (await first.client.auth.register(ben)) as { readonly id: string };
  await Promise.all([one.until([]), other.until([])]);
  await run(server, "INSERT INTO members VALUES (2, ?)", id);
  await Promise.all([one.until([2]), other.until([2])]);
});

test("a session that was ended elsewhere ends the stream, and one that was renewed goes on with it", async () => {
  const world_ = await world();
  const { server, key, requests } = world_;
  const { first, id } = await ada(world_);
  const shown = show(first);
  await shown.until([]);
  // The access token expires: the server ends the stream, and the client renews the session.
  server.clock.advance(900_000);
  await key.post("/api/messages", row(1));
  await shown.until([1]);
  // Here the time between attempts is short, so that a slow server is asked again.
  expect(requests.filter((request) => request === "POST /auth/refresh").length).toBeGreaterThan(0);
  await key.post(`/admin/api/users/${id}/revoke-sessions`, {});
  await key.post("/api/messages", row(2));
  await shown.until([], "signed_out");
  expect(await first.client.auth.user()).toBeNull();
});

test("what cannot be followed is refused, with the reason, and not asked for again", async () => {
  const world_ = await world();
  const { requests } = world_;
  const { first } = await ada(world_);
  const refused = await new Promise<LiveState>((resolve) => {
    const stop = first.client.table<Message>("plain").live({}, (rows, state) => {
      expect(rows).toEqual([]);
      resolve(state);
    });
    onTestFinished(stop);
  });
  expect(refused).toMatchObject({ status: "refused", error: { status: 400, code: "bad_request" } });
  expect(refused.error!.message).toContain("it keeps no history");
  expect(requests.filter((request) => request.startsWith("POST /api/_svc/"))).toHaveLength(1);
  const wrong = { search: "words" } as LiveQuery<Message>;
  expect(() => first.client.table<Message>("messages").live(wrong, () => {})).toThrow("search");
});

test("the order of a live list is that of the list", async () => {
  const world_ = await world();
  const { key } = world_;
  const { first } = await ada(world_);
  const random = new Random(Random.seedOfRun());
  const texts = ["", "a", "B", "é", "\u{1F600}", "\uFFFD", "\uE000", "10", "9", "12345678901234567", null];
  const sizes = [0, -1, 5, 5, 40, null, "9007199254740993", "-9223372036854775808", "9223372036854775807"];
  for (let id = 1; id <= 40; id++)
    expect(
      await key.post(
        "/api/messages",
        row(id, {
          body: random.pick(texts),
          size: random.pick(sizes),
          hot: random.pick([true, false, null]),
        }),
      ),
    ).toMatchObject({ status: 201 });
  for (const sort of [["body"], ["-body", "size"], ["size"], ["-size", "-hot"], ["hot", "-id"], ["-hot"]] as const) {
    const shown = show(first, { sort });
    const expected = await first.client.table<Message>("messages").list({ sort, limit: 100 });
    await shown.first;
    expect(shown.rows).toEqual(expected);
    shown.stop();
  }
});

test("a pull of the client is a page, and a follower is told each step", async () => {
  const world_ = await world();
  const { key } = world_;
  const { first } = await ada(world_);
  await key.post("/api/messages", row(1));
  const tables = { messages: { select: ["id"] } };
  const page = await first.client.pull({ tables, limit: 10 });
  expect(page).toMatchObject({
    more: false,
    reset: null,
    changes: [{ op: "insert", key: { id: 1 }, row: { id: 1 } }],
  });
  await key.post("/api/messages", row(2));
  const step = await new Promise((resolve) => {
    const stop = first.client.follow(
      tables,
      (_state, found) => found !== null && found.changes.length > 0 && resolve(found),
      page.checkpoint,
    );
    onTestFinished(stop);
  });
  expect(step).toMatchObject({ isReset: false, changes: [{ op: "insert", key: { id: 2 } }] });
});
