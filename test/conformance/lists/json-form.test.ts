import { describe, expect, it } from "vitest";
import { type Answer, type Client, client, dataOf, expectRefusal, metaOf } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { receiptRows } from "../../support/receipts.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

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
    secret: { type: text }
  indexes: [{ columns: [t] }]
`,
  config: `[rules.things]
read = "public"
[rules.things.columns.secret]
read = "auth.role = 'admin'"`,
};

async function things() {
  const server = await serve(project);
  await run(
    server,
    `INSERT INTO things VALUES
      (1, 1, 0.5, 'ada', 1, x'00', 'null', 's'),
      (2, 2, 1.0, 'Ada, b', 0, x'01', '{}', 's'),
      (3, 9007199254740993, -1e300, '', 1, x'', NULL, NULL),
      (4, -9223372036854775808, 1e300, 'it''s', 0, x'00ff', '[]', 's'),
      (5, NULL, NULL, NULL, NULL, NULL, NULL, 's')`,
  );
  return { server, caller: client(server) };
}

const json = { "Content-Type": "application/json" };
const query = (caller: Client, body: unknown) =>
  caller.send("QUERY", "/api/things", { headers: json, body: JSON.stringify(body) });
const post = (caller: Client, body: unknown) => caller.post("/api/things/_svc/query", body);

/** The answer but for what differs from request to request: the receipt's id, and the seal of the cursor. */
function lasting({ status, body }: Answer) {
  const { data, meta } = body as { data: unknown; meta: Record<string, unknown> };
  const { metering, next_cursor, ...rest } = meta;
  return { status, data, meta: rest, goesOn: next_cursor !== undefined };
}

describe("the JSON form answers as the query string does", () => {
  it.each([
    ["", {}],
    ["", { where: {}, filter: {}, select: [], sort: [] }],
    ["where[t]=ada", { where: { t: "ada" } }],
    ["where[t]=ada", { filter: { t: { eq: "ada" } } }],
    ["where[t]=ada&filter[i][eq]=1", { where: { t: "ada" }, filter: { i: { eq: 1 } } }],
    ["filter[i][gte]=1&filter[i][lt]=2", { filter: { i: { gte: 1, lt: 2 } } }],
    ["where[i]=9007199254740993", { where: { i: "9007199254740993" } }],
    ["filter[i][lte]=-9223372036854775808", { filter: { i: { lte: "-9223372036854775808" } } }],
    ["filter[r][gt]=-1e300", { filter: { r: { gt: -1e300 } } }],
    ["where[r]=1e300", { where: { r: 1e300 } }],
    ["where[r]=1", { where: { r: 1 } }],
    ["where[b]=true", { where: { b: true } }],
    ["filter[b][ne]=true", { filter: { b: { ne: true } } }],
    ["where[x]=AP8=", { where: { x: "AP8=" } }],
    ["where[x]=", { where: { x: "" } }],
    ["filter[j][is_null]=true", { filter: { j: { is_null: true } } }],
    ["filter[j][is_null]=false", { filter: { j: { is_null: false } } }],
    ["filter[i][in]=1,9007199254740993", { filter: { i: { in: [1, "9007199254740993"] } } }],
    ["filter[i][not_in]=1", { filter: { i: { not_in: [1] } } }],
    ["filter[r][in]=0.5,-1e300", { filter: { r: { in: [0.5, -1e300] } } }],
    ["filter[b][in]=true", { filter: { b: { in: [true] } } }],
    ['filter[t][in]=["Ada, b",""]', { filter: { t: { in: ["Ada, b", ""] } } }],
    ["filter[t][contains]='", { filter: { t: { contains: "'" } } }],
    ["filter[t][icontains]=ADA", { filter: { t: { icontains: "ADA" } } }],
    ["filter[t][starts_with]=ad", { filter: { t: { starts_with: "ad" } } }],
    [
      "filter[$or][0][t][eq]=ada&filter[$or][1][i][gt]=1",
      { filter: { $or: [{ t: { eq: "ada" } }, { i: { gt: 1 } }] } },
    ],
    [
      "filter[$and][0][$or][0][i][lt]=2&filter[$and][0][$or][1][r][gt]=3&filter[$and][1][b][eq]=false",
      { filter: { $and: [{ $or: [{ i: { lt: 2 } }, { r: { gt: 3 } }] }, { b: { eq: false } }] } },
    ],
    ["filter[$not][t][eq]=ada", { filter: { $not: { t: { eq: "ada" } } } }],
    [
      "filter[$not][$not][$not][$not][$not][t][eq]=ada",
      { filter: { $not: { $not: { $not: { $not: { $not: { t: { eq: "ada" } } } } } } } },
    ],
    ["select=t,id&sort=-t,id", { select: ["t", "id"], sort: ["-t", "id"] }],
    ["limit=2", { limit: 2 }],
    ["limit=2&offset=1&sort=-r", { limit: 2, offset: 1, sort: ["-r"] }],
    ["limit=1&total=none", { limit: 1, total: "none" }],
    ["total=exact&offset=9", { total: "exact", offset: 9 }],
  ])("%s", async (text, body) => {
    const { caller } = await things();
    let asGiven = await caller.get(`/api/things?${text}`);
    let asBody = await query(caller, body);
    expect(lasting(await post(caller, body))).toEqual(lasting(asBody));
    for (;;) {
      expect(lasting(asBody)).toEqual(lasting(asGiven));
      const cursor = metaOf(asGiven).next_cursor;
      if (cursor === undefined) break;
      // Each form goes on with the cursor that the other one was given.
      asGiven = await caller.get(`/api/things?cursor=${metaOf(asBody).next_cursor}`);
      asBody = await query(caller, { cursor });
    }
  });
});

describe("what the JSON form does not take is 400, each with what is wrong", () => {
  const deep = (depth: number): object => (depth === 0 ? { id: { eq: 1 } } : { $not: deep(depth - 1) });
  it.each<[unknown, string]>([
    [{ page: 1 }, 'unknown member "page"'],
    [{ "where[id]": 1 }, 'unknown member "where[id]"'],
    [{ "filter[id][eq]": 1 }, "unknown member"],
    [{ limit: "5" }, "limit: expected an integer"],
    [{ limit: 0 }, "limit: expected an integer"],
    [{ limit: 1001 }, "limit: expected an integer"],
    [{ limit: 1.5 }, "limit: expected an integer"],
    [{ limit: null }, "limit: expected an integer"],
    [{ offset: -1 }, "offset: expected an integer"],
    [{ offset: "0" }, "offset: expected an integer"],
    [{ total: "some" }, "total: expected exact or none"],
    [{ total: null }, "total: expected exact or none"],
    [{ select: "id" }, "select: expected an array"],
    [{ select: [1] }, "select: expected an array"],
    [{ select: ["id", "id"] }, "select: id is named twice"],
    [{ select: ["id,t"] }, 'unknown column "id,t"'],
    [{ sort: "id" }, "sort: expected an array"],
    [{ sort: ["j"] }, "sort: j is a json column"],
    [{ sort: ["id", "-id"] }, "sort: id is named twice"],
    [{ where: [] }, '"where": expected an object'],
    [{ where: null }, '"where": expected an object'],
    [{ where: { t: null } }, "t: eq takes no null, see is_null"],
    [{ where: { t: 1 } }, "t: expected a string, got 1"],
    [{ where: { $or: [{ t: { eq: "ada" } }] } }, 'unknown column "$or"'],
    [{ where: { i: 1 }, filter: { i: { eq: 1 } } }, "two filters of i by eq"],
    [{ filter: [] }, '"filter": expected an object'],
    [{ filter: null }, '"filter": expected an object'],
    [{ filter: { t: "ada" } }, '"t": expected an object of operators, as {"eq": …}'],
    [{ filter: { t: {} } }, '"t": expected an operator'],
    [{ filter: { t: { like: "a" } } }, 't: unknown operator "like"'],
    [{ filter: { nothing: { eq: 1 } } }, 'unknown column "nothing"'],
    [{ filter: { secret: { eq: 1 } } }, 'unknown column "secret"'],
    [{ filter: { $or: [{ secret: { eq: 1 } }] } }, 'unknown column "secret"'],
    [{ select: ["secret"] }, 'unknown column "secret"'],
    [{ sort: ["secret"] }, 'unknown column "secret"'],
    [{ filter: { constructor: { eq: 1 } } }, 'unknown column "constructor"'],
    [{ filter: { i: { eq: "5" } } }, "i: expected an integer"],
    [{ filter: { i: { eq: 1.5 } } }, "i: expected an integer"],
    [{ filter: { i: { eq: true } } }, "i: expected an integer"],
    [{ filter: { i: { eq: [1] } } }, "i: expected an integer"],
    [{ filter: { i: { lt: null } } }, "i: lt takes no null"],
    [{ filter: { r: { eq: "0.5" } } }, "r: expected a number"],
    [{ filter: { b: { eq: "true" } } }, "b: expected true or false"],
    [{ filter: { b: { eq: 1 } } }, "b: expected true or false"],
    [{ filter: { x: { eq: "?" } } }, "x: expected a base64 string"],
    [{ filter: { x: { in: ["AA=="] } } }, "x: a blob column cannot be filtered by in"],
    [{ filter: { j: { eq: {} } } }, "j: a json column"],
    [{ filter: { t: { is_null: "true" } } }, "t: is_null takes true or false"],
    [{ filter: { t: { is_null: null } } }, "t: is_null takes true or false"],
    [{ filter: { t: { contains: 1 } } }, "t: expected a string"],
    [{ filter: { t: { contains: null } } }, "t: expected a string"],
    [{ filter: { i: { contains: "1" } } }, "contains is for text columns"],
    [{ filter: { i: { in: "1,2" } } }, "i: in takes a list of values"],
    [{ filter: { i: { in: 1 } } }, "i: in takes a list of values"],
    [{ filter: { i: { in: [] } } }, "in takes 1 to 1000 values"],
    [{ filter: { i: { in: Array(1001).fill(1) } } }, "in takes 1 to 1000 values"],
    [{ filter: { i: { in: ["1"] } } }, "i: expected an integer"],
    [{ filter: { i: { in: [null] } } }, "in takes no null"],
    [{ filter: { i: { not_in: [[1]] } } }, "i: expected an integer"],
    [{ filter: { $or: [] } }, "$or: expected an array of groups"],
    [{ filter: { $or: { 0: { i: { eq: 1 } } } } }, "$or: expected an array of groups"],
    [{ filter: { $or: [{}] } }, "a group needs comparisons"],
    [{ filter: { $or: [{ i: { eq: 1 } }, {}] } }, "a group needs comparisons"],
    [{ filter: { $and: [{ i: {} }] } }, '"i": expected an operator'],
    [{ filter: { $and: [1] } }, '"$and": expected an object'],
    [{ filter: { $not: {} } }, "a group needs comparisons"],
    [{ filter: { $not: [{ i: { eq: 1 } }] } }, '"$not": expected an object'],
    [{ filter: { $nor: [{ i: { eq: 1 } }] } }, 'unknown group "$nor"'],
    [{ filter: deep(6) }, "filters nest 5 deep at most"],
    [{ cursor: 1 }, "cursor: expected a string"],
    [[], "expected a JSON object"],
    ["where", "expected a JSON object"],
    [null, "expected a JSON object"],
  ])("%j", async (body, message) => {
    const { server, caller } = await things();
    for (const answer of [await query(caller, body), await post(caller, body)])
      expect(expectRefusal(answer, 400, "bad_request")).toContain(message);
    expect(server.log.lines).toEqual([]);
  });

  it.each([
    ['{"limit":1,"limit":2}', 'gives the key "limit" twice'],
    ['{"filter":{"i":{"eq":1,"eq":1}}}', 'gives the key "eq" twice'],
    ['{"filter":{"i":{"eq":9007199254740993}}}', "integer beyond"],
    ['{"filter":{"t":{"eq":"\\u0000"}}}', "NUL"],
    ['{"filter":{"t":{"eq":"\\ud800"}}}', "lone surrogate"],
    [`{"filter":${'{"$not":'.repeat(64)}{}${"}".repeat(65)}`, "nests deeper than 64"],
    ['{"filter":', "not valid JSON"],
    ["", "not valid JSON"],
  ])("%s", async (body, message) => {
    const { caller } = await things();
    const answer = await caller.send("QUERY", "/api/things", { headers: json, body });
    expect(expectRefusal(answer, 400, "bad_request")).toContain(message);
  });

  it("is a cursor beside something else, too", async () => {
    const { caller } = await things();
    const { next_cursor: cursor } = metaOf(await query(caller, { limit: 2 }));
    expectRefusal(await query(caller, { cursor, limit: 2 }), 400, "invalid_cursor");
    expectRefusal(await query(caller, { cursor: "x" }), 400, "invalid_cursor");
  });

  it("are parameters in the URL, too", async () => {
    const { caller } = await things();
    for (const [method, path] of [
      ["QUERY", "/api/things?limit=1"],
      ["POST", "/api/things/_svc/query?limit=1"],
    ] as const)
      expectRefusal(await caller.send(method, path, { headers: json, body: "{}" }), 400, "bad_request");
  });
});

describe("a list in the JSON form has up to 200 comparisons", () => {
  const alternatives = (count: number) => ({
    filter: { $or: Array.from({ length: count }, (_, i) => ({ i: { eq: i } })) },
    select: ["id"],
    limit: 1,
  });

  it("and its cursor carries them, in either form", async () => {
    const { caller } = await things();
    const first = await query(caller, alternatives(200));
    expect(dataOf(first)).toEqual([{ id: 1 }]);
    const cursor = metaOf(first).next_cursor!;
    expect(dataOf(await caller.get(`/api/things?cursor=${cursor}`))).toEqual([{ id: 2 }]);
    expect(dataOf(await post(caller, { cursor }))).toEqual([{ id: 2 }]);
    expect(expectRefusal(await query(caller, alternatives(201)), 400, "bad_request")).toBe("more than 200 filters");
  });

  // D1 takes expressions that are 100 deep at most. Sixteen terms in each group make the deepest ones.
  it("in groups as deep as they may be", async () => {
    const { caller } = await things();
    const wide = Array.from({ length: 15 }, (_, i) => (i % 2 === 0 ? { t: { ne: `${i}` } } : { i: { gt: -i } }));
    const nested = (depth: number): object =>
      depth === 0 ? { id: { gte: 1 } } : { $or: [nested(depth - 1), ...wide], $and: wide };
    const found = await query(caller, { filter: nested(5), select: ["id"] });
    expect(dataOf(found)).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  });
});

it("a list for which the database takes no statement as long is 400", async () => {
  const names = Array.from({ length: 99 }, (_, i) => `c${i}_`.padEnd(60, "_"));
  const columns = names.map((name) => `${name}: { type: text }`).join(", ");
  const server = await serve({
    schema: `wide: { columns: { id: { type: integer, primary_key: true }, ${columns} } }`,
    config: '[rules.wide]\nread = "public"',
  });
  const $and = Array.from({ length: 200 }, (_, i) => ({ [names[i % 99]!]: { not_in: ["a"] } }));
  const init = { headers: json, body: JSON.stringify({ filter: { $and } }) };
  const key = client(server, await apiKey(server, "resource:wide:read"));
  refusedByD1Alone(server, await key.send("QUERY", "/api/wide", init));
});

it("and so is one whose statement has too many instructions", async () => {
  const server = await serve({
    schema: `
members: { primary_key: [room, user], columns: { room: { type: integer }, user: { type: text } }, indexes: [{ columns: [user] }] }
rooms:
  columns: { id: { type: integer, primary_key: true }, owner: { type: text }, n: { type: integer }, other: { type: integer } }
  indexes: [{ columns: [owner] }]
`,
    config: `[rules.rooms]
read = "row.owner = auth.id or exists(members m where m.room = row.id and m.user = auth.id) or row.n = 4 and exists(members m where m.room = row.other and m.user = auth.id)"`,
  });
  const wide = Array.from({ length: 19 }, (_, i) => ({ n: { not_in: [i] } }));
  const nested = (depth: number): object =>
    depth === 0 ? { id: { gte: 1 } } : { $or: [nested(depth - 1), ...wide], $and: wide };
  const init = { headers: json, body: JSON.stringify({ filter: nested(5) }) };
  const ada = client(server, (await member(server, "ada")).bearer);
  refusedByD1Alone(server, await ada.send("QUERY", "/api/rooms", init));
});

function refusedByD1Alone(server: TestServer, answer: Answer) {
  if (process.env.SVC_TARGET !== "workerd") expect(dataOf(answer)).toEqual([]);
  else expect(expectRefusal(answer, 400, "bad_request")).toContain("fewer or shorter filters would help");
  expect(server.log.lines).toEqual([]);
}

describe("over HTTP", () => {
  it("no Content-Type is 400, and another one than JSON 415", async () => {
    const { caller } = await things();
    for (const [method, path] of [
      ["QUERY", "/api/things"],
      ["POST", "/api/things/_svc/query"],
    ] as const) {
      const bytes = new TextEncoder().encode("{}");
      expectRefusal(await caller.send(method, path, { body: bytes }), 400, "bad_request");
      expectRefusal(await caller.send(method, path, {}), 400, "bad_request");
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"]) {
        const init = { headers: { "Content-Type": type }, body: "{}" };
        expectRefusal(await caller.send(method, path, init), 415, "unsupported_media_type");
      }
      const taken = { headers: { "Content-Type": "application/json; charset=utf-8" }, body: "{}" };
      expect((await caller.send(method, path, taken)).status).toBe(200);
    }
  });

  it("a body is as large as others at most", async () => {
    const server = await serve({ ...project, config: `${project.config}\n[api]\nmax_body_bytes = 1024` });
    const body = { filter: { t: { eq: "a".repeat(1024) } } };
    expectRefusal(await query(client(server), body), 413, "payload_too_large");
  });

  it("Accept-Query is on lists, and where a method of theirs is not allowed", async () => {
    const { server, caller } = await things();
    const key = client(server, await apiKey(server, "project:backend"));
    const accepts = ({ headers }: Answer) => headers.get("Accept-Query");
    expect(accepts(await caller.get("/api/things"))).toBe("application/json");
    expect(accepts(await caller.send("HEAD", "/api/things", {}))).toBe("application/json");
    expect(accepts(await query(caller, {}))).toBe("application/json");
    for (const method of ["OPTIONS", "PUT"]) {
      const answer = await caller.send(method, "/api/things", {});
      expect([answer.status, answer.headers.get("Allow"), accepts(answer)]).toEqual([
        405,
        "GET, POST, QUERY",
        "application/json",
      ]);
    }
    for (const path of ["/api/things/1", "/admin/api/users"]) expect(accepts(await key.get(path))).toBeNull();
  });

  it("other methods of the path, and QUERY elsewhere, are 405", async () => {
    const { caller } = await things();
    for (const method of ["GET", "QUERY", "PATCH", "DELETE", "PUT"]) {
      const answer = await caller.send(method, "/api/things/_svc/query", {});
      expectRefusal(answer, 405, "method_not_allowed");
      expect(answer.headers.get("Allow")).toBe("POST");
    }
    for (const path of ["/api/things/1", "/api/things/_svc/key?id=1", "/auth/login", "/health"])
      expectRefusal(await caller.send("QUERY", path, { headers: json, body: "{}" }), 405, "method_not_allowed");
    expectRefusal(await caller.post("/api/things/x/query", {}), 404, "not_found");
    expectRefusal(await caller.post("/api/nothing/_svc/query", {}), 404, "not_found");
    expectRefusal(await caller.send("QUERY", "/api/nothing", { headers: json, body: "{}" }), 404, "not_found");
  });

  it("a key needs to read, and a table without rules is for nobody else", async () => {
    const server = await serve({ schema: project.schema });
    const status = async (scope: string) => (await query(client(server, await apiKey(server, scope)), {})).status;
    expect(await status("resource:things:read")).toBe(200);
    expect(await status("resource:things:write")).toBe(403);
    expectRefusal(await query(client(server), {}), 401, "unauthorized");
  });

  it("its receipt is that of a list, with the request's own method", async () => {
    const { server, caller } = await things();
    await query(caller, { where: { t: "ada" } });
    await post(caller, { where: { t: "ada" } });
    await caller.get("/api/things?where[t]=ada");
    const columns = "method, action, rows_read, rows_returned";
    expect(await rowsOf(server, `SELECT ${columns} FROM ${receiptRows} ORDER BY method`)).toEqual([
      ["GET", "list", 2, 1],
      ["POST", "list", 2, 1],
      ["QUERY", "list", 2, 1],
    ]);
  });
});
