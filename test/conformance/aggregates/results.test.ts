import { describe, expect, it } from "vitest";
import { adopted } from "../../support/adopted.js";
import { client, dataOf, expectAnswer, expectRefusal, metaOf } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const schema = `
orders:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text, not_null: true }
    status: { type: text }
    cents: { type: integer }
    weight: { type: real }
    paid: { type: boolean }
    picture: { type: blob }
    extra: { type: json }
    margin: { type: integer }
  indexes: [{ columns: [status] }, { columns: [owner_id] }]
`;
const config = `
[rules.orders]
read = "row.owner_id = auth.id"
[rules.orders.columns.margin]
read = "auth.role = 'admin'"
`;

async function shop() {
  const server = await serve({ schema, config });
  await run(
    server,
    `INSERT INTO orders VALUES
      (1, 'ada', 'open', 100, 1.5, 1, x'00', '{}', 1), (2, 'ada', 'open', 250, NULL, 0, NULL, NULL, 1),
      (3, 'ada', 'sent', 50, 0.25, NULL, x'ff', '[1]', 1), (4, 'ada', NULL, NULL, 2, 1, NULL, '1', 1),
      (5, 'bob', 'open', 9999, 99, 1, x'0000', '2', 1)`,
  );
  return {
    server,
    key: client(server, await apiKey(server, "resource:orders:read")),
    ada: client(server, (await member(server, "ada")).bearer),
    bob: client(server, (await member(server, "bob")).bearer),
  };
}

const path = (query: string) => `/api/orders/_svc/aggregate?${query}`;

describe("an aggregate", () => {
  it("counts and sums by groups, in their order, over the rows that the caller may read", async () => {
    const { ada, bob } = await shop();
    expectAnswer(await ada.get(path("count=*&sum=cents,weight&group=status")), 200, {
      data: [
        { status: null, count: 1, sum_cents: null, sum_weight: 2 },
        { status: "open", count: 2, sum_cents: 350, sum_weight: 1.5 },
        { status: "sent", count: 1, sum_cents: 50, sum_weight: 0.25 },
      ],
      meta: expect.objectContaining({ limit: 50, offset: 0, total: 3, rows_returned: 3 }),
    });
    expect(dataOf(await bob.get(path("count=*&sum=cents&group=status")))).toEqual([
      { status: "open", count: 1, sum_cents: 9999 },
    ]);
  });

  it.each([
    ["count=*", { count: 4 }],
    ["count=*,cents,extra,paid", { count: 4, count_cents: 3, count_extra: 3, count_paid: 3 }],
    ["count_distinct=status,paid", { count_distinct_status: 2, count_distinct_paid: 2 }],
    ["sum=cents&avg=cents,weight", { sum_cents: 400, avg_cents: 400 / 3, avg_weight: 1.25 }],
    ["min=cents,status,weight", { min_cents: 50, min_status: "open", min_weight: 0.25 }],
    ["max=cents,status,weight", { max_cents: 250, max_status: "sent", max_weight: 2 }],
    [
      "min=paid,picture&max=paid,picture",
      { min_paid: false, min_picture: "AA==", max_paid: true, max_picture: "/w==" },
    ],
    ["max=id&min=id&count=id", { max_id: 4, min_id: 1, count_id: 4 }],
    ["count=*&filter[status][is_null]=true", { count: 1 }],
    ["count=*&where[status]=open&filter[cents][gt]=100", { count: 1 }],
    ["count=*&filter[$or][0][status][eq]=sent&filter[$or][1][cents][eq]=100", { count: 2 }],
    ["count=*&filter[id][in]=1,2,5", { count: 2 }],
    ["count=*&filter[status][contains]=en", { count: 3 }],
  ])("%s", async (query, expected) => {
    const { ada } = await shop();
    const answer = await ada.get(path(query));
    expect(dataOf(answer)).toEqual([expected]);
    expect(metaOf(answer)).toMatchObject({ total: 1, offset: 0 });
  });

  it("lists groups alone, and groups by several columns of any type", async () => {
    const { ada } = await shop();
    expect(dataOf(await ada.get(path("group=paid")))).toEqual([{ paid: null }, { paid: false }, { paid: true }]);
    expect(dataOf(await ada.get(path("group=picture,weight&count=*&filter[cents][is_null]=false")))).toEqual([
      { picture: null, weight: null, count: 1 },
      { picture: "AA==", weight: 1.5, count: 1 },
      { picture: "/w==", weight: 0.25, count: 1 },
    ]);
  });

  it("over no rows counts 0 and has null for everything else, and with groups has none", async () => {
    const { ada } = await shop();
    for (const filter of [
      "where[status]=none",
      "filter[cents][gt]=100000",
      "filter[status][is_null]=true&filter[id][lt]=2",
    ]) {
      const answer = await ada.get(
        path(`count=*,cents&count_distinct=status&sum=cents,weight&avg=cents&min=status&max=id&${filter}`),
      );
      expect(dataOf(answer), filter).toEqual([
        {
          count: 0,
          count_cents: 0,
          count_distinct_status: 0,
          sum_cents: null,
          sum_weight: null,
          avg_cents: null,
          min_status: null,
          max_id: null,
        },
      ]);
      expect(metaOf(answer)).toMatchObject({ total: 1 });
      expect(dataOf(await ada.get(path(`count=*&group=status&${filter}`)))).toEqual([]);
    }
    const server = await serve({ schema, config: '[rules.orders]\nread = "public"' });
    const empty = await client(server).get(path("count=*&sum=cents"));
    expect(dataOf(empty)).toEqual([{ count: 0, sum_cents: null }]);
    expect((await client(server).get(path("count=*&group=status"))).body).toMatchObject({
      data: [],
      meta: { total: 0 },
    });
  });

  it("has exact sums of integers, in digits where a number is not exact", async () => {
    const { server, key } = await shop();
    await run(server, "DELETE FROM orders");
    const sumOf = async (...values: string[]) => {
      await run(server, "DELETE FROM orders");
      for (const [i, value] of values.entries())
        await run(server, `INSERT INTO orders (id, owner_id, cents) VALUES (${i + 1}, 'x', ${value})`);
      const [row] = dataOf<[Record<string, unknown>]>(await key.get(path("sum=cents&avg=cents")));
      return [row.sum_cents, row.avg_cents];
    };
    const [most, least] = ["9223372036854775807", "-9223372036854775807 - 1"];
    expect(await sumOf("-1")).toEqual([-1, -1]);
    expect(await sumOf("-4294967297", "4294967296")).toEqual([-1, -0.5]);
    expect(await sumOf("9007199254740991")).toEqual([9007199254740991, 9007199254740991]);
    expect(await sumOf("9007199254740991", "1")).toEqual(["9007199254740992", 4503599627370496]);
    expect(await sumOf("-9007199254740991", "-2")).toEqual(["-9007199254740993", -4503599627370496]);
    expect(await sumOf(most)).toEqual(["9223372036854775807", 2 ** 63]);
    expect(await sumOf(most, most, most)).toEqual(["27670116110564327421", 2 ** 63]);
    expect(await sumOf(least, least)).toEqual(["-18446744073709551616", -(2 ** 63)]);
    expect(await sumOf(most, least)).toEqual([-1, -0.5]);
  });

  it("is of thousands of rows too", async () => {
    const { server, key, bob } = await shop();
    await run(server, "DELETE FROM orders");
    await run(
      server,
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO orders (id, owner_id, status, cents) SELECT i, iif(i % 3, 'ada', 'bob'), 's' || (i % 2), i FROM n`,
    );
    const query = "group=status&count=*&sum=cents&min=id&sort=-status";
    expect(dataOf(await key.get(path(query)))).toEqual([
      { status: "s1", count: 1500, sum_cents: 2_250_000, min_id: 1 },
      { status: "s0", count: 1500, sum_cents: 2_251_500, min_id: 2 },
    ]);
    expect(dataOf(await bob.get(path(query)))).toEqual([
      { status: "s1", count: 500, sum_cents: 750_000, min_id: 3 },
      { status: "s0", count: 500, sum_cents: 751_500, min_id: 6 },
    ]);
  });

  it("has null for a sum of reals that no double holds", async () => {
    const { server, key } = await shop();
    await run(server, "UPDATE orders SET weight = 1.7976931348623157e308");
    const answer = await key.get(path("sum=weight&max=weight"));
    expect(dataOf(answer)).toEqual([{ sum_weight: null, max_weight: 1.7976931348623157e308 }]);
    const sorted = await key.get(path("sum=weight&group=status&sort=-sum_weight&limit=2"));
    expect(dataOf<Record<string, unknown>[]>(sorted).map(({ status }) => status)).toEqual(["open", null]);
    const next = await key.get(`/api/orders/_svc/aggregate?cursor=${metaOf(sorted).next_cursor}`);
    expect(dataOf(next)).toEqual([{ status: "sent", sum_weight: 1.7976931348623157e308 }]);
  });
});

describe("the order of groups", () => {
  const orders = async () => {
    const { server, key } = await shop();
    await run(server, "DELETE FROM orders");
    await run(
      server,
      `INSERT INTO orders (id, owner_id, status, cents, paid) VALUES
        (1, 'a', 'x', 5, 1), (2, 'a', 'x', 5, 0), (3, 'b', 'x', 7, 1), (4, 'b', 'y', NULL, 0), (5, 'c', 'y', 9223372036854775807, 0),
        (6, 'c', 'y', 9223372036854775807, 1), (7, 'd', NULL, -1, 1)`,
    );
    return key;
  };

  it.each([
    ["", ["a x", "b x", "b y", "c y", "d null"]],
    ["&sort=-owner_id", ["d null", "c y", "b x", "b y", "a x"]],
    ["&sort=status", ["d null", "a x", "b x", "b y", "c y"]],
    ["&sort=-status,-count", ["c y", "b y", "a x", "b x", "d null"]],
    ["&sort=-sum_cents", ["c y", "a x", "b x", "d null", "b y"]],
    ["&sort=sum_cents", ["b y", "d null", "b x", "a x", "c y"]],
    ["&sort=max_cents,-owner_id", ["b y", "d null", "a x", "b x", "c y"]],
    ["&sort=-avg_cents", ["c y", "b x", "a x", "d null", "b y"]],
  ])("%s, on pages of any size", async (sort, expected) => {
    const key = await orders();
    for (const limit of [1, 2, 4, 5, 50]) {
      let query: string | null = `group=owner_id,status&count=*&sum=cents&avg=cents&max=cents&limit=${limit}${sort}`;
      const seen: string[] = [];
      while (query !== null) {
        const answer = await key.get(path(query));
        const data = dataOf<{ owner_id: string; status: string }[]>(answer);
        expect(metaOf(answer)).toMatchObject({
          limit,
          offset: seen.length,
          total: 5,
          rows_returned: data.length,
        });
        seen.push(...data.map(({ owner_id, status }) => `${owner_id} ${status}`));
        const { next_cursor: cursor } = metaOf(answer);
        query = cursor === undefined ? null : `cursor=${cursor}`;
      }
      expect(seen, String(limit)).toEqual(expected);
    }
  });

  it("is counted on no page with total=none", async () => {
    const key = await orders();
    const first = await key.get(path("group=owner_id&count=*&limit=3&total=none"));
    expect(metaOf(first)).toMatchObject({ total: null });
    const second = await key.get(path(`cursor=${metaOf(first).next_cursor}`));
    expect(second.body).toMatchObject({
      data: [{ owner_id: "d", count: 1 }],
      meta: { total: null, offset: 3 },
    });
  });

  it("goes on by keys: groups that come and go elsewhere move no other", async () => {
    const { server, key } = await shop();
    const first = await key.get(path("group=owner_id&limit=1"));
    expect(dataOf(first)).toEqual([{ owner_id: "ada" }]);
    await run(server, "DELETE FROM orders WHERE owner_id = 'ada'");
    await run(server, "INSERT INTO orders (owner_id) VALUES ('aaron')");
    const second = await key.get(path(`cursor=${metaOf(first).next_cursor}`));
    expect(second.body).toMatchObject({ data: [{ owner_id: "bob" }], meta: { total: 2, offset: 1 } });
  });
});

describe("cursors", () => {
  it("are the caller's, the table's, and the aggregate's own", async () => {
    const { server, key, ada } = await shop();
    const grouped = metaOf(await key.get(path("group=owner_id&limit=1"))).next_cursor;
    const listed = metaOf(await key.get("/api/orders?limit=1")).next_cursor;
    expect([typeof grouped, typeof listed]).toEqual(["string", "string"]);
    expectRefusal(await key.get(`/api/orders?cursor=${grouped}`), 400, "invalid_cursor");
    expectRefusal(await key.get(path(`cursor=${listed}`)), 400, "invalid_cursor");
    expectRefusal(await ada.get(path(`cursor=${grouped}`)), 400, "invalid_cursor");
    expectRefusal(await key.get(path(`cursor=${grouped}&limit=1`)), 400, "invalid_cursor");
    expectRefusal(await key.get(path("cursor=x")), 400, "invalid_cursor");
    server.clock.advance(3_600_001);
    expectRefusal(await key.get(path(`cursor=${grouped}`)), 400, "invalid_cursor");
  });
});

describe("what is refused", () => {
  it.each([
    ["", "nothing to aggregate: count=* counts rows, and group=… lists the groups"],
    ["limit=1", "nothing to aggregate: count=* counts rows, and group=… lists the groups"],
    ["count=", 'unknown column ""'],
    ["count=nothing", 'unknown column "nothing"'],
    ["count=margin", 'unknown column "margin"'],
    ["sum=margin", 'unknown column "margin"'],
    ["group=margin", 'unknown column "margin"'],
    ["count=*&filter[margin][gt]=1", 'unknown column "margin"'],
    ["count=*&sort=margin", 'sort: "margin" is neither a group nor a result'],
    ["count=*&sort=nothing", 'sort: "nothing" is neither a group nor a result'],
    ["count=*&sort=status", 'sort: "status" is neither a group nor a result'],
    ["count=*&sort=", 'sort: "" is neither a group nor a result'],
    ["count=*&sort=count,-count", "sort: count is named twice"],
    ["sum=*", 'unknown column "*"'],
    ["sum=status", "sum: status is a text column"],
    ["avg=paid", "avg: paid is a boolean column"],
    ["min=extra", "min: extra is a json column"],
    ["count_distinct=extra", "count_distinct: extra is a json column"],
    ["group=extra", "group: extra is a json column"],
    ["count=*,*", 'two members of the answer would be called "count"'],
    ["sum=cents,cents", 'two members of the answer would be called "sum_cents"'],
    ["group=status,status", 'two members of the answer would be called "status"'],
    ["count=*&count=cents", 'parameter "count" is given twice'],
    ["count=*&select=id", 'unknown parameter "select"'],
    ["count=*&offset=1", 'unknown parameter "offset"'],
    ["count=*&median=cents", 'unknown parameter "median"'],
    ["count=*&limit=0", "limit: expected an integer from 1 to 1000"],
    ["count=*&limit=1001", "limit: expected an integer from 1 to 1000"],
    ["count=*&total=some", "total: expected exact or none"],
    [
      "count=*,id,owner_id,status,cents,weight,paid,picture,extra&min=id,owner_id,status,cents,weight,paid,picture&max=id",
      "more than 16 results",
    ],
  ])("?%s", async (query, message) => {
    const { ada } = await shop();
    expect(expectRefusal(await ada.get(path(query)), 400, "bad_request")).toBe(message);
  });

  it("more than 8 groups; and names that a column and a result have in common", async () => {
    const columns = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "count", "count_a", "distinct_a", "sum_a"];
    const server = await serve({
      schema: `t:\n  columns:\n    id: { type: integer, primary_key: true }\n${columns.map((name) => `    ${name}: { type: integer }\n`).join("")}`,
    });
    const key = client(server, await apiKey(server, "project:backend"));
    await run(server, "INSERT INTO t (id, count, a) VALUES (1, 2, 3)");
    const refusal = async (query: string) =>
      expectRefusal(await key.get(`/api/t/_svc/aggregate?${query}`), 400, "bad_request");
    const taken = (name: string) => `two members of the answer would be called "${name}"`;
    expect(await refusal("group=a,b,c,d,e,f,g,h,i")).toBe("group: more than 8 columns");
    expect(await refusal("count=*&group=count")).toBe(taken("count"));
    expect(await refusal("count=a&group=count_a")).toBe(taken("count_a"));
    expect(await refusal("count=distinct_a&count_distinct=a")).toBe(taken("count_distinct_a"));
    expect(await refusal("sum=a&group=sum_a")).toBe(taken("sum_a"));
    expect(dataOf(await key.get("/api/t/_svc/aggregate?group=count&sum=count&sort=-count"))).toEqual([
      { count: 2, sum_count: 2 },
    ]);
  });

  it("nothing of as many groups, results and terms of the order as there may be, on a second page either", async () => {
    const columns = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const server = await serve({
      schema: `t:\n  strict: false\n  columns:\n    id: { type: integer, primary_key: true }\n${columns.map((name) => `    ${name}: { type: real }\n    n_${name}: { type: integer }\n`).join("")}`,
    });
    const key = client(server, await apiKey(server, "project:backend"));
    await run(server, "INSERT INTO t (id, a, n_a, h) VALUES (1, 9e999, 5, ?), (2, 9e999, 5, ?)", 1e300, 1e-300);
    const both = columns.join();
    const integers = columns.map((name) => `n_${name}`).join();
    const sort = [...columns.flatMap((name) => [`-sum_n_${name}`, `avg_${name}`]), ...columns].join();
    const query = `group=${both}&sum=${integers}&avg=${both}&sort=${sort}&limit=1`;
    const first = await key.get(`/api/t/_svc/aggregate?${query}`);
    const second = await key.get(`/api/t/_svc/aggregate?cursor=${metaOf(first).next_cursor}`);
    const [one, two] = [first, second].map((answer) => dataOf<Record<string, unknown>[]>(answer)[0]!);
    expect(Object.keys(one!)).toHaveLength(24);
    expect([one, two]).toMatchObject([
      { a: null, b: null, h: 1e-300, sum_n_a: 5, sum_n_b: null, avg_h: 1e-300, avg_a: null },
      { a: null, b: null, h: 1e300, sum_n_a: 5, sum_n_b: null, avg_h: 1e300, avg_a: null },
    ]);
    expect(metaOf(second)).toMatchObject({ offset: 1, total: 2 });
    expect(metaOf(second).next_cursor).toBeUndefined();
  });

  it("more rows than the scan limit, but not as many: those that a filter's index leaves out are not examined", async () => {
    const server = await serve({
      schema,
      config: `api.scan_limit = 3\n[rules.orders]\nread = "row.owner_id != 'bob'"`,
    });
    const anyone = client(server, (await member(server, "ada")).bearer);
    await run(server, "INSERT INTO orders (id, owner_id, status) VALUES (1, 'a', 'x'), (2, 'bob', 'x'), (3, 'c', 'y')");
    expect(dataOf(await anyone.get(path("count=*")))).toEqual([{ count: 2 }]);
    await run(server, "INSERT INTO orders (id, owner_id, status) VALUES (4, 'bob', 'y')");
    const message = "there are more than 3 rows to aggregate: a filter that an index serves would help";
    for (const query of ["count=*", "count=*&group=status", "sum=cents&filter[cents][gt]=5", "group=id&limit=1"])
      expect(expectRefusal(await anyone.get(path(query)), 400, "bad_request")).toBe(message);
    expect(dataOf(await anyone.get(path("count=*&where[status]=x")))).toEqual([{ count: 1 }]);
    expect(dataOf(await anyone.get(path("count=*&filter[status][gt]=x")))).toEqual([{ count: 1 }]);
    expect(dataOf(await anyone.get(path("count=*&filter[id][lt]=4")))).toEqual([{ count: 2 }]);
  });

  it("a page that is too large", async () => {
    const { server, key } = await shop();
    await run(server, "UPDATE orders SET status = hex(zeroblob(?)) || id", BigInt(server.database.answerBytesMax) / 8n);
    expect(expectRefusal(await key.get(path("group=status")), 400, "bad_request")).toBe(
      "the page is too large: a smaller limit would help",
    );
    expect((await key.get(path("group=status&where[id]=1"))).status).toBe(200);
    expect(expectRefusal(await key.get(path("group=status&limit=1")), 400, "bad_request")).toMatch(
      /^the cursor of this list would be too long/,
    );
    expect(dataOf(await key.get(path("count_distinct=status")))).toEqual([{ count_distinct_status: 5 }]);
  });

  it("other methods, other paths, and whoever may not read", async () => {
    const { server, ada } = await shop();
    const url = path("count=*");
    const refused = await ada.post(url, {});
    expectRefusal(refused, 405, "method_not_allowed");
    expect(refused.headers.get("Allow")).toBe("GET");
    expectRefusal(await ada.get("/api/orders/1/aggregate?count=*"), 404, "not_found");
    expectRefusal(await ada.get("/api/nothing/_svc/aggregate?count=*"), 404, "not_found");
    expectRefusal(await client(server).get(url), 401, "unauthorized");
    const writer = client(server, await apiKey(server, "resource:orders:write"));
    expectRefusal(await writer.get(url), 403, "forbidden");
    const head = await ada.send("HEAD", url, {});
    expect([head.status, head.text]).toEqual([200, ""]);
  });
});

describe("a table of another program", () => {
  it("groups by the column's own collation, and shows the least value by its bytes", async () => {
    const { key } = await adopted(
      "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT COLLATE NOCASE, tail TEXT COLLATE RTRIM)",
      "INSERT INTO words VALUES (1, 'b', 'x '), (2, 'B', 'x'), (3, 'a', 'y'), (4, 'A', 'X'), (5, 'a', NULL), (6, NULL, 'x  ')",
    );
    const url = "/api/words/_svc/aggregate?";
    const grouped = await key.get(`${url}group=word&count=*&limit=1&sort=-word`);
    expect(dataOf(grouped)).toEqual([{ word: "B", count: 2 }]);
    const second = await key.get(`${url}cursor=${metaOf(grouped).next_cursor}`);
    expect(dataOf(second)).toEqual([{ word: "A", count: 3 }]);
    const third = await key.get(`${url}cursor=${metaOf(second).next_cursor}`);
    expect(dataOf(third)).toEqual([{ word: null, count: 1 }]);
    expect(dataOf(await key.get(`${url}group=tail`))).toEqual([
      { tail: null },
      { tail: "X" },
      { tail: "x" },
      { tail: "y" },
    ]);
    expect(dataOf(await key.get(`${url}count_distinct=word,tail&min=word&max=word`))).toEqual([
      { count_distinct_word: 2, count_distinct_tail: 3, min_word: "A", max_word: "b" },
    ]);
  });

  it("takes 1 and 1.0 for one value, and shows the integer", async () => {
    const { key } = await adopted(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v, n INTEGER)",
      "INSERT INTO t VALUES (1, 1.0, 1), (2, 1, 2), (3, 'x', 3), (4, 2.5, 4), (5, NULL, 5), (6, 9e999, 6)",
    );
    const url = "/api/t/_svc/aggregate?";
    const grouped = await key.get(`${url}group=v&sum=n`);
    expect(grouped.text).toContain('"v":1,"sum_n":3');
    expect(dataOf(grouped)).toEqual([
      { v: null, sum_n: 5 },
      { v: 1, sum_n: 3 },
      { v: 2.5, sum_n: 4 },
      { v: null, sum_n: 6 },
      { v: "x", sum_n: 3 },
    ]);
    expect((await key.get(`${url}min=v&max=v&count_distinct=v`)).text).toContain(
      '"min_v":1,"max_v":"x","count_distinct_v":4',
    );
  });

  it("is not summed where a value is no number of the column's type, and otherwise is exact", async () => {
    const { server, key } = await adopted(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, kind TEXT, n INTEGER, r REAL)",
      "INSERT INTO t VALUES (1, 'a', 9223372036854775807, 1.5), (2, 'a', 9223372036854775807, 2), (3, 'b', 5, NULL)",
    );
    const url = "/api/t/_svc/aggregate?";
    const sums = `${url}group=kind&sum=n,r&avg=n`;
    expect(dataOf(await key.get(sums))).toEqual([
      { kind: "a", sum_n: "18446744073709551614", sum_r: 3.5, avg_n: 2 ** 63 },
      { kind: "b", sum_n: 5, sum_r: null, avg_n: 5 },
    ]);
    await run(server, "UPDATE t SET n = 'five', r = 'x' WHERE id = 3");
    expect(expectRefusal(await key.get(sums), 400, "bad_request")).toBe("n: a value is stored that is no integer");
    expect(expectRefusal(await key.get(`${url}avg=r`), 400, "bad_request")).toBe(
      "r: a value is stored that is no number",
    );
    expect(dataOf(await key.get(`${sums}&where[kind]=a`))).toEqual([
      { kind: "a", sum_n: "18446744073709551614", sum_r: 3.5, avg_n: 2 ** 63 },
    ]);
    expect(dataOf(await key.get(`${url}max=n&count=n`))).toEqual([{ max_n: "five", count_n: 3 }]);
  });
});
