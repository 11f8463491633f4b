import { describe, expect, it } from "vitest";
import { type Client, client, dataOf, expectRefusal, metaOf } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const schema = `
docs:
  columns:
    id:      { type: integer, primary_key: true }
    body:    { type: text }
    extra:   { type: json }
    file:    { type: blob }
    score:   { type: real }
    up:      { type: integer, references: { table: docs } }
    version: { type: integer, managed: version }
  indexes: [{ columns: [body] }, { columns: [up] }]
`;
const config = '[rules.docs]\nread = "public"\n';
const docs = "/admin/api/data/docs";

/** One row whose values are long, and one whose values are short. */
async function served(text = "é".repeat(500)): Promise<{ server: TestServer; root: Client }> {
  const server = await serve({ schema, config });
  const root = client(server, (await member(server, "root", "admin")).bearer);
  const long = [text, JSON.stringify({ a: "x".repeat(300) }), new Uint8Array(300).fill(7)];
  await run(server, "INSERT INTO docs VALUES (1, ?, ?, ?, 1.5, NULL, 5)", ...long);
  await run(server, "INSERT INTO docs VALUES (2, 'short', '{\"a\":1}', x'0102', NULL, 1, 6)");
  return { server, root };
}

const long = {
  id: 1,
  body: { $preview: "é".repeat(50), bytes: 1000 },
  extra: { $preview: `{"a":"${"x".repeat(94)}`, bytes: 308 },
  file: { $preview: "BwcH".repeat(25), bytes: 300 },
  score: 1.5,
  up: null,
  version: 5,
};
const short = { id: 2, body: "short", extra: { a: 1 }, file: "AQI=", score: null, up: 1, version: 6 };
const preview = { "Svc-Preview": "100" };

describe("Svc-Preview", () => {
  it("shows long values by their beginning, in lists and single rows, in any order", async () => {
    const { root } = await served();
    expect(dataOf(await root.get(docs, preview))).toEqual([long, short]);
    expect(dataOf(await root.get(`${docs}?sort=-body`, preview))).toEqual([long, short]);
    expect(dataOf(await root.get(`${docs}?sort=score&filter[id][lte]=2`, preview))).toEqual([short, long]);
    expect(dataOf(await root.get(`${docs}?where[body]=short`, preview))).toEqual([short]);
    expect(dataOf(await root.get(`${docs}?select=body`, preview))).toEqual([{ body: long.body }, { body: "short" }]);
    expect(dataOf(await root.post(`${docs}/_svc/query`, { select: ["file"] }, preview))).toEqual([
      { file: long.file },
      { file: "AQI=" },
    ]);
    const one = await root.get(`${docs}/1`, preview);
    expect(dataOf(one)).toEqual(long);
    expect(one.headers.get("ETag")).toBe('"5"');
    expect(dataOf(await root.get(`${docs}/_svc/key?id=1`, preview))).toEqual(long);
    const expanded = await root.get(`${docs}?where[id]=2&expand=up`, preview);
    expect(dataOf(expanded)).toEqual([{ ...short, _expand: { up: long } }]);
    const inner = await root.get(`${docs}?where[id]=1&expand=docs.up`, preview);
    expect(dataOf(inner)).toEqual([{ ...long, _expand: { "docs.up": [short] } }]);
  });

  it("goes from page to page in the order of a long column", async () => {
    const { root } = await served();
    const first = await root.get(`${docs}?sort=-body&limit=1`, preview);
    expect(dataOf(first)).toEqual([long]);
    const second = await root.get(`${docs}?cursor=${metaOf(first).next_cursor}`, preview);
    expect(dataOf(second)).toEqual([short]);
    expect(dataOf(await root.get(`${docs}?sort=-body&limit=1`))).toMatchObject([{ body: "é".repeat(500) }]);
  });

  it.each([
    [64, "abc", "é", 30, 63, 30],
    [64, "abcd", "é", 31, 66, 30],
    [64, "abc", "é", 31, 65, 30],
    [65, "ab", "😀", 16, 66, 15],
    [66, "ab", "😀", 17, 70, 16],
  ])("of %i bytes cuts no character of %s and %s, %i times", async (max, begin, character, times, bytes, left) => {
    const text = begin + character.repeat(times);
    const { root } = await served(text);
    const row = dataOf<{ body: unknown }>(await root.get(`${docs}/1`, { "Svc-Preview": String(max) }));
    const beginning = begin + character.repeat(left);
    expect(row.body).toEqual(bytes > max ? { $preview: beginning, bytes } : text);
  });

  it("of values that are too large for an answer", async () => {
    const { server, root } = await served();
    for (let id = 10; id < 30; id++)
      await run(server, "INSERT INTO docs (id, body) VALUES (?, hex(zeroblob(900000)))", BigInt(id));
    expect(dataOf<unknown[]>(await root.get(docs)).length).toBeLessThan(22);
    const list = dataOf<{ body: unknown }[]>(await root.get(docs, preview));
    expect(list).toHaveLength(22);
    expect(list[2]!.body).toEqual({ $preview: "0".repeat(100), bytes: 1_800_000 });
  });

  it("of a hundred columns", async () => {
    const columns = Array.from({ length: 99 }, (_, i) => `a_column_of_some_text_${i}`);
    const wide = `wide: { columns: { id: { type: integer, primary_key: true }, ${columns.map((name) => `${name}: { type: ${["text", "json", "blob"][Number(name.slice(22)) % 3]} }`).join(", ")} } }`;
    const server = await serve({ schema: wide });
    const root = client(server, (await member(server, "root", "admin")).bearer);
    await run(server, `INSERT INTO wide (id, ${columns[0]}, ${columns[98]}) VALUES (1, ?, x'01')`, "x".repeat(200));
    const one = { [columns[0]!]: { $preview: "x".repeat(100), bytes: 200 }, [columns[1]!]: null };
    expect(dataOf(await root.get("/admin/api/data/wide/1", preview))).toMatchObject(one);
    expect(dataOf(await root.get("/admin/api/data/wide", preview))).toMatchObject([one]);
    const sorted = await root.get(`/admin/api/data/wide?sort=${columns[3]}&limit=1`, preview);
    expect(dataOf(sorted)).toMatchObject([one]);
    const changed = await root.patch("/admin/api/data/wide/1", { [columns[3]!]: "y".repeat(200) }, preview);
    const cut = { ...one, [columns[3]!]: { $preview: "y".repeat(100), bytes: 200 } };
    expect(dataOf(changed)).toMatchObject(cut);
  });

  it("goes together with Svc-As, and with keys", async () => {
    const { server, root } = await served();
    const key = client(server, await apiKey(server, "project:backend"));
    expect(dataOf(await key.get(`${docs}/1`, preview))).toEqual(long);
    const seen = await root.get(`${docs}/1`, { ...preview, "Svc-As": "anonymous" });
    expect(dataOf(seen)).toEqual(long);
  });

  it.each(["63", "10001", "-1", "1e3", "100.5", "all", ""])("is no %j", async (text) => {
    const { root } = await served();
    for (const path of [docs, `${docs}/1`])
      expectRefusal(await root.get(path, { "Svc-Preview": text }), 400, "bad_request");
  });

  it("means nothing to other requests, and nothing under /api", async () => {
    const { root } = await served();
    expect(dataOf(await root.get("/api/docs/2", { "Svc-Preview": "nonsense" }))).toEqual(short);
    expect(dataOf(await root.get("/api/docs?where[id]=1&select=body", preview))).toEqual([{ body: "é".repeat(500) }]);
    const counted = await root.get(`${docs}/_svc/aggregate?group=body&count=*`, preview);
    expect(dataOf<{ body: string }[]>(counted).map(({ body }) => body.length)).toEqual([5, 500]);
  });
});

describe("Svc-Preview on what is written", () => {
  const text = "é".repeat(500);
  const cut = { $preview: "é".repeat(50), bytes: 1000 };
  const bodyOf = async (server: TestServer, id: number) => {
    const sql = "SELECT body FROM docs WHERE id = ?";
    return (await server.database.query([{ sql, params: [BigInt(id)] }]))[0]!.rows[0]?.[0];
  };

  it("shows the beginnings of what a row has after a change, and writes it whole", async () => {
    const { server, root } = await served();
    const patched = await root.patch(`${docs}/1`, { score: 2 }, preview);
    expect(dataOf(patched)).toEqual({ ...long, score: 2, version: 6 });
    expect(patched.headers.get("ETag")).toBe('"6"');
    const guarded = await root.patch(`${docs}/_svc/key?id=2`, { body: text }, { ...preview, "If-Match": '"6"' });
    expect(dataOf(guarded)).toEqual({ ...short, body: cut, version: 7 });
    expect(await bodyOf(server, 1)).toBe(text);
    expect(await bodyOf(server, 2)).toBe(text);
    const created = await root.post(docs, { id: 3, body: text, file: "AQI=" }, preview);
    expect(created.status).toBe(201);
    expect(dataOf(created)).toMatchObject({ id: 3, body: cut, file: "AQI=" });
    expect(dataOf(await root.delete(`${docs}/3`, preview))).toEqual({ id: 3 });
    // What others have asked for without it is not what is kept of their statements.
    expect(dataOf(await root.patch(`${docs}/1`, { score: 3 }))).toMatchObject({ body: text, score: 3 });
  });

  it("so do several rows, and rows that are there already", async () => {
    const { server, root } = await served();
    const rows = [
      { id: 3, body: text },
      { id: 4, body: "short" },
    ];
    const bulk = await root.post(docs, rows, preview);
    expect(dataOf(bulk)).toMatchObject([
      { id: 3, body: cut },
      { id: 4, body: "short" },
    ]);
    expect(await bodyOf(server, 3)).toBe(text);
    const upserts = `${docs}?on_conflict=id&on_duplicate`;
    const kept = await root.post(`${upserts}=ignore`, { id: 1, body: "other" }, preview);
    expect(dataOf(kept)).toEqual(long);
    const changed = await root.post(
      `${upserts}=update`,
      [
        { id: 1, score: 2 },
        { id: 5, body: text },
      ],
      preview,
    );
    expect(dataOf(changed)).toMatchObject([
      { ...long, score: 2, version: 6 },
      { id: 5, body: cut },
    ]);
    expect(await bodyOf(server, 5)).toBe(text);
  });

  it("and a request that is repeated is answered as at first", async () => {
    const { server, root } = await served();
    const once = { ...preview, "Idempotency-Key": "one" };
    const first = await root.post(docs, { id: 3, body: text }, once);
    expect(dataOf(first)).toMatchObject({ id: 3, body: cut });
    const again = await root.post(docs, { id: 3, body: text }, once);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(dataOf(again)).toEqual(dataOf(first));
    const huge = "x".repeat(300_000);
    const large = { ...preview, "Idempotency-Key": "two" };
    for (let i = 0; i < 2; i++)
      expect(dataOf(await root.patch(`${docs}/1`, { body: huge }, large))).toMatchObject({
        body: { $preview: "x".repeat(100), bytes: 300_000 },
      });
    expect(await bodyOf(server, 1)).toBe(huge);
  });

  it("is refused before anything is written where it is none", async () => {
    const { server, root } = await served();
    const wrong = { "Svc-Preview": "63" };
    expectRefusal(await root.patch(`${docs}/1`, { body: "no" }, wrong), 400, "bad_request");
    expectRefusal(await root.post(docs, { id: 3 }, wrong), 400, "bad_request");
    expect(await bodyOf(server, 1)).toBe(text);
    expect(await bodyOf(server, 3)).toBeUndefined();
  });
});

describe("Svc-Preview of the past", () => {
  const pages = "/admin/api/data/pages";
  const past = `
pages:
  history: 30d
  columns:
    id:   { type: integer, primary_key: true }
    body: { type: text }
    extra: { type: json }
    file: { type: blob }
    note: { type: real }
`;
  const [first, second] = ["a", "b"].map((end) => "x".repeat(20_000) + end) as [string, string];
  const cut = { $preview: "x".repeat(100), bytes: 20_001 };
  type Version = {
    readonly seq: number;
    readonly op: string;
    readonly changed: unknown;
    readonly row: unknown;
  };

  it("shows versions by their beginnings, tells what differs behind them, and restores the whole", async () => {
    const server = await serve({ schema: past });
    const root = client(server, (await member(server, "root", "admin")).bearer);
    const extra = { a: "y".repeat(300) };
    const cutExtra = { $preview: `{"a":"${"y".repeat(94)}`, bytes: 308 };
    await root.post(pages, { id: 1, body: first, extra, note: 1e300 });
    await root.patch(`${pages}/1`, { body: second });
    await root.patch(`${pages}/1`, { note: 2, file: btoa("z".repeat(300)) });
    const of = `${pages}/_svc/history?where[id]=1`;
    const versions = dataOf<Version[]>(await root.get(of, preview));
    const file = { $preview: "enp6".repeat(25), bytes: 300 };
    const row = { id: 1, body: cut, extra: cutExtra, file: null, note: 1e300 };
    expect(versions.map(({ op, changed, row }) => ({ op, changed, row }))).toEqual([
      { op: "update", changed: ["file", "note"], row: { ...row, file, note: 2 } },
      { op: "update", changed: ["body"], row },
      { op: "insert", changed: null, row },
    ]);
    const whole = dataOf<Version[]>(await root.get(of));
    expect(whole.map(({ changed }) => changed)).toEqual([["file", "note"], ["body"], null]);
    expect(whole[2]!.row).toEqual({ id: 1, body: first, extra, file: null, note: 1e300 });

    const at = versions[2]!.seq;
    const state = await root.get(`${pages}/_svc/state?at=${at}`, preview);
    expect(dataOf(state)).toEqual([row]);
    const restored = await root.post(`${pages}/_svc/restore`, { key: { id: 1 }, seq: at }, preview);
    expect(dataOf(restored)).toEqual(row);
    expect(dataOf(await root.get(`${pages}/1`))).toEqual({
      id: 1,
      body: first,
      extra,
      file: null,
      note: 1e300,
    });
    await root.delete(`${pages}/1`);
    const back = await root.post(`${pages}/_svc/restore`, { key: { id: 1 }, seq: versions[1]!.seq }, preview);
    expect(dataOf(back)).toEqual(row);
    expect(dataOf<{ body: string }>(await root.get(`${pages}/1`)).body).toBe(second);
    const deleted = dataOf<Version[]>(await root.get(of, preview))[1];
    expect(deleted).toMatchObject({ op: "delete", changed: null, row: null });
    for (const path of [of, `${pages}/_svc/state?at=${at}`])
      expectRefusal(await root.get(path, { "Svc-Preview": "1" }), 400, "bad_request");
  });

  it("of fifty columns", async () => {
    const names = Array.from({ length: 50 }, (_, i) => `a_column_of_some_text_${i}`);
    const columns = names.map((name, i) => `${name}: { type: ${["text", "json", "blob"][i % 3]} }`).join(", ");
    const wide = `wide: { history: 30d, columns: { id: { type: integer, primary_key: true }, ${columns} } }`;
    const server = await serve({ schema: wide });
    const root = client(server, (await member(server, "root", "admin")).bearer);
    await root.post("/admin/api/data/wide", { id: 1, [names[0]!]: "x".repeat(200) });
    await root.patch("/admin/api/data/wide/1", { [names[48]!]: "y".repeat(200) });
    const row = { [names[0]!]: { $preview: "x".repeat(100), bytes: 200 }, [names[48]!]: null };
    const changed = { ...row, [names[48]!]: { $preview: "y".repeat(100), bytes: 200 } };
    expect(dataOf(await root.get("/admin/api/data/wide/_svc/history", preview))).toMatchObject([
      { changed: [names[48]], row: changed },
      { op: "insert", row },
    ]);
    expect(dataOf(await root.get("/admin/api/data/wide/_svc/state?at=2", preview))).toMatchObject([changed]);
  });
});
