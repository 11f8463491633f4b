import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal, metaOf, pagesOf } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

/** docs/reference/http.md: total and the scan limit. */
const project = {
  schema: `
things:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text }
    n: { type: integer, not_null: true }
    t: { type: text }
  indexes: [{ columns: [n] }, { columns: [owner_id, id] }]
members: { primary_key: [thing_id, user_id], columns: { thing_id: { type: integer }, user_id: { type: text } } }
`,
  config: `
usage.enabled = false
api.scan_limit = 10
[rules.things]
read = "row.t = auth.id or exists(members m where m.thing_id = row.id and m.user_id = auth.id)"
`,
};

/** 100 rows; ada may read every 7th, and 50 to 54. */
async function things() {
  const server = await serve(project);
  const values = Array.from(
    { length: 100 },
    (_, id) => `(${id}, 'o${id % 2}', ${(id * 37) % 100}, ${id % 7 === 0 ? "'ada'" : "NULL"})`,
  );
  await run(server, `INSERT INTO things VALUES ${values.join(", ")}`);
  await run(
    server,
    "INSERT INTO members VALUES (50, 'ada'), (51, 'ada'), (52, 'ada'), (53, 'ada'), (54, 'ada'), (7, 'bob')",
  );
  return { server, ada: client(server, (await member(server, "ada")).bearer) };
}

const authorized = Array.from({ length: 100 }, (_, id) => id).filter((id) => id % 7 === 0 || (id >= 50 && id <= 54));

describe("a scan of ten rows a request", () => {
  it.each(["limit=50", "limit=1", "limit=2", "limit=3", "limit=10", "limit=1000"])(
    "reaches the whole authorized set over the cursors, in order (%s)",
    async (query) => {
      const { ada } = await things();
      const pages = await pagesOf(ada, `/api/things?${query}`);
      expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual(authorized);
      let offset = 0;
      for (const [at, { data, meta }] of pages.entries()) {
        expect(meta.offset).toBe(offset);
        offset += data.length;
        expect(meta.total).toBeLessThanOrEqual(authorized.length);
        expect(meta.total).toBeGreaterThanOrEqual(offset);
        expect(meta.truncated, `page ${at}`).toBe(meta.total! < authorized.length ? true : undefined);
      }
      expect(pages.at(-1)!.meta).not.toHaveProperty("truncated");
      expect(pages.at(-1)!.meta.total).toBe(authorized.length);
    },
  );

  it("says `truncated`, a total that is a lower bound, and goes on behind an empty page", async () => {
    const { server } = await things();
    const bob = client(server, (await member(server, "bob")).bearer);
    await run(server, "UPDATE things SET t = 'bob' WHERE id = 95");
    const pages = await pagesOf(bob, "/api/things?select=id");
    expect(pages.flatMap(({ data }) => data)).toEqual([{ id: 7 }, { id: 95 }]);
    expect(pages).toHaveLength(10);
    expect(pages[0]!.meta).toEqual({
      limit: 50,
      offset: 0,
      total: 1,
      truncated: true,
      next_cursor: expect.any(String),
    });
    expect(pages[1]!).toEqual({
      data: [],
      meta: { limit: 50, offset: 1, total: 1, truncated: true, next_cursor: expect.any(String) },
    });
    expect(pages[9]!.meta).toEqual({ limit: 50, offset: 1, total: 2 });
  });

  it.each(["sort=-id", "sort=n", "sort=n,id", "sort=-n,-id"])("holds in the order of %s", async (query) => {
    const { ada } = await things();
    const pages = await pagesOf(ada, `/api/things?limit=4&${query}`);
    const ids = pages.flatMap(({ data }) => data.map(({ id }) => id as number));
    const by = query.includes("n") ? (id: number) => (id * 37) % 100 : (id: number) => id;
    const sign = query.startsWith("sort=-") ? -1 : 1;
    expect(ids).toEqual([...authorized].sort((a, b) => sign * (by(a) - by(b))));
  });

  it("holds for an offset that lies behind several windows", async () => {
    const { ada } = await things();
    for (const offset of [0, 1, 2, 5, 12, 19, 20, 50]) {
      const pages = await pagesOf(ada, `/api/things?limit=3&offset=${offset}&select=id`);
      expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual(authorized.slice(offset));
    }
  });

  it("holds for filters that no index serves, and is spent on candidates alone where one does", async () => {
    const { ada, server } = await things();
    const pages = await pagesOf(ada, "/api/things?select=id&where[t]=ada");
    expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual(authorized.filter((id) => id % 7 === 0));
    expect(pages).toHaveLength(10);
    const key = client(server, await apiKey(server, "project:backend"));
    const served = await key.get("/api/things?select=id&where[n]=0");
    expectAnswer(served, 200, { data: [{ id: 0 }], meta: { limit: 50, offset: 0, total: 1 } });
    const half = await pagesOf(key, "/api/things?select=id&where[owner_id]=o1");
    expect(half.flatMap(({ data }) => data)).toEqual(Array.from({ length: 50 }, (_, n) => ({ id: 2 * n + 1 })));
    expect(half).toHaveLength(5);
  });

  it("returns each row once while rows come and go", async () => {
    const { ada, server } = await things();
    const pages = await pagesOf(ada, "/api/things?limit=2&select=id", async (page) => {
      await run(server, `INSERT INTO things VALUES (${-page}, 'o1', 0, 'ada'), (${1000 + page}, 'o1', 0, 'bob')`);
    });
    expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual(authorized);
  });
});

describe("a sort that no index serves", () => {
  it("over more rows than the limit is 400 and names an index that would help", async () => {
    const { ada, server } = await things();
    for (const [query, columns] of [
      ["sort=t", /\[t, id\]/],
      ["sort=-t,n", /\[-t, n, id\]/],
      ["where[owner_id]=o1&sort=-t", /\[owner_id, -t, id\]/],
      ["filter[n][in]=1,2,3,4,5,6,7,8,9,10,11,12&sort=t", /\[t, id\]/],
    ] as const) {
      const message = expectRefusal(await ada.get(`/api/things?${query}`), 400, "bad_request");
      expect(message).toMatch(/index/);
      expect(message).toMatch(columns);
    }
    const key = client(server, await apiKey(server, "project:backend"));
    expectRefusal(await key.get("/api/things?sort=t"), 400, "bad_request");
  });

  it("over as many rows as the limit is served", async () => {
    const { server } = await things();
    await run(server, "DELETE FROM things WHERE id >= 10");
    const key = client(server, await apiKey(server, "project:backend"));
    const pages = await pagesOf(key, "/api/things?sort=-t&limit=3&select=id");
    expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual([0, 7, 1, 2, 3, 4, 5, 6, 8, 9]);
    await run(server, "INSERT INTO things VALUES (10, 'o1', 0, NULL)");
    expectRefusal(await key.get("/api/things?sort=-t&limit=3&select=id"), 400, "bad_request");
  });

  it("is served where a filter leaves few enough candidates", async () => {
    const { server } = await things();
    const key = client(server, await apiKey(server, "project:backend"));
    const listed = await key.get("/api/things?select=id&filter[n][in]=0,37,74&sort=-t");
    expect(dataOf(listed)).toEqual([{ id: 0 }, { id: 1 }, { id: 2 }]);
  });
});

describe("an offset in an order that no index yields", () => {
  const schema = `
things:
  columns:
    id: { type: integer, primary_key: true }
    n: { type: integer, not_null: true }
    t: { type: text }
  indexes: [{ columns: [t] }]
`;
  const config = `[rules.things]\nread = "public"`;

  async function many() {
    const server = await serve({ schema, config });
    const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10200)";
    await run(server, `${numbers} INSERT INTO things SELECT i, 20000 - i, 't' || (i % 2) FROM n`);
    return { anyone: client(server) };
  }

  it("reaches 10000 rows deep with the limit, and past that the message says what helps", async () => {
    const { anyone } = await many();
    const last = await anyone.get("/api/things?select=id&sort=n&offset=9998&limit=2");
    expect(dataOf(last)).toEqual([{ id: 202 }, { id: 201 }]);
    for (const query of ["sort=n&offset=9999&limit=2", "sort=n&offset=9007199254740991", "sort=n&offset=9951"]) {
      const message = expectRefusal(await anyone.get(`/api/things?select=id&${query}`), 400, "bad_request");
      expect(message).toBe(
        "no index serves this sort, so offset and limit together are 10000 at most: a cursor or an index on [n, id] would help",
      );
    }
  });

  it("is passed by cursors, which have no offset to leave out", async () => {
    const { anyone } = await many();
    const pages = await pagesOf(anyone, "/api/things?select=id&sort=n&offset=9000&limit=500");
    expect(pages.map(({ data }) => data.length)).toEqual([500, 500, 200]);
    expect(pages.map(({ meta }) => meta.offset)).toEqual([9000, 9500, 10_000]);
    expect(pages.at(-1)!.data.at(-1)).toEqual({ id: 1 });
  });

  it("does not bind where an index yields the order, also one that is not the best for the filters", async () => {
    const { anyone } = await many();
    for (const [query, ids] of [
      ["sort=-id&offset=10198", [2, 1]],
      ["sort=id&offset=10198", [10_199, 10_200]],
      ["filter[t][in]=t0,t1&offset=10198", [10_199, 10_200]],
    ] as const) {
      const listed = await anyone.get(`/api/things?select=id&${query}`);
      expect(dataOf(listed), query).toEqual(ids.map((id) => ({ id })));
      expect(metaOf(listed), query).toMatchObject({ total: 10_200, offset: 10_198 });
    }
  });
});

it("a count without any condition is not limited", async () => {
  const { server } = await things();
  const key = client(server, await apiKey(server, "project:backend"));
  for (const query of ["limit=5", "limit=50", "limit=5&sort=-n,-id"])
    expect(metaOf(await key.get(`/api/things?${query}`)).total).toBe(100);
  const pages = await pagesOf(key, "/api/things?limit=50&select=id");
  expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual(Array.from({ length: 100 }, (_, id) => id));
  expect(pages.map(({ meta }) => meta.total)).toEqual(pages.map(() => 100));
});
