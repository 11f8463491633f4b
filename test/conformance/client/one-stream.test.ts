import { expect, onTestFinished, test } from "vitest";
import type { FollowedTables, LiveState, Step } from "../../../src/client/live/changes.js";
import { membersMax } from "../../../src/client/live/members.js";
import { Random } from "../../property/support/random.js";
import { client } from "../../support/client.js";
import { run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";
import { type Page, pagesOf } from "./pages.js";

const tables = ["areas", "jobs", "notes", "parts", "visits"];
const schema = `
$history: forever
${tables.map((name) => `${name}: { columns: { id: { type: integer, primary_key: true }, n: { type: integer } } }`).join("\n")}
plain: { history: none, columns: { id: { type: integer, primary_key: true } } }
staff: { columns: { id: { type: integer, primary_key: true } } }
open: { columns: { id: { type: integer, primary_key: true } } }
`;
const config = `
auth.throttle.max_registrations_per_address = 1000
# A Worker does not learn that a client has gone, and counts its stream until it would have ended.
sync = { max_streams = 2000, max_streams_per_session = 1000, max_streams_per_user = 1000 }
rules.plain.read = "public"
rules.open.read = "public"
rules.staff.read = "auth.role = 'admin'"
${tables.map((name) => `rules.${name}.read = "authenticated"`).join("\n")}
`;

/** `allowed` may hold a request back. */
async function world(allowed?: (request: string) => Promise<void>) {
  const server = await serve({ schema, config });
  const key = client(server, await apiKey(server, "project:backend"));
  for (const table of tables) for (const id of [1, 2, 3, 4]) await key.post(`/api/${table}`, { id, n: id });
  await key.post("/api/open", { id: 1 });
  const pages = pagesOf(server, allowed);
  const first = pages.page();
  await first.client.auth.register({ email: "ada@example.com", password: "correct horse" });
  const asked = (path: string) => pages.requests.filter((request) => request === `POST ${path}`).length;
  return { server, key, first, ...pages, streams: () => asked("/api/_svc/live"), pulls: () => asked("/api/_svc/pull") };
}

/** What a list shows. */
class Shown {
  readonly rows = new Map<string, unknown>();
  /** How often all rows were told. */
  wholes = 0;
  state: LiveState | null = null;
  checkpoint: string | null = null;
  readonly stop: () => void;
  readonly #waiting = new Set<() => void>();

  constructor({ client }: Page, tables: FollowedTables, from?: string) {
    this.stop = client.follow(tables, (state, step) => this.#told(state, step), from);
    onTestFinished(() => this.stop());
  }

  #told(state: LiveState, step: Step | null): void {
    this.state = state;
    this.checkpoint = step?.checkpoint ?? this.checkpoint;
    if (step?.isReset) {
      this.wholes++;
      this.rows.clear();
    }
    for (const { table, op, key, row } of step?.changes ?? []) {
      const id = `${table} ${JSON.stringify(key)}`;
      if (op === "remove") this.rows.delete(id);
      else this.rows.set(id, row);
    }
    for (const look of [...this.#waiting]) look();
  }

  /** Resolves when it shows what `found` returns true for. */
  until(found: (shown: Shown) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!found(this)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  is(status: LiveState["status"]): Promise<void> {
    return this.until(({ state }) => state?.status === status);
  }

  live(count: number): Promise<void> {
    return this.until(({ rows, state }) => state?.status === "live" && rows.size === count);
  }
}

const above = (table: string, n: number) => ({ [table]: { filter: { n: { gt: n } } } });

test("twelve lists in three tabs have one stream, and each is told what concerns it", async () => {
  const { first, page, key, streams } = await world();
  const pages = [first, page(), page()];
  const lists = pages.flatMap((each) => [0, 1, 2, 3].map((n) => new Shown(each, above(tables[n]!, n))));
  await Promise.all(lists.map((list, i) => list.live(4 - (i % 4))));
  const before = streams();
  expect(before).toBeLessThanOrEqual(3);
  await key.post("/api/jobs", { id: 9, n: 9 });
  await Promise.all(lists.filter((_, i) => i % 4 === 1).map((list) => list.live(4)));
  expect(streams()).toBe(before);
  for (const list of lists) expect(list.wholes).toBe(1);
  // One whose rows another tab has already asks the server for nothing.
  const same = new Shown(pages[2]!, above("areas", 0));
  await same.live(4);
  expect(streams()).toBe(before);
});

test("lists that come and go, while rows change, start no other list anew", async () => {
  const { first, page, key } = await world();
  const random = new Random(Random.seedOfRun());
  const pages = [first, page(), page()];
  const steady = pages.map((each, i) => new Shown(each, { [tables[i]!]: {}, notes: {} }));
  await Promise.all(steady.map((list, i) => list.live(tables[i] === "notes" ? 4 : 8)));
  let last = 4;
  for (let i = 0; i < 50; i++) {
    const passing = new Shown(random.pick(pages), above(random.pick(tables), random.int(0, 3)));
    if (random.chance(0.6)) await passing.until(({ wholes }) => wholes > 0);
    if (random.chance(0.5)) await key.post("/api/notes", { id: ++last, n: last });
    passing.stop();
  }
  await Promise.all(steady.map((list, i) => list.live(tables[i] === "notes" ? last : 4 + last)));
  for (const list of steady) expect(list.wholes).toBe(1);
});

test("a list that is dropped and taken up again at once goes on, as frameworks do that mount twice", async () => {
  const { first, key } = await world();
  const other = new Shown(first, { notes: {} });
  await other.live(4);
  const once = new Shown(first, { jobs: {} });
  await once.live(4);
  once.stop();
  const again = new Shown(first, { jobs: {} });
  await again.live(4);
  await key.post("/api/jobs", { id: 9 });
  await again.live(5);
  expect(other.wholes).toBe(1);
});

test("a refused list ends alone", async () => {
  const { first, key } = await world();
  const shown = new Shown(first, { notes: {} });
  await shown.live(4);
  const refused = new Shown(first, { plain: {} });
  await refused.until(({ state }) => state?.status === "refused");
  expect(refused.state!.error).toMatchObject({ code: "bad_request", message: expect.stringContaining("no history") });
  const malformed = new Shown(first, { jobs: { where: { unknown: 1 } } });
  await malformed.until(({ state }) => state?.status === "refused");
  await key.post("/api/notes", { id: 9 });
  await shown.live(5);
  expect(shown.wholes).toBe(1);
});

test("a tab that takes over has its own rows already, and fetches those of the others", async () => {
  const { first, page, key } = await world();
  const leading = new Shown(first, { areas: {} });
  await leading.live(4);
  const [second, third] = [new Shown(page(), { jobs: {} }), new Shown(page(), { notes: {} })];
  await Promise.all([second.live(4), third.live(4)]);
  leading.stop();
  for (const table of ["jobs", "notes"]) await key.post(`/api/${table}`, { id: 9 });
  await Promise.all([second.live(5), third.live(5)]);
});

test("more lists than a stream has are refused, and those that were there go on", async () => {
  const { first, key } = await world();
  const steady = new Shown(first, { notes: {} });
  await steady.live(4);
  const many = Array.from({ length: membersMax }, (_, n) => new Shown(first, above("jobs", -n)));
  await many.at(-1)!.until(({ state }) => state?.status === "refused");
  await Promise.all(many.slice(0, -1).map((list) => list.live(4)));
  await key.post("/api/notes", { id: 9 });
  await steady.live(5);
});

test("a list that is dropped and taken up again while another is downloaded is told whole", async () => {
  let release = () => {};
  let held: Promise<void> | null = null;
  const { first, key } = await world(async (request) => {
    if (request === "POST /api/_svc/pull") await held;
  });
  const one = new Shown(first, { notes: {} });
  await one.live(4);
  held = new Promise((resolve) => (release = resolve));
  const other = new Shown(first, { jobs: {} });
  one.stop();
  const again = new Shown(first, { notes: {} });
  release();
  await Promise.all([other.live(4), again.live(4)]);
  await key.post("/api/notes", { id: 9 });
  await again.live(5);
});

test("what is refused is so in every tab, and not for who signs in next", async () => {
  const { server, first, page } = await world();
  const lists = [new Shown(first, { staff: {} })];
  await lists[0]!.is("refused");
  lists.push(new Shown(page(), { staff: {} }));
  await lists[1]!.is("refused");
  await first.client.auth.logout();
  const root = { email: "root@example.com", password: "correct horse" };
  await first.client.auth.register(root);
  await run(server, "UPDATE _users SET role = 'admin' WHERE email = 'root@example.com'");
  await first.client.auth.logout();
  await first.client.auth.login(root);
  await Promise.all(lists.map((list) => list.live(0)));
});

test("who is not signed in is told so of each list, and follows those that are for all", async () => {
  const { first } = await world();
  await first.client.auth.logout();
  const forMembers = new Shown(first, { notes: {} });
  await forMembers.is("signed_out");
  const forAll = new Shown(first, { open: {} });
  await forAll.live(1);
  const later = new Shown(first, { jobs: {} });
  await later.is("signed_out");
  expect(forAll.wholes).toBe(1);
});

test("a step's checkpoint resumes, also over a sign-out, and with a further table all rows are told", async () => {
  const { first, key } = await world();
  const shown = new Shown(first, { notes: {}, jobs: {} });
  await shown.live(8);
  const { checkpoint } = shown;
  shown.stop();
  await key.post("/api/notes", { id: 9 });
  const resumed = new Shown(first, { notes: {} }, checkpoint!);
  await resumed.until(({ rows }) => rows.size === 1);
  expect(resumed.wholes).toBe(0);
  await first.client.auth.logout();
  await resumed.is("signed_out");
  await key.delete("/api/notes/9");
  await first.client.auth.login({ email: "ada@example.com", password: "correct horse" });
  await resumed.live(0);
  const wider = new Shown(first, { notes: {}, parts: {} }, checkpoint!);
  await wider.live(8);
  expect(wider.wholes).toBe(1);
  const page = await first.client.pull({ tables: { notes: {} }, checkpoint: checkpoint!, limit: 10 });
  expect(page).toMatchObject({ reset: null, changes: [] });
});

test("two names for the same rows are told both", async () => {
  const { first } = await world();
  const shown = new Shown(first, { one: { table: "notes" }, other: { table: "notes" } });
  await shown.live(8);
});

test("lists whose requests are too long together are refused, and the others go on", async () => {
  const { first, key } = await world();
  const steady = new Shown(first, { notes: {} });
  await steady.live(4);
  const ids = (from: number) => ({
    filter: { id: { in: Array.from({ length: 1000 }, (_, i) => 1_000_000 + from + i) } },
  });
  const many = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => new Shown(first, { jobs: ids(i * 1000) }));
  await many.at(-1)!.is("refused");
  await many[0]!.live(0);
  await key.post("/api/notes", { id: 9 });
  await steady.live(5);
});

test("who signs in next sees nothing of the lists before", async () => {
  const { server, first, page } = await world();
  const lists = [new Shown(first, { notes: {} }), new Shown(page(), { jobs: {} })];
  await Promise.all(lists.map((list) => list.live(4)));
  await run(server, "DELETE FROM jobs");
  await first.client.auth.logout();
  await Promise.all(
    lists.map((list) => list.until(({ state, rows }) => state?.status === "signed_out" && rows.size === 0)),
  );
  await first.client.auth.register({ email: "ben@example.com", password: "correct horse" });
  await Promise.all([lists[0]!.live(4), lists[1]!.live(0)]);
});
