import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { IndexedDb, indexedDbHere, resultOf } from "../../../src/client/indexed-db.js";
import type { LiveState } from "../../../src/client/live/changes.js";
import { indexedDbStore } from "../../../src/client/live/indexed-db-store.js";
import type { RowStore } from "../../../src/client/live/store.js";
import type { LiveQuery } from "../../../src/client/query.js";
import { client } from "../../support/client.js";
import { apiKey, serve } from "../../support/server.js";
import { type Page, pagesOf } from "./pages.js";

const schema = `
$history: forever
notes: { columns: { id: { type: integer, primary_key: true }, body: { type: text } } }
jobs: { columns: { id: { type: integer, primary_key: true }, body: { type: text } } }
`;
const config = `
auth.throttle.max_registrations_per_address = 1000
rules.notes.read = "authenticated"
rules.jobs.read = "authenticated"
`;
const ada = { email: "ada@example.com", password: "correct horse" };

const here = globalThis as { indexedDB?: unknown; IDBKeyRange?: unknown };
beforeEach(() => {
  here.indexedDB = new IDBFactory();
  here.IDBKeyRange = IDBKeyRange;
});
afterEach(() => {
  delete here.indexedDB;
  delete here.IDBKeyRange;
});

async function world() {
  const server = await serve({ schema, config });
  const key = client(server, await apiKey(server, "project:backend"));
  for (const table of ["notes", "jobs"]) for (const id of [1, 2]) await key.post(`/api/${table}`, { id, body: "a" });
  let isOffline = false;
  const pages = pagesOf(
    server,
    async (request) => {
      if (isOffline && request.includes("/_svc/")) throw new TypeError("fetch failed");
    },
    () => indexedDbStore("app"),
  );
  const first = pages.page();
  await first.client.auth.register(ada);
  const asked = (path: string) => pages.requests.filter((request) => request === `POST /api/_svc/${path}`).length;
  return { key, first, ...pages, asked, goOffline: (now: boolean) => (isOffline = now) };
}

interface Note {
  readonly id: number;
  readonly body: string;
}

/** What a list shows, and every state that it has told. */
class Shown {
  rows: readonly Note[] = [];
  readonly states: LiveState["status"][] = [];
  readonly stop: () => void;
  readonly #waiting = new Set<() => void>();

  constructor({ client }: Page, query: LiveQuery<Note> = {}, table = "notes") {
    this.stop = client.table<Note>(table).live(query, (rows, { status }) => {
      this.rows = rows;
      if (this.states.at(-1) !== status) this.states.push(status);
      for (const look of [...this.#waiting]) look();
    });
    onTestFinished(() => this.stop());
  }

  until(status: LiveState["status"], ...bodies: readonly string[]): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.states.at(-1) !== status || this.rows.map(({ body }) => body).join() !== bodies.join()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }
}

/** What a store has of a user, once everything that was to be kept is kept. */
async function storedRows(user: string): Promise<number> {
  const store: RowStore = indexedDbStore("app");
  const { current } = await store.open(user);
  const rows = await Promise.all(current.map((name) => store.rows(user, name)));
  return rows.flat().length;
}

/** Everything that is kept, of whomever. */
function left(): Promise<readonly unknown[]> {
  const database = new IndexedDb(indexedDbHere()!, "svc.rows app", ["states", "lists", "rows"]);
  return database.within("readonly", async ({ lists, rows }) => [
    ...(await resultOf(lists.getAll())),
    ...(await resultOf(rows.getAll())),
  ]);
}

/** A list that shows its two rows, which the device has. */
async function shownAndKept(page: Page): Promise<{ readonly shown: Shown; readonly id: string }> {
  const shown = new Shown(page);
  await shown.until("live", "a", "a");
  const { id } = (await page.client.auth.user())!;
  await expect.poll(() => storedRows(id)).toBe(2);
  return { shown, id };
}

test("a page that is opened without a connection shows the rows of before, and goes on from there", async () => {
  const { key, first, page, asked, goOffline } = await world();
  const before = new Shown(first);
  await before.until("live", "a", "a");
  await key.patch("/api/notes/2", { body: "b" });
  await before.until("live", "a", "b");
  const { id } = (await first.client.auth.user())!;
  await expect.poll(() => storedRows(id)).toBe(2);
  before.stop();
  goOffline(true);
  await key.patch("/api/notes/1", { body: "c" });
  const again = page();
  const shown = new Shown(again);
  await shown.until("reconnecting", "a", "b");
  expect(shown.states).toEqual(["stored", "reconnecting"]);
  const pulls = asked("pull");
  goOffline(false);
  await shown.until("live", "c", "b");
  // It went on from the checkpoint.
  expect(asked("pull")).toBe(pulls);
});

test("rows of a list that was left out meanwhile are shown as stored until they are told anew", async () => {
  const { key, first, page } = await world();
  const [notes, jobs] = [new Shown(first), new Shown(first, {}, "jobs")];
  await Promise.all([notes.until("live", "a", "a"), jobs.until("live", "a", "a")]);
  jobs.stop();
  const { id } = (await first.client.auth.user())!;
  await key.patch("/api/notes/1", { body: "b" });
  await notes.until("live", "b", "a");
  await expect.poll(async () => (await indexedDbStore("app").open(id)).current.length).toBe(1);
  await key.patch("/api/jobs/1", { body: "c" });
  notes.stop();
  const again = page();
  const [other, later] = [new Shown(again), new Shown(again, {}, "jobs")];
  await Promise.all([other.until("live", "b", "a"), later.until("live", "c", "a")]);
  expect(later.states[0]).toBe("stored");
});

test("with keep: false, and for whom no store is named, nothing is kept", async () => {
  const { first } = await world();
  const shown = new Shown(first, { keep: false });
  const kept = new Shown(first, {}, "jobs");
  await Promise.all([shown.until("live", "a", "a"), kept.until("live", "a", "a")]);
  const { id } = (await first.client.auth.user())!;
  await expect.poll(() => storedRows(id)).toBe(2);
});

test("signing out, and another user, leave nothing of the one before", async () => {
  const { first, page } = await world();
  const { shown } = await shownAndKept(first);
  await first.client.auth.logout();
  await shown.until("signed_out");
  await expect.poll(left).toEqual([]);
  shown.stop();
  const other = page();
  await other.client.auth.register({ email: "ben@example.com", password: "correct horse" });
  const next = new Shown(other);
  await next.until("live", "a", "a");
  expect(next.states).toEqual(["live"]);
});

test("signing out leaves nothing either where no list is shown", async () => {
  const { first } = await world();
  const { shown } = await shownAndKept(first);
  shown.stop();
  await first.client.auth.logout();
  await expect.poll(left).toEqual([]);
});

test("changes are not kept without the rows before them", async () => {
  const { key, first } = await world();
  const { shown, id } = await shownAndKept(first);
  // As another tab does whose device fails.
  await indexedDbStore("app").clear();
  await key.patch("/api/notes/1", { body: "b" });
  await shown.until("live", "b", "a");
  expect(await storedRows(id)).toBe(0);
  await expect
    .poll(async () => {
      await key.patch("/api/notes/1", { body: "c" });
      await key.patch("/api/notes/1", { body: "b" });
      return storedRows(id);
    })
    .toBe(2);
});

test("signing out shows nothing more of what was stored, while the server tells nothing", async () => {
  const { first, page, goOffline } = await world();
  const before = new Shown(first);
  await before.until("live", "a", "a");
  const { id } = (await first.client.auth.user())!;
  await expect.poll(() => storedRows(id)).toBe(2);
  before.stop();
  const again = page();
  goOffline(true);
  const shown = new Shown(again);
  await shown.until("reconnecting", "a", "a");
  await again.client.auth.logout();
  await shown.until("reconnecting");
  await expect.poll(left).toEqual([]);
});

test("a store that fails keeps nobody from the rows of the server", async () => {
  const { first, key } = await world();
  here.indexedDB = {
    open: () => {
      throw new DOMException("not now", "InvalidStateError");
    },
  };
  const shown = new Shown(first);
  await shown.until("live", "a", "a");
  await key.patch("/api/notes/1", { body: "b" });
  await shown.until("live", "b", "a");
});
