import { describe, expect, it } from "vitest";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { member } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

/** docs/reference/limits.md#requests: what a request may hold, and what is refused before it is parsed */
const schema = `
notes:
  columns: { id: { type: integer, primary_key: true }, t: { type: text }, n: { type: integer }, j: { type: json } }
  history: 30d
other:
  columns: { id: { type: integer, primary_key: true }, n: { type: integer } }
  history: 30d
`;
const open = ["notes", "other"]
  .map((table) => `rules.${table} = { read = "public", create = "auth.id is not null" }`)
  .join("\n");
const closed = ["notes", "other"].map((table) => `rules.${table} = { read = "auth.id is not null" }`).join("\n");
const json = { "Content-Type": "application/json" };

const endpoints = [
  ["POST", "/api/_svc/pull"],
  ["QUERY", "/api/_svc/pull"],
  ["POST", "/api/notes/_svc/query"],
  ["QUERY", "/api/notes"],
  ["POST", "/api/_svc/batch"],
] as const;
/** The body would get another answer if it were parsed. */
const malformed = (bytes: number) => `{${" ".repeat(bytes - 1)}`;

describe("a body without credentials", () => {
  it.each(endpoints)("has up to 16,384 bytes: %s %s", async (method, path) => {
    const everybody = open.replaceAll('create = "auth.id is not null"', 'create = "public"');
    const server = await serve({ schema, config: everybody });
    const send = (body: string, caller = client(server)) => caller.send(method, path, { headers: json, body });
    const refused = await send(malformed(16_385));
    expect(expectRefusal(refused, 413, "payload_too_large")).toBe("the body is over 16384 bytes");
    expectRefusal(await send(malformed(16_384)), 400, "bad_request");
    const ada = client(server, (await member(server, "ada")).bearer);
    expectRefusal(await send(malformed(100_000), ada), 400, "bad_request");
  });

  it.each(endpoints)("is not parsed where no rule admits the call: %s %s", async (method, path) => {
    const server = await serve({ schema, config: closed });
    const send = (caller: ReturnType<typeof client>) =>
      caller.send(method, path, { headers: json, body: malformed(100) });
    expectRefusal(await send(client(server)), 401, "unauthorized");
    const key = client(server, await apiKey(server, "operation:none"));
    expectRefusal(await send(key), 403, "forbidden");
    if (!path.endsWith("batch")) return;
    const ada = client(server, (await member(server, "ada")).bearer);
    expectRefusal(await send(ada), 403, "forbidden");
  });
});

it("a body has up to 200,000 values and keys", async () => {
  const server = await serve({ schema, config: open });
  const ada = client(server, (await member(server, "ada")).bearer);
  const create = (j: string) => ada.send("POST", "/api/notes", { headers: json, body: `{"j":${j}}` });
  // The outermost object, the key, the array and its items.
  const ones = (count: number) => `[${Array.from({ length: count - 3 }, () => 1).join()}]`;
  expect((await create(ones(200_000))).status).toBe(201);
  const refused = await create(ones(200_001));
  expect(expectRefusal(refused, 400, "bad_request")).toBe("the body has more than 200000 values and keys");
  const members = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join()}}`;
  expect((await create(members(15_000))).body).toMatchObject({ data: { j: { k0: 1, k14999: 1 } } });
  expectRefusal(await create(`[${"{},".repeat(199_999)}1]`), 400, "bad_request");
});

describe("the lists of all in filters of a request have up to 10,000 values", () => {
  const values = (count: number) => Array.from({ length: count }, (_, i) => i);
  const lists = (count: number) => Array.from({ length: count }, () => ({ n: { in: values(1000) } }));

  it("in a body, over all groups", async () => {
    const server = await serve({ schema, config: open });
    const ada = client(server, (await member(server, "ada")).bearer);
    const send = ($and: readonly object[]) =>
      ada.send("QUERY", "/api/notes", { headers: json, body: JSON.stringify({ filter: { $or: [{ $and }] } }) });
    expectAnswer(await send(lists(10)), 200, expect.objectContaining({ data: [] }));
    const one = { n: { not_in: [1] } };
    const refused = await send([...lists(10), one]);
    expect(expectRefusal(refused, 400, "bad_request")).toBe("in: all lists together have more than 10000 values");
    expectRefusal(await send(lists(190)), 400, "bad_request");
  });

  it("in a query string", async () => {
    const server = await serve({ schema, config: open });
    const group = (i: number) => `filter[$and][${i}][n][in]=${values(1000).map((value) => value % 10)}`;
    const path = (count: number) => `/api/notes?${values(count).map(group).join("&")}`;
    expect((await client(server).get(path(10))).status).toBe(200);
    expectRefusal(await client(server).get(`${path(10)}&filter[n][in]=1`), 400, "bad_request");
  });

  it("in a pull, over all tables", async () => {
    const server = await serve({ schema, config: open });
    const ada = client(server, (await member(server, "ada")).bearer);
    const pull = (inNotes: number, inOther: number) =>
      ada.post("/api/_svc/pull", {
        tables: { notes: { filter: { $and: lists(inNotes) } }, other: { filter: { $and: lists(inOther) } } },
        checkpoint: null,
      });
    expect((await pull(5, 5)).status).toBe(200);
    expectRefusal(await pull(5, 6), 400, "bad_request");
  });
});

it.each(["gzip", "br", "zstd", "gzip, identity"])("a body with Content-Encoding %j is 415", async (coding) => {
  const server = await serve({ schema, config: open });
  const headers = { ...json, "Content-Encoding": coding };
  for (const [method, path] of [
    ["POST", "/api/notes"],
    ["PATCH", "/api/notes/1"],
    ["QUERY", "/api/notes"],
    ["POST", "/api/_svc/pull"],
    ["POST", "/api/_svc/push"],
    ["POST", "/auth/login"],
    ["DELETE", "/auth/me"],
    ["POST", "/ops/nothing"],
    ["POST", "/admin/api/session"],
    ["POST", "/admin/api/schema/plan"],
    ["POST", "/admin/api/data/notes"],
    ["PUT", "/nowhere"],
  ] as const)
    expectRefusal(await client(server).send(method, path, { headers, body: "{}" }), 415, "unsupported_media_type");
  // These have no body.
  for (const method of ["GET", "HEAD"])
    expect((await client(server).send(method, "/health", { headers: { "Content-Encoding": coding } })).status).toBe(
      200,
    );
});

it.each(["Identity", "identity, identity", ""])("a body with Content-Encoding %j is taken as it is", async (coding) => {
  const server = await serve({ schema, config: open });
  const headers = { ...json, "Content-Encoding": coding };
  expectRefusal(await client(server).send("POST", "/auth/login", { headers, body: "{}" }), 400, "bad_request");
});
