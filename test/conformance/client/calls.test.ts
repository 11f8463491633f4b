import { describe, expect, it } from "vitest";
import { createServiceKey } from "../../../src/auth/accounts/administration.js";
import { SvcError, SvcPreconditionError } from "../../../src/client/index.js";
import { isRefusal } from "../../../src/http/refusal.js";
import { Browser, hangs } from "../../support/browser.js";
import { run } from "../../support/people.js";
import { browse, credentials, type Tables } from "./support.js";

async function signedIn() {
  const { server, browser } = await browse();
  const client = browser.tab<Tables>();
  await client.auth.register(credentials);
  return { server, browser, client, notes: client.table("notes"), members: client.table("members") };
}

const bodiesOf = (rows: readonly { readonly body: string }[]) => rows.map(({ body }) => body);

describe("a table of the client", () => {
  it("creates, gets, updates and deletes rows, by themselves and with what they cost", async () => {
    const { notes } = await signedIn();
    const created = await notes.create({ body: "one" });
    expect(created).toEqual({ id: 1, body: "one", stars: null });
    expect(await notes.get(1)).toEqual(created);
    expect(await notes.get(1, { withMeta: true })).toEqual({
      data: created,
      meta: {
        rows_read: 1,
        rows_written: 0,
        rows_returned: 1,
        metering: { version: 1, attempt_id: expect.any(String), status: "recorded" },
      },
    });
    expect(await notes.update(1, { stars: 5 })).toEqual({ ...created, stars: 5 });
    expect(await notes.delete(1)).toEqual({ id: 1 });
    await expect(notes.get(1)).rejects.toMatchObject({ status: 404, code: "not_found" });
  });

  it("takes composite keys as objects", async () => {
    const { members } = await signedIn();
    const key = { room: "a b&c", user: "é/?" };
    await members.create({ ...key, since: 1 });
    expect(await members.update(key, { since: 2 })).toEqual({ ...key, since: 2 });
    expect(await members.get(key)).toEqual({ ...key, since: 2 });
    expect(await members.delete(key)).toEqual(key);
    expect(await members.list()).toEqual([]);
  });

  it("changes and deletes a row of one version alone", async () => {
    const { client } = await signedIn();
    const tasks = client.table("tasks");
    const first = await tasks.create({ title: "a" });
    const second = await tasks.update(first.id, { title: "b" }, { ifMatch: first.version });
    expect(second).toEqual({ ...first, title: "b", version: first.version + 1 });
    for (const stale of [first.version, String(first.version), `"${first.version}"`, `W/"${second.version}"`]) {
      const changed = tasks.update(first.id, { title: "c" }, { ifMatch: stale });
      await expect(changed).rejects.toThrow(SvcPreconditionError);
      await expect(changed).rejects.toMatchObject({ status: 412, code: "precondition_failed" });
      await expect(tasks.delete(first.id, { ifMatch: stale })).rejects.toThrow(SvcPreconditionError);
    }
    for (const missing of [undefined, null])
      await expect(tasks.delete(first.id, { ifMatch: missing as never })).rejects.toMatchObject({
        code: "bad_call",
      });
    expect(await tasks.list()).toEqual([second]);
    expect(await tasks.delete(first.id, { ifMatch: `"${second.version}"` })).toEqual({ id: first.id });
  });

  it("creates several rows, all or none", async () => {
    const { notes } = await signedIn();
    const created = await notes.create([{ body: "a" }, { body: "b", stars: 2 }]);
    expect(created).toEqual([
      { id: 1, body: "a", stars: null },
      { id: 2, body: "b", stars: 2 },
    ]);
    const refused = notes.create([{ body: "c" }, { id: 1, body: "d" }]);
    await expect(refused).rejects.toMatchObject({ status: 403, message: expect.stringMatching(/^row 1: /) });
    expect(await notes.list()).toEqual(created);
    const { data, meta } = await notes.create([{ body: "e" }], { withMeta: true });
    expect(data).toEqual([{ id: 3, body: "e", stars: null }]);
    expect(meta).toMatchObject({ rows_written: 1, rows_returned: 1 });
  });

  it("writes rows that may be there already", async () => {
    const { client, members } = await signedIn();
    const key = { room: "r", user: "u" };
    const onConflict = ["room", "user"] as const;
    const rows = [
      { ...key, since: 1 },
      { ...key, user: "v", since: 2 },
    ];
    expect(await members.upsert(rows, { onConflict, onDuplicate: "update" })).toEqual(rows);
    const again = [{ ...key, since: 5 }];
    expect(await members.upsert(again, { onConflict, onDuplicate: "ignore" })).toEqual([rows[0]]);
    expect(await members.upsert(again, { onConflict, onDuplicate: "update" })).toEqual(again);
    const byId = client.table("members").upsert(again, { onConflict: ["user"], onDuplicate: "update" });
    await expect(byId).rejects.toMatchObject({ status: 400 });
  });

  it("upserts one row by itself", async () => {
    const { members } = await signedIn();
    const onConflict = ["room", "user"] as const;
    const row = { room: "a", user: "b", since: 1 };
    expect(await members.upsert(row, { onConflict, onDuplicate: "ignore" })).toEqual(row);
    expect(await members.upsert({ ...row, since: 2 }, { onConflict, onDuplicate: "update" })).toEqual({
      ...row,
      since: 2,
    });
    expect(await members.upsert({ ...row, since: 3 }, { onConflict, onDuplicate: "ignore" })).toEqual({
      ...row,
      since: 2,
    });
  });

  it("tells the past of rows, by keys of one column and of several, and writes it back", async () => {
    const { client, members } = await signedIn();
    const tasks = client.table("tasks");
    const { id } = await tasks.create({ title: "first" });
    await tasks.update(id, { title: "second" });
    await tasks.create({ title: "other" });
    const { data, meta } = await tasks.history(id);
    expect(meta).toMatchObject({ limit: 50 });
    expect(data).toMatchObject([
      { op: "update", key: { id }, row: { title: "second" }, changed: ["title", "version"] },
      { op: "insert", key: { id }, row: { title: "first" }, changed: null },
    ]);
    const unsealed = (versions: readonly object[]) => versions.map((version) => ({ ...version, seq: null }));
    expect(unsealed((await tasks.history({ id })).data)).toEqual(unsealed(data));
    const first = await tasks.history(null, { limit: 2 });
    const rest = await tasks.history(null, { cursor: first.meta.next_cursor! });
    expect([...first.data, ...rest.data].map(({ row }) => row!.title)).toEqual(["other", "second", "first"]);
    expect(unsealed((await tasks.history(id, { until: data[1]!.seq })).data)).toEqual(unsealed([data[1]!]));
    expect(await tasks.state({ at: data[0]!.seq, select: ["title"] })).toEqual([{ title: "second" }]);
    expect(await tasks.state({ at: data[1]!.seq, where: { title: "second" } })).toEqual([]);
    expect(await tasks.restore(id, data[1]!.seq)).toMatchObject({ id, title: "first" });
    await tasks.delete(id);
    expect(await tasks.restore({ id }, data[0]!.seq)).toMatchObject({ id, title: "second" });
    const key = { room: "a&b", user: "é" };
    await members.create({ ...key, since: 1 });
    expect((await members.history(key)).data).toMatchObject([{ op: "insert", key, row: { ...key, since: 1 } }]);
    await expect(client.table("notes").history(1)).rejects.toMatchObject({ status: 404 });
    await expect(tasks.history(undefined as never, { since: "no time" })).rejects.toMatchObject({ status: 400 });
    await expect(tasks.state({} as never)).rejects.toMatchObject({ code: "bad_call" });
  });

  it("collects the state of many rows by its pages, as many as are asked for", async () => {
    const { client } = await signedIn();
    const tasks = client.table("tasks");
    await tasks.create(Array.from({ length: 130 }, (_, i) => ({ title: `t${i}` })));
    const [newest] = (await tasks.history(null, { limit: 1 })).data;
    expect(await tasks.state({ at: newest!.seq })).toHaveLength(50);
    expect(await tasks.state({ at: newest!.seq, limit: 1000 })).toHaveLength(130);
    expect(await tasks.state({ at: newest!.seq, limit: 3 })).toHaveLength(3);
  });

  it("sends writes with keys of their own, and without one where the server does not know the caller", async () => {
    const { browser } = await browse({ session: "cookie" });
    const client = browser.tab<Tables>();
    await client.table("guests").create({ name: "a" });
    await client.auth.register(credentials);
    await client.table("guests").create({ name: "b" });
    // The browser has dropped its cookies, of which the page knows nothing.
    browser.cookies.clear();
    await client.table("guests").create({ name: "c" });
    expect((await client.table("guests").list()).map(({ name }) => name)).toEqual(["a", "b", "c"]);
    await expect(client.table("notes").create({ body: "a" })).rejects.toMatchObject({ status: 401 });
    expect(await client.auth.user()).toBeNull();
  });

  it("does several writes as one, and says which of them is refused", async () => {
    const { client, notes } = await signedIn();
    const [note, comment, gone] = await client.batch([
      { op: "create", table: "notes", values: { body: "a" } },
      { op: "create", table: "comments", values: { note: { $ref: "0.id" } } },
      { op: "delete", table: "comments", key: { id: { $ref: "1.id" } } },
    ]);
    expect([note, comment, gone]).toEqual([{ id: 1, body: "a", stars: null }, { id: 1, note: 1 }, { id: 1 }]);
    const refused = client.batch([
      { op: "update", table: "notes", key: { id: 1 }, set: { stars: 5 } },
      { op: "update", table: "notes", key: { id: 9 }, set: { stars: 5 } },
    ]);
    await expect(refused).rejects.toMatchObject({
      status: 404,
      message: expect.stringMatching(/^operation 1: /),
    });
    expect(await notes.list()).toEqual([note]);
    const mutations = [{ id: 1, operations: [{ op: "delete", table: "notes", key: { id: 1 } }] }] as const;
    const pushed = await client.push({ client: "c", mutations });
    expect(pushed).toEqual({ last_id: 1, results: [{ id: 1, status: "applied", rows: [{ id: 1 }] }] });
    expect((await client.push({ client: "c", mutations })).results).toEqual([{ id: 1, status: "duplicate" }]);
    const late = client.push({ client: "c", mutations: [{ ...mutations[0], id: 3 }] });
    await expect(late).rejects.toMatchObject({ status: 409, expected: 2 });
  });

  it("filters, projects, sorts and pages", async () => {
    const { notes } = await signedIn();
    const bodies = ["100%", "a,b", "it's", "[x]", "é", "plain", "plain two"];
    for (const [i, body] of bodies.entries()) await notes.create({ body, ...(i % 2 === 0 && { stars: i }) });
    expect(bodiesOf(await notes.list({ where: { body: "it's" } }))).toEqual(["it's"]);
    expect(bodiesOf(await notes.list({ filter: { body: { contains: "%" } } }))).toEqual(["100%"]);
    expect(bodiesOf(await notes.list({ filter: { body: { in: ["a,b", "[x]"] } } }))).toEqual(["a,b", "[x]"]);
    expect(bodiesOf(await notes.list({ filter: { stars: { is_null: true } } }))).toHaveLength(3);
    expect(await notes.list({ filter: { stars: { gte: 2, lt: 6 } }, select: ["stars"] })).toEqual([
      { stars: 2 },
      { stars: 4 },
    ]);
    const page = await notes.select({ sort: ["-body", "id"], limit: 2, offset: 1 });
    expect(bodiesOf(page.data)).toEqual(["plain two", "plain"]);
    expect(page.meta).toMatchObject({ limit: 2, offset: 1, total: 7 });
    expect((await notes.find({ sort: "id", limit: 3 })).data).toEqual(await notes.list({ limit: 3 }));
    const pages: number[] = [];
    const found: string[] = [];
    for await (const { data } of notes.pages({ limit: 3, select: ["body"] })) {
      pages.push(data.length);
      found.push(...bodiesOf(data));
    }
    expect(pages).toEqual([3, 3, 1]);
    expect(found).toEqual(bodies);
  });

  it("counts and sums by groups, on one page and on all of them", async () => {
    const { notes } = await signedIn();
    for (const [i, body] of ["a", "b", "a", "a", "c"].entries())
      await notes.create({ body, ...(i > 0 && { stars: i }) });
    const query = {
      group: ["body"],
      count: ["*", "stars"],
      sum: ["stars"],
      max: ["id"],
      where: { id: 2 },
      sort: "-sum_stars",
    } as const;
    expect((await notes.aggregate(query)).data).toEqual([
      { body: "b", count: 1, count_stars: 1, sum_stars: 1, max_id: 2 },
    ]);
    const all = await notes.aggregate({
      count_distinct: ["body"],
      avg: ["stars"],
      filter: { stars: { gt: 1 } },
    });
    expect(all.data).toEqual([{ count_distinct_body: 2, avg_stars: 3 }]);
    const seen: object[] = [];
    for await (const { data, meta } of notes.aggregatePages({
      group: ["body"],
      count: ["*"],
      sort: ["-count", "body"],
      limit: 2,
    })) {
      seen.push(...data);
      expect(meta.total).toBe(3);
    }
    expect(seen).toEqual([
      { body: "a", count: 3 },
      { body: "b", count: 1 },
      { body: "c", count: 1 },
    ]);
    for (const bad of [{ group: [undefined] }, { count: undefined }, { where: { body: undefined } }, { having: 1 }])
      await expect(notes.aggregate(bad as never)).rejects.toMatchObject({ code: "bad_call" });
  });

  it("searches, in the URL and as JSON", async () => {
    const { notes } = await signedIn();
    for (const body of ["Red shoes", "a red hat", "shoehorn"]) await notes.create({ body });
    const found = ["Red shoes"];
    expect(bodiesOf(await notes.list({ search: "red sho" }))).toEqual(found);
    const long = { search: "red sho", filter: { body: { ne: "x".repeat(5_000) } } };
    expect(bodiesOf(await notes.list(long))).toEqual(found);
    expect(bodiesOf(await notes.list({ search: "sho", sort: "-id" }))).toEqual(["shoehorn", "Red shoes"]);
    await expect(notes.list({ search: null as never })).rejects.toMatchObject({ code: "bad_call" });
  });

  it("expands references in both directions, in the URL and as JSON", async () => {
    const { client, notes } = await signedIn();
    const comments = client.table("comments");
    const { id } = await notes.create({ body: "a" });
    const written = [await comments.create({ note: id }), await comments.create({ note: id })];
    const expanded = await comments.list({ expand: ["note"], limit: 1 });
    expect(expanded).toEqual([{ ...written[0], _expand: { note: { id, body: "a", stars: null } } }]);
    const query = {
      select: ["id"],
      expand: { "comments.note": { select: ["id"], sort: "-id", limit: 1, count: true } },
    } as const;
    const found = {
      id,
      _expand: { "comments.note": [{ id: written[1]!.id }] },
      _count: { "comments.note": 2 },
    };
    expect(await notes.list(query)).toEqual([found]);
    expect(await notes.list({ ...query, filter: { body: { ne: "x".repeat(5_000) } } })).toEqual([found]);
    expect(await notes.list({ select: ["id"], expand: [] })).toEqual([{ id }]);
    for (const bad of [{ expand: [undefined] }, { expand: ["a,b"] }, { expand: { "comments.note": { limit: null } } }])
      await expect(notes.list(bad as never)).rejects.toMatchObject({ code: "bad_call" });
  });

  it("filters by groups, and counts nothing where it is told so", async () => {
    const { notes } = await signedIn();
    for (const [i, body] of ["one", "Two", "three", "four"].entries()) await notes.create({ body, stars: i });
    const $or = [{ body: { icontains: "TWO" } }, { $not: { stars: { lt: 3 } } }, { $and: [{ body: { eq: "x" } }] }];
    const page = await notes.select({ filter: { $or, stars: { not_in: [7] } }, total: "none" });
    expect(page.data.map(({ body }) => body)).toEqual(["Two", "four"]);
    expect(page.meta.total).toBeNull();
    const empty = notes.list({ filter: { $or: [{ body: { eq: "one" } }, {}] } });
    await expect(empty).rejects.toMatchObject({
      code: "bad_call",
      message: "filter[$or][1]: the group is empty",
    });
  });

  it("sends lists as JSON that are too long for a query string, which then say the same", async () => {
    const { browser, notes } = await signedIn();
    const many = Array.from({ length: 500 }, (_, i) => `number ${i}`);
    for (const [i, body] of ["number 7", "number 8", "number 9", "another"].entries())
      await notes.create({ body, ...(i !== 1 && { stars: i }) });
    const found = async (query: Parameters<typeof notes.list>[0]) => {
      const sent = browser.requests.length;
      const rows: number[] = [];
      for await (const { data } of notes.pages({ ...query, limit: 1 })) rows.push(...data.map(({ id }) => id));
      return [browser.requests[sent], rows];
    };
    const asJson = "POST /api/notes/_svc/query";
    const body = { in: many };
    expect(await found({ filter: { body: { in: many.slice(0, 10) } } })).toEqual(["GET /api/notes", [1, 2, 3]]);
    expect(await found({ filter: { body } })).toEqual([asJson, [1, 2, 3]]);
    expect(await found({ where: { stars: null as never }, filter: { body, id: {} } })).toEqual([asJson, [2]]);
    const $and = [{ $or: [{ body }, { id: { gt: 3 } }], $and: [] }];
    const more = { where: { stars: 3 }, sort: "-id", total: "none", select: ["id"] } as const;
    expect(await found({ filter: { $and } })).toEqual([asJson, [1, 2, 3, 4]]);
    expect(await found({ ...more, filter: { $and } })).toEqual([asJson, [4]]);
    await expect(notes.list({ filter: { body, $not: {} } })).rejects.toMatchObject({ code: "bad_call" });
    await expect(notes.list({ filter: { body: { in: Array(1001).fill("x") } } })).rejects.toMatchObject({
      status: 400,
      message: "body: in takes 1 to 1000 values",
    });
  });

  it("lists the first rows, even if pages without any come before them", async () => {
    const { browser, notes, server } = await signedIn();
    const insert = `INSERT INTO notes (id, body) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
      SELECT i, iif(i < 240, 'other', 'mine') FROM n`;
    await run(server, insert);
    const requests = browser.requests.length;
    const filter = { body: { eq: "mine" } };
    expect((await notes.list({ filter, limit: 3 })).map(({ id }) => id)).toEqual([240, 241, 242]);
    expect(browser.requests.length - requests).toBe(3);
    expect((await notes.select({ filter, limit: 3 })).data).toEqual([]);
    expect(await notes.list({ filter: { body: { eq: "nobody's" } } })).toEqual([]);
  });

  it("tells what the server refuses, in its words", async () => {
    const { notes } = await signedIn();
    const refused = await notes.list({ limit: 0 }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SvcError);
    expect(refused).toMatchObject({
      status: 400,
      code: "bad_request",
      message: "limit: expected an integer from 1 to 1000",
      columns: [],
      isTransient: false,
    });
  });

  it("tells which columns a refusal is about, so that a form can mark its fields", async () => {
    const { notes, members } = await signedIn();
    await notes.create({ body: "one" });
    const member = { room: "r", user: "u", since: 1 };
    await members.create(member);
    const columnsOf = (call: Promise<unknown>) =>
      call.then(
        () => "no refusal",
        (error: SvcError) => error.columns,
      );
    expect(await columnsOf(members.create(member))).toEqual(["room", "user"]);
    expect(await columnsOf(notes.update(1, { stars: "many" as never }))).toEqual(["stars"]);
    expect(await columnsOf(notes.get(7))).toEqual([]);
    expect(await columnsOf(notes.get(".." as never))).toEqual([]);
  });

  it("asks nothing that would mean something else than what was meant", async () => {
    const { browser, notes, client } = await signedIn();
    await notes.create({ body: "one" });
    const requests = browser.requests.length;
    const badCall = { status: 0, code: "bad_call" };
    const missing = undefined as never;
    await expect(notes.list({ where: { body: missing } })).rejects.toMatchObject(badCall);
    await expect(notes.list({ filter: { stars: { gt: missing } } })).rejects.toMatchObject(badCall);
    for (const [filter, message] of [
      [{ $or: [] }, "filter[$or]: expected groups"],
      [{ $not: { $or: [] } }, "filter[$not][$or]: expected groups"],
      [{ $and: { stars: { gt: 1 } } }, "filter[$and]: expected groups"],
      [{ $not: undefined }, "filter[$not]: the group is empty"],
      [{ $or: [{ body: "one" }] }, "filter[$or][0][body]: expected operators such as eq"],
      [{ stars: 7 }, "filter[stars]: expected operators such as eq"],
      [{ stars: null }, "filter[stars]: expected operators such as eq"],
    ] as const)
      await expect(notes.list({ filter: filter as never })).rejects.toMatchObject({ ...badCall, message });
    await expect(notes.delete(missing)).rejects.toMatchObject(badCall);
    await expect(notes.get(null as never)).rejects.toMatchObject(badCall);
    await expect(notes.get(".." as never)).rejects.toMatchObject(badCall);
    await expect(notes.get("\ud800" as never)).rejects.toMatchObject(badCall);
    await expect(notes.create({ body: 1n as never })).rejects.toMatchObject(badCall);
    expect(() => client.table("../admin" as never)).toThrow(SvcError);
    expect(browser.requests.length).toBe(requests);
    expect(await notes.list({ where: { stars: null as never } })).toHaveLength(1);
    expect(await notes.list({ select: [], sort: [] })).toHaveLength(1);
    expect(await notes.get({ id: 1 })).toMatchObject({ body: "one" });
  });

  it("can be called off, while its session is renewed too", async () => {
    const { browser, notes } = await signedIn();
    browser.time.pass(900_000);
    const controller = new AbortController();
    browser.network = (_, __, signal) => {
      setImmediate(() => controller.abort());
      return hangs(signal);
    };
    const aborted = notes.list({}, { signal: controller.signal });
    await expect(aborted).rejects.toMatchObject({ status: 0, code: "aborted" });
    expect(browser.requestsTo("/api/notes")).toBe(0);
  });

  it("can be called off", async () => {
    const { browser, notes } = await signedIn();
    const controller = new AbortController();
    browser.network = (_, __, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        controller.abort();
      });
    const aborted = notes.list({}, { signal: controller.signal });
    await expect(aborted).rejects.toMatchObject({ status: 0, code: "aborted" });
    expect(browser.requestsTo("/api/notes")).toBe(1);
  });

  it("is called with an API key where there is one", async () => {
    const { server, browser } = await browse();
    const scopes = ["resource:notes:read"];
    const key = await createServiceKey(server.platform, {
      name: "test",
      scopes,
      expiresAt: null,
      createdBy: "cli",
    });
    if (isRefusal(key)) throw new Error(key.message);
    const client = browser.tab<Tables>(undefined, { apiKey: key.secret });
    expect(await client.table("notes").list()).toEqual([]);
    await expect(client.table("notes").create({ body: "no" })).rejects.toMatchObject({ status: 403 });
    expect(browser.requestsTo("/auth/refresh")).toBe(0);
  });
});

describe("the client's sign-in", () => {
  it("registers, tells who is signed in, signs out and in again", async () => {
    const { browser } = await browse();
    const { auth } = browser.tab();
    const told: (string | null)[] = [];
    auth.onChange((user) => told.push(user?.email ?? null));
    expect(await auth.user()).toBeNull();
    const user = await auth.register(credentials);
    expect(user).toEqual({ id: expect.any(String), email: "ada@example.com", role: "user" });
    expect(await auth.user()).toEqual(user);
    expect(await auth.me()).toMatchObject({ ...user, disabled: false, email_verified: false });
    expect(await browser.tab().auth.user()).toEqual(user);
    await auth.logout();
    expect(await auth.user()).toBeNull();
    await expect(auth.me()).rejects.toMatchObject({ status: 401 });
    expect(await auth.login(credentials)).toEqual(user);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual(["ada@example.com", null, "ada@example.com"]);
  });

  it("takes a listener's failure, and a storage of somebody else's values, for what they are", async () => {
    const { browser } = await browse({ session: "bearer" });
    for (const text of ["{}", "[]", "true", "not JSON", '{"stamp":1,"user":{},"tokens":{}}']) {
      browser.stored.set("svc.session http://127.0.0.1:8787", text);
      expect(await browser.tab().auth.user(), text).toBeNull();
    }
    const { auth } = browser.tab();
    const told: (string | null)[] = [];
    const again = () => {
      stop();
      stop = auth.onChange(again);
    };
    let stop = auth.onChange(again);
    auth.onChange((user) => told.push(user?.email ?? null));
    await auth.register(credentials);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual(["ada@example.com"]);
  });

  it("keeps no tokens of a page that leaves them to cookies", async () => {
    const { browser } = await browse({ session: "bearer" });
    await browser.tab().auth.register(credentials);
    expect([...browser.stored.values()].join()).toContain("refresh");
    await browser.tab(undefined, { session: "cookie" }).auth.user();
    expect([...browser.stored.values()].join()).not.toContain("refresh");
  });

  it("says which kind of session fits a server that leaves tokens out of its answers", async () => {
    const { browser } = await browse({ session: "cookie" });
    const { auth } = browser.tab(undefined, { session: "bearer" });
    await expect(auth.register(credentials)).rejects.toMatchObject({
      code: "unexpected_answer",
      message: expect.stringContaining('session: "cookie"'),
    });
    expect(await auth.user()).toBeNull();
    expect([...browser.stored.values()].join()).not.toContain(credentials.email);
  });

  it("changes the password, which ends the session here too", async () => {
    const { browser } = await browse();
    const { auth } = browser.tab();
    await auth.register(credentials);
    const wrong = auth.changePassword({ current_password: "wrong horse", password: "another horse" });
    await expect(wrong).rejects.toMatchObject({ status: 403, code: "invalid_credentials" });
    expect(await auth.user()).not.toBeNull();
    await auth.changePassword({ current_password: credentials.password, password: "another horse" });
    expect(await auth.user()).toBeNull();
    await auth.login({ ...credentials, password: "another horse" });
  });

  it("lists sessions and ends them, one's own included", async () => {
    const { server, browser } = await browse();
    const { auth } = browser.tab();
    await auth.register(credentials);
    const elsewhere = new Browser(server).tab().auth;
    await elsewhere.login(credentials);
    const sessions = await auth.sessions();
    expect(sessions.map(({ kind, current }) => [kind, current]).sort()).toEqual([
      ["tokens", false],
      ["tokens", true],
    ]);
    await auth.endSession(sessions.find(({ current }) => !current)!.id);
    await expect(elsewhere.me()).rejects.toMatchObject({ status: 401 });
    expect(await elsewhere.user()).toBeNull();
    await expect(auth.endSession("../me")).rejects.toMatchObject({ code: "not_found" });
    await auth.endSession((await auth.sessions())[0]!.id);
    await expect(auth.me()).rejects.toMatchObject({ status: 401 });
    expect(await auth.user()).toBeNull();
  });

  it.each(["bearer", "cookie"] as const)(
    "changes the address, and knows it on the device that asked: %s",
    async (session) => {
      const { server, browser } = await browse({ session });
      const { auth } = browser.tab();
      await auth.register(credentials);
      const elsewhere = new Browser(server, { session }).tab().auth;
      await elsewhere.login(credentials);
      const email = "home@example.org";
      await expect(auth.changeEmail({ email })).rejects.toMatchObject({ code: "password_needed" });
      expect(await auth.changeEmail({ email, password: credentials.password })).toBe(3600);
      await server.settled();
      const mail = server.mail.messages.find(({ to }) => to === email)!;
      const token = decodeURIComponent(/token=([\w%.-]+)/.exec(mail.text)![1]!);
      await expect(auth.confirmEmailChange("x".repeat(43))).rejects.toMatchObject({ code: "invalid_token" });
      await auth.confirmEmailChange(token);
      expect(await auth.user()).toMatchObject({ email });
      expect(await auth.me()).toMatchObject({ email, email_verified: true });
      await expect(elsewhere.me()).rejects.toMatchObject({ status: 401 });
      // On a device where nobody is signed in, nothing is renewed.
      await expect(elsewhere.confirmEmailChange(token)).rejects.toMatchObject({ code: "invalid_token" });
    },
  );

  it("deletes the account, which ends the session here too", async () => {
    const { browser } = await browse();
    const { auth } = browser.tab();
    await auth.register(credentials);
    const heard: unknown[] = [];
    auth.onChange((user) => heard.push(user));
    await expect(auth.deleteAccount()).rejects.toMatchObject({ status: 403, code: "password_needed" });
    expect(await auth.user()).not.toBeNull();
    await auth.deleteAccount({ password: credentials.password });
    expect(await auth.user()).toBeNull();
    expect(heard).toEqual([null]);
    await expect(auth.login(credentials)).rejects.toMatchObject({ code: "invalid_credentials" });
  });

  it("sets a password by the link of a mail", async () => {
    const { server, browser } = await browse();
    const { auth } = browser.tab();
    await auth.register(credentials);
    await auth.requestPasswordReset(credentials.email);
    await server.settled();
    const token = /token=([\w%.-]+)/.exec(server.mail.messages.at(-1)!.text)![1]!;
    await auth.confirmPasswordReset({ token: decodeURIComponent(token), password: "a third horse" });
    await auth.login({ ...credentials, password: "a third horse" });
  });
});
