import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parameterNames } from "../../../src/assemble/endpoints.js";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { type Json, referred } from "../../support/documented.js";
import { apiKey, serve, signUp, signUpAdmin } from "../../support/server.js";

// That every other answer of this suite is one that the document describes is checked with each of them, in
// test/support/documented.ts.

const schema = `
rooms:
  columns:
    id:    { type: integer, primary_key: true }
    name:  { type: text, not_null: true }
    notes: { type: json }
    icon:  { type: blob }
    rate:  { type: real, not_null: true, default: 1.5 }
    open:  { type: boolean }
members:
  primary_key: [room, user]
  columns:
    room: { type: integer, not_null: true }
    user: { type: text, not_null: true }
Error: { columns: { id: { type: text, primary_key: true } } }
`;

const config = `
[rules.rooms]
read = "public"
create = "authenticated"
[rules.rooms.columns.rate]
read = "auth.role = 'admin'"
`;

const columns = new Map("id name notes icon rate open room user".split(" ").map((name) => [name, null]));

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  // biome-ignore lint/suspicious/noExplicitAny: looked into by path
  readonly paths: any;
  // biome-ignore lint/suspicious/noExplicitAny: looked into by path
  readonly components: any;
}

async function documentOf(project: { schema: string; config: string }): Promise<Document> {
  const server = await serve(project);
  const answer = await client(server, await apiKey(server, "project:backend")).get("/openapi.json");
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get("Content-Type")).toBe("application/json");
  return answer.body as Document;
}

/** The parameters of an operation, without references. */
function parametersOf(document: Document, { parameters = [] }: { parameters?: readonly Json[] }) {
  return parameters.map((parameter) => referred(document as unknown as Json, parameter)) as unknown as readonly {
    readonly name: string;
    readonly in: string;
    readonly style?: string;
    readonly schema: unknown;
  }[];
}

describe("the OpenAPI document", () => {
  it("has no parameter whose name the log would hide", async () => {
    const document = await documentOf({ schema, config });
    const names = Object.values(document.paths)
      .flatMap((path) => Object.values(path as object))
      .flatMap((operation) => parametersOf(document, operation))
      .filter((parameter) => parameter.in === "query")
      .map(({ name, style }) => (style === "deepObject" && !name.endsWith("]") ? `${name}[id]` : name));
    expect(names.length).toBeGreaterThan(50);
    const shown = names.flatMap((name) => parameterNames(`/?${encodeURIComponent(name)}=1`, columns));
    expect(shown).toEqual(names);
  });

  it("is valid OpenAPI 3.1", async () => {
    const document = await documentOf({ schema, config });
    expect(await new Validator().validate(JSON.parse(JSON.stringify(document)))).toMatchObject({
      valid: true,
    });
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.servers).toEqual([{ url: "http://127.0.0.1:8787" }]);
    const operations = Object.values(document.paths).flatMap((item) =>
      Object.values(item as object).filter((part) => "operationId" in part),
    );
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("has the paths of every table, and who may call them", async () => {
    const { paths } = await documentOf({ schema, config });
    const ofTables = Object.keys(paths).filter((path) => path.startsWith("/api/"));
    expect(ofTables).toEqual([
      "/api/rooms",
      "/api/rooms/_svc/query",
      "/api/rooms/_svc/aggregate",
      "/api/rooms/{id}",
      "/api/rooms/_svc/key",
      "/api/members",
      "/api/members/_svc/query",
      "/api/members/_svc/aggregate",
      "/api/members/_svc/key",
      "/api/Error",
      "/api/Error/_svc/query",
      "/api/Error/_svc/aggregate",
      "/api/Error/{id}",
      "/api/Error/_svc/key",
      "/api/_svc/batch",
      "/api/_svc/push",
    ]);
    expect(paths["/api/rooms"].get.security).toContainEqual({});
    expect(paths["/api/rooms"].post.security).not.toContainEqual({});
    expect(paths["/api/rooms/_svc/aggregate"].get.security).toContainEqual({});
    expect(paths["/api/members/_svc/key"].parameters.map(({ name }: { name: string }) => name)).toEqual([
      "room",
      "user",
    ]);
  });

  it("has each column's type and the filters that it takes", async () => {
    const document = await documentOf({ schema, config });
    const { paths, components } = document;
    const { rooms } = components.schemas;
    expect(Object.keys(rooms.properties)).toEqual(["id", "name", "notes", "icon", "rate", "open"]);
    expect(rooms.properties.name).toEqual({ type: "string" });
    expect(rooms.properties.open).toEqual({ type: ["boolean", "null"] });
    expect(rooms.properties.icon).toEqual({ anyOf: [{ $ref: "#/components/schemas/svc.blob" }, { type: "null" }] });
    expect(components.schemas["svc.blob"]).toMatchObject({ type: "string", contentEncoding: "base64" });
    expect(rooms.properties.notes).toEqual({});
    // Whom a rule hides it from does not get it.
    expect(rooms.required).toEqual(["id", "name", "notes", "icon", "open"]);
    expect(components.schemas["rooms.new"].required).toEqual(["name"]);
    expect(Object.keys(components.schemas["rooms.changes"].properties)).not.toContain("id");
    expect(parametersOf(document, paths["/api/rooms"].get).map(({ name }) => name)).toEqual([
      "where",
      ...Object.keys(rooms.properties).map((name) => `filter[${name}]`),
      "select",
      "sort",
      "expand",
      "limit",
      "offset",
      "total",
      "cursor",
    ]);
    const aggregated = parametersOf(document, paths["/api/rooms/_svc/aggregate"].get);
    const own = aggregated.filter(({ name }) => !name.startsWith("filter["));
    expect(own.map(({ name }) => name)).toEqual(
      "where count count_distinct min max sum avg group sort limit total cursor".split(" "),
    );
    expect(own.find(({ name }) => name === "sum")?.schema).toMatchObject({ items: { enum: ["id", "rate"] } });
    const operators = (type: string) => Object.keys(components.schemas[`svc.filter.${type}`].properties);
    const comparisons = ["eq", "ne", "lt", "lte", "gt", "gte"];
    expect(operators("integer")).toEqual([...comparisons, "in", "not_in", "is_null"]);
    const matches = ["contains", "icontains", "starts_with"];
    expect(operators("text")).toEqual([...comparisons, "in", "not_in", "is_null", ...matches]);
    expect(operators("blob")).toEqual([...comparisons, "is_null"]);
    expect(operators("json")).toEqual(["is_null"]);
  });

  it("has names of its own for what two tables or columns would share in another case", async () => {
    const { components, paths } = await documentOf({
      schema: `
svc: { columns: { id: { type: integer, primary_key: true } } }
rooms: { columns: { id: { type: integer, primary_key: true }, roomName: { type: text }, room_name: { type: text } } }
Rooms_part: { columns: { id: { type: integer, primary_key: true } } }
record: { columns: { id: { type: integer, primary_key: true } } }
live: { columns: { id: { type: integer, primary_key: true } } }
$operations: { rooms: { steps: [{ sql: "select id from rooms", returns: many }] } }
`,
      config: "",
    });
    const parts = Object.keys(components.schemas).filter((name) => name.endsWith(".part"));
    expect(parts).toEqual(["svc_2.part", "rooms.part", "Rooms_part_2.part", "record_2.part", "live.part"]);
    const filters = Object.keys(components.parameters).filter((name) => name.startsWith("rooms.filter."));
    expect(filters).toEqual(["rooms.filter.id", "rooms.filter.roomName", "rooms.filter.room_name_2"]);
    expect(paths["/ops/rooms"].get.operationId).toBe("get_rooms_2");
    expect(paths["/api/live/{id}"].get.operationId).toBe("get_live");
  });

  it("has no metering where there is none", async () => {
    const { components, paths } = await documentOf({ schema, config: `${config}\n[usage]\nenabled = false` });
    expect(components.schemas["svc.metering"]).toBeUndefined();
    expect(Object.keys(components.schemas["svc.list"].properties)).not.toContain("rows_read");
    const { schema: answer } = paths["/api/rooms/{id}"].get.responses["200"].content["application/json"];
    expect(answer).toEqual({ $ref: "#/components/schemas/rooms.row" });
    expect(Object.keys(components.schemas["rooms.row"].properties)).toEqual(["data"]);
  });

  it("has no tokens in bodies where they are in cookies alone", async () => {
    const tokensOf = async (auth: string) => {
      const cors = '[cors]\nallowed_origins = ["https://app.example.com"]';
      const { components } = await documentOf({ schema, config: `${auth}\n${cors}\n${config}` });
      return Object.keys(components.schemas["svc.tokens"].properties.data.properties);
    };
    const rest = ["token_type", "expires_in"];
    const left = "auth.cookie_tokens_in_body = false";
    expect(await tokensOf(left)).toEqual(["user", "access_token", "refresh_token", ...rest]);
    expect(await tokensOf(`auth.cookie_mode = true\n${left}`)).toEqual(["user", ...rest]);
  });

  it("is of the schema in force, from the next request on", async () => {
    const server = await serve({ schema, config });
    const admin = client(server, (await signUpAdmin(server, "root@example.com")).bearer);
    const body = `${schema}\nlater: { columns: { id: { type: text, primary_key: true } } }\n`;
    const headers = { "Content-Type": "application/yaml" };
    dataOf(await admin.send("POST", "/admin/api/schema/apply", { body, headers }));
    const { body: document } = await admin.get("/openapi.json");
    expect((document as Document).paths["/api/later"]).toBeDefined();
    expect((document as Document).info.version).toBe("2");
  });
});

describe("what a body may be", () => {
  const edges = `
numbers: { columns: { id: { type: integer, primary_key: true }, n: { type: integer }, bytes: { type: blob } } }
pairs:
  primary_key: [a, b]
  columns: { a: { type: integer, not_null: true }, b: { type: text, not_null: true } }
`;
  const settings = "[auth]\npassword_min_length = 8\n[auth.throttle]\nmax_mails_per_address = 100\n";

  async function documented() {
    const server = await serve({ schema: edges, config: settings });
    const key = client(server, await apiKey(server, "project:backend"));
    const document = (await key.get("/openapi.json")).body as Document;
    const ajv = new Ajv2020({ strict: false });
    const allows = (path: string, body: unknown) => {
      const { schema } = document.paths[path].post.requestBody.content["application/json"];
      return ajv.validate({ ...schema, components: document.components }, body);
    };
    return { server, document, key, allows };
  }

  it("of a row is what the server takes, up to the edges of integers and bytes", async () => {
    const { key, allows } = await documented();
    const digits = ["9007199254740991", "9007199254740992", "9007199254740993", "9223372036854775807"];
    const more = ["9223372036854775808", "9223372036854775809", "9300000000000000000", "10000000000000000"];
    const shapes = ["99999999999999999", "999999999999999999", "9999999999999999999", "12345678901234567890"];
    const spelled = [
      "+9007199254740992",
      "09007199254740992",
      "9007199254740992.0",
      " 9007199254740992",
      "5",
      "-0",
      "",
    ];
    const numbers = [0, 5.0, -1, 1.5, 2 ** 53 - 1, 2 ** 53, -(2 ** 53) + 1, -(2 ** 53), true, null];
    const integers = [...digits, ...more, ...shapes].flatMap((text) => [text, `-${text}`]);
    const bytes = [
      "",
      "AA==",
      "AB==",
      "AAA=",
      "AAB=",
      "AAAA",
      "A",
      "AAA",
      "AA=",
      "AAAA\n",
      "-_8=",
      "AAAAAA==",
      5,
      null,
    ];
    const bodies = [
      ...[...integers, ...spelled, ...numbers].map((n) => ({ n })),
      ...bytes.map((value) => ({ bytes: value })),
    ];
    const taken: boolean[] = [];
    for (const body of bodies) {
      const { status } = await key.post("/api/numbers", body);
      expect([201, 400]).toContain(status);
      taken.push(status === 201);
      expect(allows("/api/numbers", body), JSON.stringify(body)).toBe(status === 201);
    }
    expect(new Set(taken)).toEqual(new Set([true, false]));
  });

  it("of an address and a password, up to the edges of their lengths", async () => {
    const { server, allows } = await documented();
    const anybody = client(server);
    const local = "a".repeat(64);
    const emails = [
      ...["a@b.c", "a@b", "a@b.", "a@.c", "@b.c", "a b@c.d", "a@b@c.d", "<a@b.c>", "a,b@c.d", "ä@ö.ü", "a@b.c\n", ""],
      `${local}@${"b".repeat(254 - 64 - 3)}.c`,
      `${local}@${"b".repeat(254 - 64 - 2)}.c`,
    ];
    for (const email of emails) {
      const { status } = await anybody.post("/auth/email-verification/resend", { email });
      expect([202, 400]).toContain(status);
      expect(allows("/auth/email-verification/resend", { email }), email).toBe(status === 202);
    }
    const passwords = [
      "a".repeat(7),
      "a".repeat(8),
      "🙂".repeat(7),
      "🙂".repeat(8),
      "a".repeat(1024),
      "a".repeat(1025),
    ];
    for (const [i, password] of passwords.entries()) {
      const body = { email: `ada${i}@example.com`, password };
      const { status } = await anybody.post("/auth/register", body);
      expect([201, 400]).toContain(status);
      expect(allows("/auth/register", body), password).toBe(status === 201);
      // Under other settings it may have been shorter.
      expect(allows("/auth/login", body)).toBe([...password].length <= 1024);
    }
  });

  it("has managed columns in rows, and not in what a request sends", async () => {
    const { components, paths } = await documentOf({
      schema: `
notes:
  columns:
    id:      { type: integer, primary_key: true }
    body:    { type: text, not_null: true }
    made_by: { type: text, managed: created_by }
    version: { type: integer, not_null: true, managed: version }
visits:
  columns:
    id:   { type: integer, primary_key: true }
    made: { type: integer, managed: created_at }
`,
      config: "",
    });
    const { notes, "notes.new": created, "notes.changes": changes } = components.schemas;
    expect(notes.required).toEqual(["id", "body", "made_by", "version"]);
    expect(notes.properties.version).toMatchObject({ readOnly: true });
    expect(notes.properties.made_by).toEqual({ type: ["string", "null"], readOnly: true });
    expect(notes.properties.body).toEqual({ type: "string" });
    expect(Object.keys(created.properties)).toEqual(["id", "body"]);
    expect(created.required).toEqual(["body"]);
    expect(Object.keys(changes.properties)).toEqual(["body"]);
    expect(Object.keys(components.schemas["visits.new"].properties)).toEqual(["id"]);
    expect(paths["/api/visits/{id}"].patch).toBeUndefined();
  });

  it("is not said of a change where no column can be changed", async () => {
    const { document, key } = await documented();
    const methods = Object.keys(document.paths["/api/pairs/_svc/key"]).filter((name) => name !== "parameters");
    expect(methods).toEqual(["get", "delete"]);
    expect(Object.keys(document.paths["/api/numbers/{id}"])).toContain("patch");
    expect(Object.keys(document.components.schemas)).not.toContain("pairs.changes");
    dataOf(await key.post("/api/pairs", { a: 1, b: "x" }));
    for (const body of [{}, { b: "y" }])
      expectRefusal(await key.patch("/api/pairs/_svc/key?a=1&b=x", body), 400, "bad_request", Object.keys(body));
  });
});

describe("GET /openapi.json", () => {
  it("is for admins and project:backend keys alone", async () => {
    const server = await serve({ schema, config });
    expectRefusal(await client(server).get("/openapi.json"), 401, "unauthorized");
    const ada = await signUp(server, "ada@example.com");
    expectRefusal(await client(server, ada.bearer).get("/openapi.json"), 403, "forbidden");
    const key = await apiKey(server, "resource:rooms:read");
    expectRefusal(await client(server, key).get("/openapi.json"), 403, "forbidden");
    const stale = { Authorization: "Bearer svc_sk_nothing" };
    expectRefusal(await client(server, stale).get("/openapi.json"), 401, "unauthorized");
    const root = await signUpAdmin(server, "root@example.com");
    expect((await client(server, root.bearer).get("/openapi.json")).status).toBe(200);
    expectRefusal(await client(server, root.bearer).post("/openapi.json", {}), 405, "method_not_allowed");
  });

  it("is for everybody where svc.toml says so, but for no credential that is not good", async () => {
    const server = await serve({ schema, config: `${config}\n[api]\npublic_openapi = true` });
    expect((await client(server).get("/openapi.json")).status).toBe(200);
    const stale = { Authorization: "Bearer svc_sk_nothing" };
    expectRefusal(await client(server, stale).get("/openapi.json"), 401, "unauthorized");
  });
});
