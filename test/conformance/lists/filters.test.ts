import { describe, expect, it } from "vitest";
import { type Client, client, dataOf, expectRefusal, metaOf } from "../../support/client.js";
import { run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const project = {
  schema: `
things:
  columns:
    id: { type: integer, primary_key: true }
    i: { type: integer }
    r: { type: real }
    t: { type: text }
    b: { type: boolean }
    x: { type: blob }
    j: { type: json }
INDEXES
`,
  config: "usage.enabled = false",
};

const indexes =
  "  indexes: [{ columns: [i] }, { columns: [t] }, { columns: [r, i] }, { columns: [b] }, { columns: [x] }]";

async function things(withIndexes: boolean) {
  const server = await serve({
    ...project,
    schema: project.schema.replace("INDEXES", withIndexes ? indexes : ""),
  });
  await run(
    server,
    `INSERT INTO things VALUES
      (1, 1, 0.5, 'apple', 1, x'00', 'null'),
      (2, 2, 1.0, 'Apple', 0, x'01', '{}'),
      (3, 9007199254740993, -1e300, '', 1, x'', NULL),
      (4, -9223372036854775808, 1e300, 'it''s', 0, x'00ff', '[]'),
      (5, NULL, NULL, NULL, NULL, NULL, NULL)`,
  );
  return client(server, await apiKey(server, "resource:things:read"));
}

const ids = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);

async function found(caller: Client, query: string) {
  const listed = await caller.get(`/api/things?${query}`);
  const rows = dataOf<{ id: number }[]>(listed);
  expect(metaOf(listed).total).toBe(rows.length);
  return ids(rows);
}

/** With and without indexes, as the plan must not show in the answer. */
describe.each([true, false])("filters (indexes: %s)", (withIndexes) => {
  it.each([
    ["where[i]=1", [1]],
    ["where[i]=9007199254740993", [3]],
    ["where[i]=9007199254740992", []],
    ["where[i]=-9223372036854775808", [4]],
    ["filter[i][ne]=1", [2, 3, 4]],
    ["filter[i][lt]=2", [1, 4]],
    ["filter[i][lte]=2", [1, 2, 4]],
    ["filter[i][gt]=2", [3]],
    ["filter[i][gte]=2", [2, 3]],
    ["filter[i][gt]=9007199254740992", [3]],
    ["filter[i][gte]=1&filter[i][lt]=9007199254740993", [1, 2]],
    ["filter[i][gt]=1&filter[i][gte]=1&filter[i][lt]=5&filter[i][lte]=2", [2]],
    ["filter[i][in]=1,9007199254740993,77", [1, 3]],
    ['filter[i][in]=["9007199254740993",2]', [2, 3]],
    ["filter[i][in]=1,1,1", [1]],
    ["filter[i][is_null]=true", [5]],
    ["filter[i][is_null]=false", [1, 2, 3, 4]],
    ["filter[i][is_null]=true&where[i]=1", []],
    ["where[r]=0.5", [1]],
    ["where[r]=1", [2]],
    ["where[r]=1.0", [2]],
    ["where[r]=5e-1", [1]],
    ["filter[r][lt]=-1e299", [3]],
    ["filter[r][in]=0.5,1e300", [1, 4]],
    ["where[t]=apple", [1]],
    ["where[t]=", [3]],
    ["where[t]=it's", [4]],
    ["where[t]=apple%20", []],
    ["where[t]=null", []],
    ["filter[t][ne]=apple", [2, 3, 4]],
    ["filter[t][gt]=apple", [4]],
    ["filter[t][in]=apple,it's", [1, 4]],
    ["filter[t][in]=", [3]],
    ["filter[t][in]=,apple", [1, 3]],
    ['filter[t][in]=["it\'s","a,b"]', [4]],
    ["filter[t][contains]=ppl", [1, 2]],
    ["filter[t][contains]=", [1, 2, 3, 4]],
    ["filter[t][contains]=P", []],
    ["filter[t][starts_with]=app", [1]],
    ["filter[t][starts_with]=", [1, 2, 3, 4]],
    ["filter[t][starts_with]=pple", []],
    ["filter[t][starts_with]=a&filter[t][contains]=e", [1]],
    ["where[b]=true", [1, 3]],
    ["where[b]=false", [2, 4]],
    ["filter[b][ne]=true", [2, 4]],
    ["filter[b][in]=true,false", [1, 2, 3, 4]],
    ["filter[b][in]=[false]", [2, 4]],
    ["where[x]=AA==", [1]],
    ["where[x]=", [3]],
    ["filter[x][gt]=AA==", [2, 4]],
    ["filter[x][ne]=AA==", [2, 3, 4]],
    ["filter[j][is_null]=true", [3, 5]],
    ["filter[j][is_null]=false", [1, 2, 4]],
    ["where[b]=true&where[i]=1&filter[t][contains]=a&filter[r][gt]=0", [1]],
    ["where[b]=true&where[i]=2", []],
  ] as const)("%s", async (query, expected) => {
    const key = await things(withIndexes);
    expect((await found(key, encodeURI(query))).sort()).toEqual(expected);
    expect(await found(key, `${encodeURI(query)}&sort=-id`)).toEqual([...expected].reverse());
    const sorted = await found(key, `${encodeURI(query)}&sort=t,-i`);
    expect([...sorted].sort()).toEqual(expected);
  });
});

describe("a boolean or a real has its own spellings", () => {
  it.each([
    "where[b]=1",
    "where[b]=0",
    "where[b]=True",
    "where[b]=",
    "where[r]=",
    "where[r]=.5",
    "where[r]=1.",
    "where[r]=0x1",
    "where[r]=NaN",
    "where[r]=Infinity",
    "where[r]=1e400",
    "where[r]=%201",
    "where[x]=AA",
    "where[x]=AB==",
  ])("%s is 400", async (query) => {
    expectRefusal(await (await things(false)).get(`/api/things?${query}`), 400, "bad_request");
  });
});

it("50 filters are taken, an `in` of a thousand values as one of them, and 51 are not", async () => {
  const columns = Array.from({ length: 10 }, (_, n) => `c${n}`);
  const declared = columns.map((column) => `    ${column}: { type: integer }\n`).join("");
  const server = await serve({
    ...project,
    schema: `wide:\n  columns:\n    id: { type: integer, primary_key: true }\n${declared}`,
  });
  await run(server, `INSERT INTO wide VALUES (1${", 5".repeat(10)}), (2${", 6".repeat(10)})`);
  const caller = client(server, await apiKey(server, "resource:wide:read"));
  const values = Array.from({ length: 1000 }, (_, n) => n).join(",");
  const filters = columns.flatMap((column) => [
    `where[${column}]=5`,
    `filter[${column}][gt]=4`,
    `filter[${column}][lte]=5`,
    `filter[${column}][is_null]=false`,
    `filter[${column}][ne]=6`,
  ]);
  const fifty = [...filters.slice(1), `filter[id][in]=${values}`].join("&");
  expect(dataOf(await caller.get(`/api/wide?select=id&${fifty}`))).toEqual([{ id: 1 }]);
  const message = expectRefusal(await caller.get(`/api/wide?select=id&${fifty}&where[id]=1`), 400, "bad_request");
  expect(message).toBe("more than 50 filters");
});
