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
    expect(dataOf(await root.get(`${docs}?select=body`, preview))).toEqual([
      { body: long.body },
      { body: "short" },
    ]);
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
  ])(
    "of %i bytes cuts no character of %s and %s, %i times",
    async (max, begin, character, times, bytes, left) => {
      const text = begin + character.repeat(times);
      const { root } = await served(text);
      const row = dataOf<{ body: unknown }>(await root.get(`${docs}/1`, { "Svc-Preview": String(max) }));
      const beginning = begin + character.repeat(left);
      expect(row.body).toEqual(bytes > max ? { $preview: beginning, bytes } : text);
    },
  );

  it("of values that are too large for an answer", async () => {
    const { server, root } = await served();
    for (let id = 10; id < 30; id++)
      await run(server, "INSERT INTO docs (id, body) VALUES (?, hex(zeroblob(900000)))", BigInt(id));
    expectRefusal(await root.get(docs), 400, "bad_request");
    const list = dataOf<{ body: unknown }[]>(await root.get(docs, preview));
    expect(list).toHaveLength(22);
    expect(list[2]!.body).toEqual({ $preview: "0".repeat(100), bytes: 1_800_000 });
  });

  it("of a hundred columns", async () => {
    const columns = Array.from({ length: 99 }, (_, i) => `a_column_of_some_text_${i}`);
    const wide = `wide: { columns: { id: { type: integer, primary_key: true }, ${columns.map((name) => `${name}: { type: ${["text", "json", "blob"][Number(name.slice(22)) % 3]} }`).join(", ")} } }`;
    const server = await serve({ schema: wide });
    const root = client(server, (await member(server, "root", "admin")).bearer);
    await run(
      server,
      `INSERT INTO wide (id, ${columns[0]}, ${columns[98]}) VALUES (1, ?, x'01')`,
      "x".repeat(200),
    );
    const one = { [columns[0]!]: { $preview: "x".repeat(100), bytes: 200 }, [columns[1]!]: null };
    expect(dataOf(await root.get("/admin/api/data/wide/1", preview))).toMatchObject(one);
    expect(dataOf(await root.get("/admin/api/data/wide", preview))).toMatchObject([one]);
    const sorted = await root.get(`/admin/api/data/wide?sort=${columns[3]}&limit=1`, preview);
    expect(dataOf(sorted)).toMatchObject([one]);
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
    expect(dataOf(await root.get("/api/docs?where[id]=1&select=body", preview))).toEqual([
      { body: "é".repeat(500) },
    ]);
    expect(dataOf(await root.patch(`${docs}/1`, { score: 2 }, preview))).toMatchObject({
      body: "é".repeat(500),
    });
  });
});
