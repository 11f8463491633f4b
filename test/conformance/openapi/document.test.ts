import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { client, dataOf, expectRefusal } from "../../support/client.js";
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

describe("the OpenAPI document", () => {
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
      "/api/rooms/{id}",
      "/api/rooms/_svc/key",
      "/api/members",
      "/api/members/_svc/key",
      "/api/Error",
      "/api/Error/{id}",
      "/api/Error/_svc/key",
    ]);
    expect(paths["/api/rooms"].get.security).toContainEqual({});
    expect(paths["/api/rooms"].post.security).not.toContainEqual({});
    expect(paths["/api/members/_svc/key"].parameters.map(({ name }: { name: string }) => name)).toEqual([
      "room",
      "user",
    ]);
  });

  it("has each column's type and the filters that it takes", async () => {
    const { paths, components } = await documentOf({ schema, config });
    const { rooms } = components.schemas;
    expect(Object.keys(rooms.properties)).toEqual(["id", "name", "notes", "icon", "rate", "open"]);
    expect(rooms.properties.name).toEqual({ type: "string" });
    expect(rooms.properties.open).toEqual({ type: ["boolean", "null"] });
    expect(rooms.properties.icon).toEqual({ type: ["string", "null"], contentEncoding: "base64" });
    expect(rooms.properties.notes).toEqual({});
    // Whom a rule hides it from does not get it.
    expect(rooms.required).toEqual(["id", "name", "notes", "icon", "open"]);
    expect(components.schemas["rooms.new"].required).toEqual(["name"]);
    expect(Object.keys(components.schemas["rooms.changes"].properties)).not.toContain("id");
    const parameters = new Map(
      paths["/api/rooms"].get.parameters.map((parameter: { name: string }) => [parameter.name, parameter]),
    );
    expect([...parameters.keys()]).toEqual([
      "where",
      ...Object.keys(rooms.properties).map((name) => `filter[${name}]`),
      "select",
      "sort",
      "limit",
      "offset",
      "cursor",
    ]);
    const operators = (type: string) => Object.keys(components.schemas[`svc.filter.${type}`].properties);
    const comparisons = ["eq", "ne", "lt", "lte", "gt", "gte"];
    expect(operators("integer")).toEqual([...comparisons, "in", "is_null"]);
    expect(operators("text")).toEqual([...comparisons, "in", "is_null", "contains", "starts_with"]);
    expect(operators("blob")).toEqual([...comparisons, "is_null"]);
    expect(operators("json")).toEqual(["is_null"]);
  });

  it("has no metering where there is none", async () => {
    const { components, paths } = await documentOf({ schema, config: `${config}\n[usage]\nenabled = false` });
    expect(components.schemas["svc.metering"]).toBeUndefined();
    expect(Object.keys(components.schemas["svc.list"].properties)).not.toContain("rows_read");
    const { schema: row } = paths["/api/rooms/{id}"].get.responses["200"].content["application/json"];
    expect(Object.keys(row.properties)).toEqual(["data"]);
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
