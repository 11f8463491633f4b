import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { client, dataOf, metaOf } from "../support/client.js";
import { run } from "../support/people.js";
import { apiKey, serve } from "../support/server.js";

const schema = `
things:
  columns:
    id: { type: integer, primary_key: true }
    integer: { type: integer }
    real: { type: real }
    text: { type: text }
    boolean: { type: boolean }
    json: { type: json }
    blob: { type: blob }
pairs: { history: 30d, primary_key: [a, b], columns: { a: { type: integer }, b: { type: text } } }
$operations: { count: { steps: [{ sql: "select id from things", returns: many }] } }
`;

async function backend() {
  const server = await serve({ schema, config: "usage.enabled = false" });
  return { server, key: client(server, await apiKey(server, "project:backend")) };
}

it("the page lists every endpoint of the OpenAPI document, and no other", async () => {
  const { key } = await backend();
  const { paths } = (await key.get("/openapi.json")).body as { paths: Record<string, object> };
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== "parameters")
      .map((method) => `${method.toUpperCase()} ${path.replace(/^\/api\/(?!_svc)\w+/, "/api/{table}")}`)
      .map((endpoint) => endpoint.replace("/ops/count", "/ops/{name}")),
  );
  const [, section] = /## Endpoints\n([\s\S]*?)\n## /.exec(readFileSync("docs/reference/http.md", "utf8"))!;
  const documented = [...section!.matchAll(/^\| `([A-Z]+ [^`]+)`/gm)].map(([, endpoint]) => endpoint);
  expect(documented.sort()).toEqual([...new Set(served)].sort());
});

it.each([
  ["integer", [7, -7, "9007199254740993"], ["7", 1.5, true]],
  ["real", [0.5, -2], ["0.5", false]],
  ["text", ["a"], [1, true]],
  ["boolean", [true, false], [1, "true"]],
  ["json", [{ a: [1] }, "a", 1], []],
  ["blob", ["AAE="], [1, "?"]],
])("a %s is taken as the page says, and comes back so", async (column, taken, refused) => {
  const { key } = await backend();
  for (const value of [...taken, null]) {
    const made = dataOf<Record<string, unknown>>(await key.post("/api/things", { [column]: value }));
    expect(made[column]).toEqual(value);
  }
  for (const value of refused)
    expect((await key.post("/api/things", { [column]: value })).status, String(value)).toBe(400);
});

it.each(["1.0", "+1", "%201", "1e0", "007"])("%s is no integer of a query string", async (text) => {
  const { key } = await backend();
  expect((await key.get(`/api/things?where[integer]=${text}`)).status).toBe(400);
});

it.each([
  ["where[text]=ab", [1]],
  ["filter[text][ne]=ab", [2]],
  ["filter[integer][lt]=2", [1]],
  ["filter[integer][gte]=2", [2]],
  ["filter[id][in]=1,3", [1, 3]],
  ['filter[text][in]=["ab","x,y"]', [1]],
  ["filter[text][is_null]=true", [3]],
  ["filter[text][contains]=b", [1, 2]],
  ["filter[text][starts_with]=b", [2]],
  ["sort=text", [3, 1, 2]],
  ["sort=-text", [2, 1, 3]],
  ["offset=1", [2, 3]],
])("?%s finds what the page says", async (query, ids) => {
  const { server, key } = await backend();
  await run(server, "INSERT INTO things (id, integer, text) VALUES (1, 1, 'ab'), (2, 2, 'bc'), (3, NULL, NULL)");
  const answer = await key.get(`/api/things?select=id&${query}`);
  expect(dataOf(answer)).toEqual(ids.map((id) => ({ id })));
  expect(metaOf(answer).limit).toBe(50);
});

it.each(["", "json=1&", "where[nothing]=1&", "limit=0&", "limit=1001&", "sort=json&", "where[json]=1&"])(
  "?%s is refused where the page says so",
  async (query) => {
    const { key } = await backend();
    expect((await key.get(`/api/things?${query}`)).status).toBe(query === "" ? 200 : 400);
    expect((await key.get("/api/pairs/1")).status).toBe(400);
    expect((await key.get("/api/pairs/_svc/key?b=x&a=1")).status).toBe(404);
  },
);

it("unknown fields and parameters are refused or ignored where the page says so", async () => {
  const { key } = await backend();
  const person = (name: string) => ({ email: `${name}@example.com`, password: "correct horse", extra: 1 });
  const made = await key.post("/admin/api/users", person("ada"));
  const { user } = dataOf<{ user: { id: string } }>(made);
  const taken = [
    made,
    await key.post("/auth/register", person("ben")),
    await key.post("/auth/users/import", { users: [{ id: "c", email: "c@example.com" }], extra: 1 }),
    await key.get("/health?extra=1"),
    await key.get("/auth/oauth/providers?extra=1"),
  ];
  expect(taken.map(({ status }) => status)).toEqual([201, 201, 200, 200, 200]);
  const refused = [
    await key.post("/api/things", { extra: 1 }),
    await key.get("/api/things?extra=1"),
    await key.get("/api/things?limit=1&limit=1"),
    await key.patch(`/admin/api/users/${user.id}`, { role: "admin", extra: 1 }),
    await key.post("/auth/users/import", { users: [{ id: "d", email: "d@example.com", extra: 1 }] }),
    await key.get("/admin/api/users?extra=1"),
    await key.get("/admin/api/service-keys?extra=1"),
    await key.get("/admin/api/usage?extra=1"),
    await key.post("/admin/api/schema/plan?extra=1", undefined),
  ];
  expect(refused.map(({ status }) => status)).toEqual(Array(9).fill(400));
});
