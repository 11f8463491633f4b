import { describe, expect, it } from "vitest";
import { type Answer, type Client, client, dataOf, expectRefusal, metaOf, pagesOf } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const columns = `
    title: { type: text }
    body: { type: text }
    secret: { type: text }
    owner_id: { type: text }
    n: { type: integer }
  search: [title, body, secret]
`;
const schema = `
by_number:
  columns:
    id: { type: integer, primary_key: true }${columns}
by_text:
  columns:
    id: { type: text, primary_key: true }${columns}
by_pair:
  primary_key: [g, id]
  columns:
    g: { type: text }
    id: { type: integer }${columns}
plain:
  columns: { id: { type: integer, primary_key: true }, title: { type: text } }
`;
const rule = (table: string) => `
[rules.${table}]
read = "row.owner_id = auth.id or row.owner_id is null"
create = "auth.id is not null"
update = "row.owner_id = auth.id"
delete = "row.owner_id = auth.id"
[rules.${table}.columns.secret]
read = "auth.role = 'admin'"
`;
const config = `
[api]
scan_limit = 40
${["by_number", "by_text", "by_pair"].map(rule).join("")}
[rules.plain]
read = "true"
`;

/** The tables and the key of the row with a number. */
const tables = {
  by_number: (n: number) => ({ id: n }),
  by_text: (n: number) => ({ id: `k${n}` }),
  by_pair: (n: number) => ({ g: n % 2 === 0 ? "even" : "odd", id: n }),
};
type TableName = keyof typeof tables;
const names = Object.keys(tables) as TableName[];

async function shop() {
  const server = await serve({ schema, config });
  const key = client(server, await apiKey(server, "project:backend"));
  const ada = client(server, (await member(server, "ada")).bearer);
  const put = async (table: TableName, n: number, row: Readonly<Record<string, unknown>>, by: Client = key) => {
    const answer = await by.post(`/api/${table}`, { ...tables[table](n), n, ...row });
    expect(answer.status).toBe(201);
    return answer;
  };
  return { server, key, ada, put };
}

async function found(caller: Client, table: string, query: string) {
  const answer = await caller.get(`/api/${table}?${query}`);
  expect(answer.status).toBe(200);
  return dataOf<{ n: number }[]>(answer).map(({ n }) => n);
}

const meta = ({ body }: Answer) => (body as { meta: unknown }).meta;
const search = (text: string) => `search=${encodeURIComponent(text)}`;

describe.each(names)("a search in %s", (table) => {
  it("finds rows that hold every word, the last as a beginning, phrases as whole words", async () => {
    const { key, put } = await shop();
    await put(table, 1, { title: "Red shoes", body: "as new" });
    await put(table, 2, { title: "Shoes", body: "the red ones" });
    await put(table, 3, { title: "Blue shoelace", body: "reddish" });
    await put(table, 4, { title: "Crème brûlée", body: "shoe-lace, RED" });
    await put(table, 5, { title: null, body: null });
    const finds = async (text: string, expected: readonly number[]) =>
      expect(await found(key, table, `${search(text)}&sort=n`), text).toEqual(expected);
    await finds("red shoes", [1, 2]);
    await finds("shoes red", [1, 2]);
    await finds("shoelace red", [3]);
    await finds("shoe", [1, 2, 3, 4]);
    await finds('"shoe"', [4]);
    await finds('"red shoes"', [1]);
    await finds('"red sho"', []);
    await finds('"red" sho', [1, 2, 4]);
    await finds('sho "red"', []);
    await finds('"shoes', [1, 2]);
    await finds("creme BRULEE", [4]);
    await finds("shoe-l", [4]);
    await finds("  red\tshoes  ", [1, 2]);
    await finds("lace red", [4]);
  });

  it("puts rows first whose first column holds all words, last those with the words in several", async () => {
    const { key, put } = await shop();
    await put(table, 2, { title: "x", body: "a b" });
    await put(table, 4, { title: "a", body: "b" });
    await put(table, 6, { title: "b a", body: "x" });
    await put(table, 8, { title: "a b", body: "a b" });
    await put(table, 10, { title: "a", secret: "b" });
    await put(table, 12, { title: "x", secret: "a b" });
    await put(table, 14, { title: "a", body: "x" });
    const ranked = table === "by_text" ? [6, 8, 2, 12, 10, 4] : [6, 8, 2, 12, 4, 10];
    expect(await found(key, table, search("a b"))).toEqual(ranked);
    expect(await found(key, table, `${search("a b")}&sort=-n`)).toEqual([12, 10, 8, 6, 4, 2]);
    for (const limit of [1, 2, 4]) {
      const pages = await pagesOf(key, `/api/${table}?${search("a b")}&limit=${limit}`);
      expect(pages.flatMap(({ data }) => data.map(({ n }) => n))).toEqual(ranked);
    }
    expect(await found(key, table, `${search("a b")}&offset=2&limit=3`)).toEqual(ranked.slice(2, 5));
    expect(await found(key, table, `${search("a b")}&filter[n][gt]=4`)).toEqual(ranked.filter((n) => n > 4));
    const answer = await key.get(`/api/${table}?${search("a b")}&filter[n][gt]=4&limit=2&select=title`);
    expect(dataOf(answer)).toEqual([{ title: "b a" }, { title: "a b" }]);
    // Six rows for the total, and again for the page.
    expect(metaOf(answer)).toMatchObject({ total: 4, rows_read: 12, rows_returned: 2 });
    const uncounted = metaOf(await key.get(`/api/${table}?${search("a b")}&total=none`));
    expect(uncounted).toMatchObject({ total: null, rows_read: 12 });
  });

  it("follows every write, which costs what it cost without", async () => {
    const { server, key, put } = await shop();
    const at = (n: number) => `/api/${table}/_svc/key?${whereOf(table, n)}`;
    expect(meta(await put(table, 1, { title: "one" }))).toMatchObject({ rows_read: 0, rows_written: 1 });
    await put(table, 3, { title: "three" });
    expect(metaOf(await key.patch(at(1), { title: "uno" }))).toMatchObject({ rows_read: 1, rows_written: 1 });
    await key.patch(at(1), { n: 1 });
    expect([await found(key, table, search("one")), await found(key, table, search("uno"))]).toEqual([[], [1]]);
    expect(meta(await key.delete(at(3)))).toMatchObject({ rows_read: 1, rows_written: 1 });
    expect(await found(key, table, search("three"))).toEqual([]);
    const { id, g } = { g: null, ...tables[table](1) } as { id: string | number; g: string | null };
    const values = g === null ? "(id, title, n) VALUES (?, ?, 1)" : `(g, id, title, n) VALUES ('${g}', ?, ?, 1)`;
    const value = typeof id === "number" ? BigInt(id) : id;
    await run(server, `INSERT OR REPLACE INTO ${table} ${values}`, value, "replaced");
    expect([await found(key, table, search("uno")), await found(key, table, search("replaced"))]).toEqual([[], [1]]);
    await run(server, `INSERT OR IGNORE INTO ${table} ${values}`, value, "ignored");
    await run(
      server,
      `INSERT INTO ${table} ${values} ON CONFLICT DO UPDATE SET title = 'upserted'`,
      value,
      "not taken",
    );
    expect(await found(key, table, search("upserted"))).toEqual([1]);
    expect(await found(key, table, search("ignored"))).toEqual([]);
    const failed = server.database.batch([
      { sql: `UPDATE ${table} SET title = 'rolled back'`, params: [] },
      { sql: `INSERT INTO ${table} SELECT * FROM ${table}`, params: [] },
    ]);
    await expect(failed).rejects.toThrow();
    expect(await found(key, table, search("rolled"))).toEqual([]);
    const moved = typeof id === "number" ? "id = id + 100" : "id = id || 'x'";
    await run(server, `UPDATE ${table} SET ${moved}, title = 'moved'`);
    expect([await found(key, table, search("upserted")), await found(key, table, search("moved"))]).toEqual([[], [1]]);
  });

  it("neither tells nor orders by what the caller may not read", async () => {
    const { ada, put } = await shop();
    await put(table, 1, { title: "x", body: "tea for two", owner_id: "ada" });
    await put(table, 3, { title: "tea two", body: "y", secret: "for", owner_id: "ada" });
    await put(table, 5, { title: "tea for two", owner_id: null });
    await put(table, 7, { title: "tea", body: "for", secret: "two", owner_id: "ada" });
    const before = await found(ada, table, search("tea for two"));
    expect(before).toEqual([5, 1]);
    for (let n = 11; n < 27; n += 2)
      await put(table, n, {
        title: "tea tea tea for two",
        body: "two two",
        secret: "tea for two",
        owner_id: "bob",
      });
    const answer = await ada.get(`/api/${table}?${search("tea for two")}`);
    expect(dataOf<{ n: number }[]>(answer).map(({ n }) => n)).toEqual(before);
    expect(metaOf(answer).total).toBe(2);
    expect(await found(ada, table, search("tea two"))).toEqual([3, 5, 1]);
    expect(JSON.stringify(dataOf(answer))).not.toContain("secret");
  });

  it("refuses more matches than can be sorted, and pages that begin too deep", async () => {
    const { server, key, ada, put } = await shop();
    await put(table, 1, { title: "few" });
    const key_ = table === "by_text" ? "'k' || i" : "i";
    const g = table === "by_pair" ? ["g, ", "'even', "] : ["", ""];
    await run(
      server,
      `WITH RECURSIVE i(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM i WHERE i < 139) INSERT INTO ${table} (${g[0]}id, title, n) SELECT ${g[1]}${key_}, 'many', i FROM i`,
    );
    expect(metaOf(await key.get(`/api/${table}?${search("many")}`))).toMatchObject({
      total: 40,
      rows_read: 80,
    });
    await put(table, 201, { title: "many", body: "ones", owner_id: "bob" });
    for (const caller of [key, ada]) {
      const message = expectRefusal(await caller.get(`/api/${table}?${search("many")}`), 400, "bad_request");
      expect(message).toBe(
        "search: more than 40 rows match, which are too many to sort: more words, or longer ones, would help",
      );
    }
    expectRefusal(await key.get(`/api/${table}?${search("many")}&sort=n&filter[n][eq]=100`), 400, "bad_request");
    expect(await found(key, table, search("many ones"))).toEqual([201]);
    expectRefusal(await key.get(`/api/${table}?${search("few")}&offset=10001`), 400, "bad_request");
  });
});

function whereOf(table: TableName, n: number): string {
  return Object.entries(tables[table](n))
    .map(([column, value]) => `${column}=${value}`)
    .join("&");
}

it("takes nothing in the words for syntax", async () => {
  const { key, put } = await shop();
  await put("by_number", 1, { title: "red AND blue NEAR title: c0 (x) 🙂" });
  await put("by_number", 2, { title: "red" });
  const finds = async (text: string, expected: readonly number[]) =>
    expect(await found(key, "by_number", search(text)), text).toEqual(expected);
  await finds("red AND blue", [1]);
  await finds("red OR blue", []);
  await finds("NEAR(red blue)", []);
  await finds("NEAR blue", [1]);
  await finds("red NOT blue", []);
  await finds("title:red", []);
  await finds("{c0} : red", []);
  await finds("c0", [1]);
  await finds("^red", [1, 2]);
  await finds("-red", [1, 2]);
  await finds("red + blue", []);
  await finds("re*", [1, 2]);
  await finds("r*d", []);
  await finds("***", []);
  await finds("red ***", []);
  await finds("*** red", []);
  await finds('""', []);
  await finds('"', []);
  await finds('red"', [1, 2]);
  await finds("'); DROP TABLE by_number; --", []);
  await finds("🙂", [1]);
  await finds("😀", []);
  await finds("\u0301", []);
  await finds("x".repeat(1000), []);
  await finds(Array.from({ length: 32 }, () => "red").join(" "), [1, 2]);
  const refused = async (text: string, message: string) =>
    expect(expectRefusal(await key.get(`/api/by_number?${search(text)}`), 400, "bad_request")).toBe(message);
  await refused(Array.from({ length: 33 }, () => "red").join(" "), "search: at most 32 words");
  await refused("red-".repeat(33), "search: at most 32 words");
  await refused(`"${"red ".repeat(33)}"`, "search: at most 32 words");
  await refused("* ".repeat(33), "search: at most 32 words");
  await refused("x".repeat(10_000), "search: at most 1000 characters");
  await refused("", "search: expected words");
  await refused(" \t ", "search: expected words");
  expectRefusal(await key.get("/api/by_number?search=red%00blue"), 400, "bad_request");
  const asJson = (words: unknown) => key.post("/api/by_number/_svc/query", { search: words });
  expect(dataOf<{ n: number }[]>(await asJson("red")).map(({ n }) => n)).toEqual([1, 2]);
  expectRefusal(await asJson("red\0blue"), 400, "bad_request");
  expectRefusal(await asJson(["red"]), 400, "bad_request");
});

it("is an unknown parameter where there is nothing to search", async () => {
  const { key, ada } = await shop();
  const refused = async (caller: Client, path: string) =>
    expect(expectRefusal(await caller.get(path), 400, "bad_request")).toBe('unknown parameter "search"');
  await refused(key, "/api/plain?search=x");
  await refused(key, "/api/by_number/_svc/aggregate?count=*&search=x");
  expectRefusal(await key.get("/api/by_number?search=x&search=y"), 400, "bad_request");
  expectRefusal(await key.get("/api/by_number?search[title]=x"), 400, "bad_request");
  expectRefusal(await ada.get("/api/_search_by_number_words"), 404, "not_found");
  expectRefusal(await key.get("/api/_search_by_text_keys"), 404, "not_found");
  const hidden = await serve({
    schema,
    config: config.replace(
      "[rules.by_number.columns.secret]",
      '[rules.by_number.columns.title]\nread = "false"\n[rules.by_number.columns.body]\nread = "false"\n[rules.by_number.columns.secret]',
    ),
  });
  const bob = client(hidden, (await member(hidden, "bob")).bearer);
  await refused(bob, "/api/by_number?search=x");
});

const shared = `
members:
  primary_key: [room, user]
  columns: { room: { type: integer, not_null: true }, user: { type: text, not_null: true } }
  indexes: [{ columns: [user] }]
${["notes", "papers"]
  .map(
    (table) => `${table}:
  columns:
    id: { type: ${table === "notes" ? "integer" : "text"}, primary_key: true }
    room: { type: integer }
    author: { type: text }
    title: { type: text }
    body: { type: text }
  search: [title, body]
  indexes: [{ columns: [room] }, { columns: [author] }]
`,
  )
  .join("")}`;
const ofMembers = ["notes", "papers"].map(
  (table) => `[rules.${table}]
read = "row.author = auth.id or exists(members m where m.room = row.room and m.user = auth.id)"
`,
);

describe.each(["notes", "papers"])("a search of %s, of which the caller may read few", (table) => {
  /** Ada wrote 7 and 14, and is a member of room 1, which has 20, 40, …, 200. Everything has "red" in it, and 10, 20, … a title. */
  async function shelves() {
    const server = await serve({ schema: shared, config: `[api]\nscan_limit = 40\n${ofMembers.join("")}` });
    await run(server, "INSERT INTO members VALUES (1, 'ada')");
    await run(
      server,
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
        INSERT INTO ${table} (id, room, author, title, body)
        SELECT i, iif(i % 20 = 0, 1, 2), iif(i IN (7, 14), 'ada', 'bob'), iif(i % 10 = 0, 'A red shoe', 'Another'), 'red ' || i FROM n`,
    );
    return { server, ada: client(server, (await member(server, "ada")).bearer) };
  }
  const ofRoom = [20, 40, 60, 80, 100, 120, 140, 160, 180, 200];
  const idsOf = (answer: Answer) => dataOf<{ id: unknown }[]>(answer).map(({ id }) => Number(id));
  const asTexts = (ids: readonly number[]) =>
    table === "notes" ? [...ids] : ids.toSorted((a, b) => (String(a) < String(b) ? -1 : 1));

  it("costs what these cost, however many rows of others match", async () => {
    const { server, ada } = await shelves();
    const all = await ada.get(`/api/${table}?search=re`);
    // By the title those of the room; 7 and 14 by the body.
    expect(idsOf(all)).toEqual([...asTexts(ofRoom), ...asTexts([7, 14])]);
    // One membership; twelve rows that the ways lead to; the twelve that match, and for those of the room its membership,
    // twice, as they are sorted.
    expect(metaOf(all)).toMatchObject({ total: 12, rows_read: 1 + 12 + 2 * (12 + 10) });
    const sorted = await ada.get(`/api/${table}?search=red&sort=-body&limit=3`);
    expect(idsOf(sorted)).toEqual([80, 7, 60]);
    const pages = await pagesOf(ada, `/api/${table}?search=red+sho&limit=4`);
    expect(pages.map(({ data }) => data.length)).toEqual([4, 4, 2]);
    expect(pages.flatMap(({ data }) => data).map(({ id }) => Number(id))).toEqual(asTexts(ofRoom));
    // What hidden rows hold changes nothing of it.
    await run(server, `DELETE FROM ${table} WHERE room = 2 AND author = 'bob'`);
    expect(idsOf(await ada.get(`/api/${table}?search=re`))).toEqual(idsOf(all));
  });

  it("is met with a filter that an index serves", async () => {
    const { server } = await shelves();
    const key = client(server, await apiKey(server, "project:backend"));
    expect(idsOf(await key.get(`/api/${table}?search=red&where[author]=ada`))).toEqual(asTexts([7, 14]));
    expect(idsOf(await key.get(`/api/${table}?search=shoe&where[room]=1&filter[body][ne]=red 20`))).toEqual(
      asTexts(ofRoom.slice(1)),
    );
    // Neither is small.
    const refused = await key.get(`/api/${table}?search=red&where[room]=2`);
    expect(expectRefusal(refused, 400, "bad_request")).toContain("more than 40 rows match");
  });

  it("goes on with that filter from page to page, where the caller's ways lead to more rows", async () => {
    const { server, ada } = await shelves();
    await run(server, "INSERT INTO members VALUES (2, 'ada')");
    const pages = await pagesOf(ada, `/api/${table}?search=red&filter[author][in]=ada,zoe&limit=1`);
    expect(pages.flatMap(({ data }) => data).map(({ id }) => Number(id))).toEqual(asTexts([7, 14]));
  });
});

it("looks through 16 columns at once, also among rows that ten filters joined by or lead to", async () => {
  const texts = Array.from({ length: 16 }, (_, i) => `t${i}`);
  const numbers = Array.from({ length: 10 }, (_, i) => `n${i}`);
  const server = await serve({
    schema: `
wide:
  columns:
    id: { type: text, primary_key: true }
    ${texts.map((column) => `${column}: { type: text }`).join("\n    ")}
    ${numbers.map((column) => `${column}: { type: integer }`).join("\n    ")}
  search: [${texts.join(", ")}]
  indexes: [${numbers.map((column) => `{ columns: [${column}] }`).join(", ")}]
`,
    config: '[rules.wide]\nread = "public"\n',
  });
  await run(server, "INSERT INTO wide (id, t15, n0) VALUES ('c', 'red shoe', 1)");
  await run(server, "INSERT INTO wide (id, t0, t1, n9) VALUES ('b', 'red', 'shoe', 1)");
  await run(server, "INSERT INTO wide (id, t3, n4, n5) VALUES ('a', 'shoe, red', 1, 1)");
  await run(server, "INSERT INTO wide (id, t3, n4) VALUES ('d', 'red shoe', 2)");
  const any = numbers.map((column, i) => `filter[$or][${i}][${column}][eq]=1`).join("&");
  const answer = await client(server).get(`/api/wide?search=red shoe&${any}`);
  expect([answer.status, dataOf<{ id: string }[]>(answer).map(({ id }) => id)]).toEqual([200, ["a", "c", "b"]]);
});
