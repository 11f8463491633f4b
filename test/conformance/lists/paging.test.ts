import { describe, expect, it } from "vitest";
import { client, dataOf, metaOf, pagesOf } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const project = (indexes: string) => ({
  schema: `
things:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text }
    n: { type: integer }
    r: { type: real }
    t: { type: text }
    b: { type: boolean }
    x: { type: blob }
${indexes}
pairs:
  primary_key: [a, b]
  columns:
    a: { type: text }
    b: { type: integer }
`,
  config: `
usage.enabled = false
[rules.things]
read = "row.owner_id = auth.id or row.owner_id is null"
`,
});

const rows = Array.from({ length: 60 }, (_, i) => ({
  id: (i * 37) % 60,
  owner: [null, "ada", "bob"][i % 3] ?? null,
  n: i % 5 === 0 ? null : (i % 4) - 1,
  r: i % 7 === 0 ? null : (i % 3) / 4,
  t: i % 6 === 0 ? null : ["", "b", "B", "é"][i % 4]!,
  b: i % 5 === 1 ? null : i % 2,
  x: i % 4 === 0 ? null : ["x''", "x'00'", "x'ff'"][i % 3]!,
}));

const literal = (value: unknown) => (typeof value === "string" ? `'${value}'` : value === null ? "NULL" : value);
const insert = `INSERT INTO things VALUES ${rows
  .map(
    ({ id, owner, n, r, t, b, x }) =>
      `(${[id, literal(owner), literal(n), literal(r), literal(t), literal(b), x ?? "NULL"].join(", ")})`,
  )
  .join(", ")}`;

const indexes =
  "  indexes: [{ columns: [n] }, { columns: [-t, n] }, { columns: [r, id] }, { columns: [owner_id, n] }, { columns: [x, -b] }, { columns: [-n, -r, -t, -b, -x] }]";

const sorts = [
  "",
  "id",
  "-id",
  "n",
  "-n",
  "t",
  "-t",
  "-t,n",
  "t,-n",
  "r,-b",
  "x",
  "-x,b",
  "b,n,-t",
  "owner_id,-n",
  "-r,id",
  // Behind a place where nothing is NULL there are eleven ranges.
  "-n,-r,-t,-b,-x",
];

describe.each([
  ["without indexes", ""],
  ["with indexes", indexes],
])("paging %s", (_, withIndexes) => {
  it.each(sorts)("by sort=%s returns each authorized row once, in the order of one whole page", async (sort) => {
    const server = await serve(project(withIndexes));
    await run(server, insert);
    const ada = client(server, (await member(server, "ada")).bearer);
    const query = sort === "" ? "" : `&sort=${sort}`;
    const whole = dataOf<{ id: number }[]>(await ada.get(`/api/things?limit=1000${query}`));
    expect(whole.map(({ id }) => id).sort((a, b) => a - b)).toEqual(
      rows
        .filter(({ owner }) => owner !== "bob")
        .map(({ id }) => id)
        .sort((a, b) => a - b),
    );
    for (const limit of [1, 7, 39, 40]) {
      const pages = await pagesOf(ada, `/api/things?limit=${limit}${query}`);
      expect(pages.flatMap(({ data }) => data)).toEqual(whole);
      expect(pages).toHaveLength(Math.ceil(40 / limit));
      let offset = 0;
      for (const { data, meta } of pages) {
        expect(meta).toMatchObject({ limit, offset, total: 40 });
        offset += data.length;
      }
    }
    const later = await pagesOf(ada, `/api/things?limit=7&offset=13${query}`);
    expect(later.flatMap(({ data }) => data)).toEqual(whole.slice(13));
    expect(later.map(({ meta }) => meta.offset)).toEqual([13, 20, 27, 34]);
  });

  it.each(["where[n]=1", "filter[n][gt]=-1&sort=-n", "filter[t][in]=b,é&sort=t", "filter[n][is_null]=true&sort=-t"])(
    "by %s keeps filter and projection from page to page",
    async (query) => {
      const server = await serve(project(withIndexes));
      await run(server, insert);
      const key = client(server, await apiKey(server, "project:backend"));
      const whole = dataOf(await key.get(`/api/things?limit=1000&select=t,n&${query}`));
      const pages = await pagesOf(key, `/api/things?limit=2&select=t,n&${query}`);
      expect(pages.flatMap(({ data }) => data)).toEqual(whole);
    },
  );

  it("returns each row once while rows are inserted and deleted elsewhere", async () => {
    const server = await serve(project(withIndexes));
    await run(server, insert);
    const ada = client(server, (await member(server, "ada")).bearer);
    for (const sort of ["id", "-n", "-t,n", "r"]) {
      let seen = 0;
      const pages = await pagesOf(ada, `/api/things?limit=4&sort=${sort}`, async (page) => {
        seen = 1000 + page;
        await run(server, `INSERT INTO things (id, owner_id, n, t) VALUES (${-seen}, 'ada', -9, 'A')`);
        await run(server, `INSERT INTO things (id, owner_id, n, t) VALUES (${seen}, 'ada', 9, 'zz')`);
        await run(server, `DELETE FROM things WHERE id = ${-seen} OR id = ${1000 + page - 3}`);
      });
      const ids = pages.flatMap(({ data }) => data.map(({ id }) => id as number));
      expect(new Set(ids).size).toBe(ids.length);
      const stayed = rows.filter(({ owner }) => owner !== "bob").map(({ id }) => id);
      expect(ids.filter((id) => id >= 0 && id < 1000).sort((a, b) => a - b)).toEqual(stayed.sort((a, b) => a - b));
      await run(server, "DELETE FROM things WHERE id < 0 OR id >= 1000");
    }
  });

  it("goes on when the row at the page's end is deleted or moved", async () => {
    const server = await serve(project(withIndexes));
    await run(server, insert);
    const key = client(server, await apiKey(server, "project:backend"));
    const first = await key.get("/api/things?limit=10&sort=id&select=id");
    await run(server, "DELETE FROM things WHERE id = 9");
    const second = await key.get(`/api/things?cursor=${metaOf(first).next_cursor}`);
    expect(dataOf<{ id: number }[]>(second)[0]).toEqual({ id: 10 });
  });
});

it("a cursor can be used again: it holds no state on the server", async () => {
  const server = await serve(project(""));
  await run(server, insert);
  const key = client(server, await apiKey(server, "project:backend"));
  const cursor = metaOf(await key.get("/api/things?limit=10")).next_cursor!;
  const answers = await Promise.all(Array.from({ length: 5 }, () => key.get(`/api/things?cursor=${cursor}`)));
  for (const answer of answers) expect(dataOf(answer)).toEqual(dataOf(answers[0]!));
});

it("a composite key is the order where none is asked for", async () => {
  const server = await serve(project(""));
  await run(server, "INSERT INTO pairs VALUES ('b', 1), ('a', 2), ('a', -1), ('b', 0), ('', 5)");
  const key = client(server, await apiKey(server, "project:backend"));
  for (const [query, expected] of [
    [
      "limit=2",
      [
        ["", 5],
        ["a", -1],
        ["a", 2],
        ["b", 0],
        ["b", 1],
      ],
    ],
    [
      "limit=2&sort=-b",
      [
        ["", 5],
        ["a", 2],
        ["b", 1],
        ["b", 0],
        ["a", -1],
      ],
    ],
    [
      "limit=1&sort=-a,-b",
      [
        ["b", 1],
        ["b", 0],
        ["a", 2],
        ["a", -1],
        ["", 5],
      ],
    ],
  ] as const) {
    const pages = await pagesOf(key, `/api/pairs?${query}`);
    expect(pages.flatMap(({ data }) => data.map(({ a, b }) => [a, b]))).toEqual(expected);
  }
});

it("keys beyond 2^53 are told apart from page to page", async () => {
  const server = await serve(project(""));
  const ids = ["9223372036854775805", "9223372036854775806", "9223372036854775807", "-9223372036854775808"];
  await run(server, `INSERT INTO things (id, n) VALUES ${ids.map((id, i) => `(${id}, ${ids[3 - i]})`).join(", ")}`);
  const key = client(server, await apiKey(server, "project:backend"));
  for (const sort of ["id", "-id", "n", "-n"]) {
    const pages = await pagesOf(key, `/api/things?limit=1&select=id&sort=${sort}`);
    const seen = pages.map(({ data }) => data[0]!.id as string);
    expect([...seen].sort()).toEqual([...ids].sort());
  }
});
