import { describe, expect, it } from "vitest";
import { client, dataOf, metaOf, pagesOf } from "../../support/client.js";
import { run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const project = {
  schema: `
things:
  columns:
    id: { type: integer, primary_key: true }
    kind: { type: integer, not_null: true }
    t: { type: text }
    j: { type: json }
    r: { type: real }
    x: { type: blob }
  indexes: [{ columns: [kind] }]
`,
  config: "api.scan_limit = 10\n[rules.things]",
};

/** Text that looks like the end of a row and the beginning of another, as text and in JSON. */
const rowLike = ["a", ",\n", '"},\n{"id":9', "},\n{", "\n", ""];

async function caller(inserts: readonly string[]) {
  const server = await serve(project);
  for (const values of inserts) await run(server, `INSERT INTO things (id, kind) VALUES ${values}`);
  return client(server, await apiKey(server, "project:backend"));
}

describe("where a page ends", () => {
  it.each([1, 2, 3, 4])("is behind its last row, whatever rows hold (limit=%s)", async (limit) => {
    const key = await caller([]);
    for (const [i, t] of rowLike.entries()) {
      const row = { id: i, kind: i % 2, t, j: { [t]: [t, { t }] }, r: i / 3 };
      expect((await key.post("/api/things", row)).status).toBe(201);
    }
    for (const query of ["", "where[kind]=1&", "filter[t][ne]=zzz&", "sort=t&", "select=t,j&"]) {
      const whole = dataOf(await key.get(`/api/things?${query}limit=10`));
      const pages = await pagesOf(key, `/api/things?${query}limit=${limit}`);
      expect(pages.flatMap(({ data }) => data)).toEqual(whole);
      for (const { data } of pages.slice(0, -1)) expect(data).toHaveLength(limit);
    }
  });

  it.each<[string, readonly number[]]>([
    ["close", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ["one fewer than a window", [0, 1, 2, 3, 4, 5, 6, 7, 8]],
    ["one more than a window", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    ["one too far apart", [0, 1, 2, 3, 4, 5, 6, 7, 8, 10]],
    ["many more than a window", Array.from({ length: 25 }, (_, i) => i)],
    ["negative", [-12, -11, -10, -9, -8]],
    ["sparse", Array.from({ length: 12 }, (_, i) => i * 1_000_003)],
  ])("holds for rowids that are %s", async (_name, ids) => {
    const key = await caller([ids.map((id) => `(${id}, 1)`).join(", ")]);

    for (const query of ["where[kind]=1&", "where[kind]=1&offset=3&", "filter[id][gte]=-20&", "filter[kind][ne]=7&"]) {
      const pages = await pagesOf(key, `/api/things?${query}limit=4&select=id`);
      const found = pages.flatMap(({ data }) => data.map(({ id }) => id));
      expect(found).toEqual(ids.slice(query.includes("offset") ? 3 : 0));
      expect(pages.at(-1)!.meta.total).toBe(ids.length);
      const [first] = pages;
      expect(first!.meta.total).toBe(Math.min(ids.length, 10));
      expect(first!.meta.truncated).toBe(ids.length > 10 ? true : undefined);
    }
  });

  it("holds for the least and the greatest rowid", async () => {
    const key = await caller(["(-9223372036854775808, 1), (9223372036854775807, 1), (0, 1)"]);
    const answer = await key.get("/api/things?where[kind]=1&select=id");
    expect(dataOf(answer)).toEqual([{ id: "-9223372036854775808" }, { id: 0 }, { id: "9223372036854775807" }]);
    expect(metaOf(answer)).toMatchObject({ total: 3, rows_read: 6 });
  });
});
