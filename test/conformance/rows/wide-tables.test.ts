import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal, pagesOf } from "../../support/client.js";
import { member } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const types = ["integer", "real", "text", "boolean", "json", "blob"] as const;
const samples = { integer: 7, real: 0.5, text: 'é"', boolean: true, json: { a: [null] }, blob: "AAE=" };

/** `id` and as many columns of every type, in turn, as make the count. */
function wide(count: number) {
  const columns = Array.from({ length: count - 1 }, (_, n) => ({
    name: `c${n + 1}`,
    type: types[n % types.length]!,
  }));
  return {
    schema: `wide:\n  columns:\n    id: { type: integer, primary_key: true }\n${columns.map(({ name, type }) => `    ${name}: { type: ${type} }\n`).join("")}`,
    full: Object.fromEntries(columns.map(({ name, type }) => [name, samples[type]])),
    nulls: Object.fromEntries(columns.map(({ name }) => [name, null])),
  };
}

const config = `
usage.enabled = false
[rules.wide]
read = "authenticated"
create = "new.c3 = 'é\\"' or new.c3 is null"
update = "row.c1 is null or new.c1 = row.c1"
delete = "authenticated"
`;

describe.each([16, 17, 32, 33, 64, 99, 100])("a table of %i columns", (count) => {
  it("creates, reads, lists, pages, changes and deletes its rows whole", async () => {
    const { schema, full, nulls } = wide(count);
    const server = await serve({ schema, config });
    const ada = client(server, (await member(server, "ada")).bearer);
    expectAnswer(await ada.post("/api/wide", full), 201, { data: { id: 1, ...full } });
    expectAnswer(await ada.post("/api/wide", nulls), 201, { data: { id: 2, ...nulls } });
    expectAnswer(await ada.patch("/api/wide/2", full), 200, { data: { id: 2, ...full } });
    expectAnswer(await ada.patch("/api/wide/1", full), 200, { data: { id: 1, ...full } });
    expectAnswer(await ada.get("/api/wide/1"), 200, { data: { id: 1, ...full } });
    const pages = await pagesOf(ada, "/api/wide?limit=1&sort=-c1,c2,-c3,c4,-c6");
    expect(pages.map(({ data }) => data)).toEqual([[{ id: 1, ...full }], [{ id: 2, ...full }]]);
    const every = ["id", ...Object.keys(full)].reverse().join(",");
    expect(dataOf(await ada.get(`/api/wide?limit=1&select=${every}`))).toEqual([{ id: 1, ...full }]);
    expectAnswer(await ada.delete("/api/wide/1"), 200, { data: { id: 1 } });
  });

  it("filters by all of its columns at once, up to 50", async () => {
    const { schema, full } = wide(count);
    const server = await serve({ schema, config });
    const key = client(server, await apiKey(server, "project:backend"));
    await key.post("/api/wide", full);
    await key.post("/api/wide", {});
    const filters = Object.entries(full)
      .filter(([, value]) => typeof value !== "object")
      .map(([column, value]) => `where[${column}]=${encodeURIComponent(String(value))}`)
      .slice(0, 50);
    const answer = await key.get(`/api/wide?${filters.join("&")}`);
    expectAnswer(answer, 200, { data: [{ id: 1, ...full }], meta: { limit: 50, offset: 0, total: 1 } });
    const nulls = Object.keys(full)
      .map((column) => `filter[${column}][is_null]=true`)
      .slice(-50);
    const none = await key.get(`/api/wide?select=id&${nulls.join("&")}`);
    expectAnswer(none, 200, { data: [{ id: 2 }], meta: { limit: 50, offset: 0, total: 1 } });
  });
});

it("a schema of 101 columns is refused before anything is changed", async () => {
  await expect(serve({ schema: wide(101).schema })).rejects.toThrow(/100 columns/);
});

it("a composite key of many columns is taken whole", async () => {
  const names = Array.from({ length: 20 }, (_, n) => `k${n}`);
  const schema = `keys:\n  primary_key: [${names.join(", ")}]\n  columns:\n${names.map((name) => `    ${name}: { type: integer }\n`).join("")}`;
  const server = await serve({ schema, config: "usage.enabled = false" });
  const key = client(server, await apiKey(server, "project:backend"));
  const row = Object.fromEntries(names.map((name, n) => [name, n]));
  const query = names.map((name, n) => `${name}=${n}`);
  expectAnswer(await key.post("/api/keys", row), 201, { data: row });
  expectAnswer(await key.get(`/api/keys/_svc/key?${query.join("&")}`), 200, { data: row });
  expectRefusal(await key.get(`/api/keys/_svc/key?${query.slice(1).join("&")}`), 400, "bad_request");
  expectAnswer(await key.delete(`/api/keys/_svc/key?${query.join("&")}`), 200, { data: row });
});
