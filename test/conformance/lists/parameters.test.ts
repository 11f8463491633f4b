import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal, metaOf } from "../../support/client.js";
import { run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const project = {
  schema: `
things:
  columns:
    id: { type: integer, primary_key: true }
    n: { type: integer }
    label: { type: text }
    data: { type: json }
    raw: { type: blob }
`,
  config: "usage.enabled = false",
};

async function things(count = 3) {
  const server = await serve(project);
  const values = Array.from({ length: count }, (_, i) => `(${i + 1}, ${(i + 1) % 2}, 'l${i + 1}')`);
  if (count > 0) await run(server, `INSERT INTO things (id, n, label) VALUES ${values.join(", ")}`);
  return { server, key: client(server, await apiKey(server, "resource:things:read")) };
}

describe("a parameter that is unknown, malformed or given twice is 400", () => {
  it.each([
    "limit=0",
    "limit=1001",
    "limit=-1",
    "limit=1e3",
    "limit=1.0",
    "limit=1.5",
    "limit=",
    "limit",
    "limit=%20" + "1",
    "limit=1%20",
    "limit=%2B1",
    "limit=01",
    "limit=0x1",
    "limit=NaN",
    "limit=Infinity",
    "limit=ten",
    "limit=99999999999999999999",
    "offset=-1",
    "offset=1.5",
    "offset=1e1",
    "offset=",
    "offset=-0",
    "offset=9007199254740992",
    "offset=99999999999999999999",
    "limit=1&limit=1",
    "limit=1&limit=2",
    "limit=1&%6cimit=1",
    "offset=0&offset=0",
    "select=id&select=n",
    "sort=id&sort=n",
    "where[id]=1&where[id]=1",
    "filter[id][gt]=1&filter[id][gt]=2",
    "where[id]=1&filter[id][eq]=1",
    "foo=1",
    "foo",
    "=1",
    "Limit=1",
    "page=1",
    "where=1",
    "where[]=1",
    "where[id=1",
    "where[id]]=1",
    "where[id][eq]=1",
    "where[id] =1",
    "where[ id]=1",
    "where[ID]=1",
    "where[nope]=1",
    "where[rowid]=1",
    "where[id%00]=1",
    "filter=1",
    "filter[id]=1",
    "filter[id][]=1",
    "filter[id][nope]=1",
    "filter[id][EQ]=1",
    "filter[id][eq][x]=1",
    "filter[id][like]=1",
    "filter[nope][eq]=1",
    "filter[][eq]=1",
    "filter[label][is_null]=1",
    "filter[label][is_null]=TRUE",
    "filter[label][is_null]=",
    "filter[n][contains]=1",
    "filter[n][starts_with]=1",
    "filter[data][eq]=1",
    "filter[data][contains]=1",
    "where[data]={}",
    "filter[raw][in]=AA==",
    "where[raw]=A",
    "where[n]=1.0",
    "where[n]=%201",
    "where[n]=1e0",
    "where[n]=",
    "where[n]=null",
    "where[n]=one",
    "where[n]=9223372036854775808",
    "filter[n][in]=",
    "filter[n][in]=1,",
    "filter[n][in]=1,,2",
    "filter[n][in]=1,x",
    "filter[n][in]=1, 2",
    "filter[n][in]=[]",
    "filter[n][in]=[1",
    "filter[n][in]=[null]",
    "filter[n][in]=[1.5]",
    "filter[n][in]=[[1]]",
    "filter[n][in]={}",
    "filter[label][in]=[1]",
    "select=",
    "select=,",
    "select=id,",
    "select=id,id",
    "select=nope",
    "select=id, n",
    "select=*",
    "select=count(*)",
    "sort=",
    "sort=-",
    "sort=--id",
    "sort=%2Bid",
    "sort=id,id",
    "sort=id,-id",
    "sort=nope",
    "sort=data",
    "sort=id desc",
    "sort=1",
    "where[label]=%",
    "where[label]=%zz",
    "where[label]=%c3%28",
    "where[label]=%ed%a0%80",
    "where[label]=%00",
    "where[label]=a%00b",
    "%zz=1",
    "cursor=x&limit=%",
  ])("%s", async (query) => {
    const { server, key } = await things();
    expectRefusal(await key.get(`/api/things?${query}`), 400, "bad_request");
    expect(server.log.lines).toEqual([]);
  });
});

describe("limit and offset", () => {
  it("default to 50 and 0", async () => {
    const { key } = await things(51);
    const listed = await key.get("/api/things");
    expect(dataOf<unknown[]>(listed)).toHaveLength(50);
    expect(metaOf(listed)).toEqual({ limit: 50, offset: 0, total: 51, next_cursor: expect.any(String) });
  });

  it.each([
    ["limit=1", 1, 0, [1], true],
    ["limit=2&offset=1", 2, 1, [2, 3], false],
    ["offset=2", 50, 2, [3], false],
    ["offset=3", 50, 3, [], false],
    ["offset=4", 50, 4, [], false],
    ["offset=9007199254740991", 50, Number.MAX_SAFE_INTEGER, [], false],
    ["limit=3", 3, 0, [1, 2, 3], false],
    ["limit=1000", 1000, 0, [1, 2, 3], false],
    ["limit=1&offset=2", 1, 2, [3], false],
    ["limit=1&offset=1&sort=-id", 1, 1, [2], true],
    ["offset=1&where[n]=1", 50, 1, [3], false],
  ] as const)("%s", async (query, limit, offset, expected, more) => {
    const { key } = await things();
    const listed = await key.get(`/api/things?${query}`);
    expect(dataOf<{ id: number }[]>(listed).map(({ id }) => id)).toEqual(expected);
    expect(metaOf(listed)).toEqual({
      limit,
      offset,
      total: query.includes("where") ? 2 : 3,
      ...(more ? { next_cursor: expect.any(String) } : {}),
    });
  });

  it("give a page of 1000 and the next", async () => {
    const { key } = await things(1001);
    const listed = await key.get("/api/things?limit=1000&select=id");
    expect(dataOf<unknown[]>(listed)).toHaveLength(1000);
    const { next_cursor } = metaOf(listed);
    expect(dataOf(await key.get(`/api/things?cursor=${next_cursor}`))).toEqual([{ id: 1001 }]);
  });
});

describe("select and sort", () => {
  it("give the columns that were named, in their order", async () => {
    const { key } = await things(1);
    const listed = await key.get("/api/things?select=label,id");
    expectAnswer(listed, 200, {
      data: [{ label: "l1", id: 1 }],
      meta: { limit: 50, offset: 0, total: 1 },
    });
    expect(listed.text).toContain('{"label":"l1","id":1}');
  });

  it.each([
    ["sort=n", [2, 1, 3]],
    ["sort=-n", [1, 3, 2]],
    ["sort=n,-id", [2, 3, 1]],
    ["sort=-n,-label", [3, 1, 2]],
    ["sort=-id", [3, 2, 1]],
    ["sort=data", null],
    ["sort=raw", [1, 2, 3]],
    ["sort=-raw,label", [1, 2, 3]],
  ] as const)("%s", async (query, expected) => {
    const { key } = await things();
    const listed = await key.get(`/api/things?select=id&${query}`);
    if (expected === null) expectRefusal(listed, 400, "bad_request");
    else expect(dataOf(listed)).toEqual(expected.map((id) => ({ id })));
  });

  it("sort NULL first ascending, last descending, and text by its bytes", async () => {
    const { server, key } = await things(0);
    await run(
      server,
      "INSERT INTO things (id, label) VALUES (1, 'b'), (2, NULL), (3, 'a'), (4, 'B'), (5, 'é'), (6, '')",
    );
    const ids = async (sort: string) =>
      dataOf<{ id: number }[]>(await key.get(`/api/things?sort=${sort}`)).map(({ id }) => id);
    expect(await ids("label")).toEqual([2, 6, 4, 3, 1, 5]);
    expect(await ids("-label")).toEqual([5, 1, 3, 4, 6, 2]);
  });
});

it("an empty query string is no parameter", async () => {
  const { key } = await things(1);
  for (const query of ["?", "?&", "?&&limit=50&"])
    expect(dataOf<unknown[]>(await key.get(`/api/things${query}`))).toHaveLength(1);
});
