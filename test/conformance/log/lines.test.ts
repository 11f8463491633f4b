import { describe, expect, it } from "vitest";
import { client, dataOf } from "../../support/client.js";
import { member } from "../../support/people.js";
import { apiKey, inWorkerd, serve, skip, type TestServer } from "../../support/server.js";

const schema = `
notes:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text, not_null: true }
    title: { type: text }
`;
const rules = `
[rules.notes]
read = "row.owner_id = auth.id"
create = "new.owner_id = auth.id"
columns.title.write = "auth.role = 'admin'"
`;

/** The new lines of the request log. */
async function linesOf(server: TestServer): Promise<readonly string[]> {
  await server.settled();
  return server.log.requests.splice(0);
}

async function fieldsOf(server: TestServer): Promise<readonly Record<string, unknown>[]> {
  return (await linesOf(server)).map((line) => JSON.parse(line) as Record<string, unknown>);
}

const uuid7 = expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
const always = { time: "2026-01-01T00:00:00.000Z", level: "info", id: uuid7, ms: 0, address: "192.0.2.0/24" };

describe("a line for each request", () => {
  it("as JSON, with the id of its receipt", async () => {
    const server = await serve({ schema, config: `[log]\nformat = "json"\n${rules}` });
    const { id, bearer } = await member(server, "ada");
    const ada = client(server, bearer);
    const { meta } = (await ada.post("/api/notes", { owner_id: id })).body as {
      meta: { metering: { attempt_id: string } };
    };
    await ada.get("/api/notes/1");
    await ada.get("/api/notes?where[owner_id]=ada&limit=1");
    await client(server).get("/health");
    await client(server).get("/nowhere/at/all?token=12345678");
    expect(await fieldsOf(server)).toEqual([
      {
        ...always,
        id: meta.metering.attempt_id,
        method: "POST",
        route: "/api/:table",
        status: 201,
        principal: "user",
        rows_read: 0,
        rows_written: 1,
        rows_returned: 1,
      },
      {
        ...always,
        method: "GET",
        route: "/api/:table/:id",
        status: 200,
        principal: "user",
        rows_read: 1,
        rows_written: 0,
        rows_returned: 1,
      },
      {
        ...always,
        method: "GET",
        route: "/api/:table",
        status: 200,
        principal: "user",
        rows_read: 2,
        rows_written: 0,
        rows_returned: 1,
      },
      { ...always, method: "GET", route: "/health", status: 200, principal: "-" },
      { ...always, method: "GET", route: "-", status: 404, principal: "-", error: "not_found" },
    ]);
  });

  it("as text", async () => {
    const server = await serve({ schema, config: rules });
    const { bearer } = await member(server, "ada");
    await client(server, bearer).get("/api/notes/1");
    await client(server).get("/api/notes/1");
    const [read, refused] = await linesOf(server);
    expect(read).toMatch(
      /^2026-01-01T00:00:00\.000Z info GET \/api\/:table\/:id 404 0ms user rows=0\/0\/0 address=192\.0\.2\.0\/24 error=not_found id=[\da-f-]{36}$/,
    );
    expect(refused).toMatch(
      /^2026-01-01T00:00:00\.000Z warn GET \/api\/:table\/:id 401 0ms anonymous address=192\.0\.2\.0\/24 security=access_refused error=unauthorized rule=rules\.notes\.read id=[\da-f-]{36}$/,
    );
  });

  it("none where it is off", async () => {
    const server = await serve({ schema, config: `[log]\nformat = "off"\n${rules}` });
    await client(server).get("/api/notes");
    expect(await linesOf(server)).toEqual([]);
  });

  it("without an address where those are off", async () => {
    const server = await serve({ schema, config: `[log]\nformat = "json"\naddresses = "off"\n${rules}` });
    await client(server).get("/health");
    const { address: _, ...rest } = always;
    expect(await fieldsOf(server)).toEqual([{ ...rest, method: "GET", route: "/health", status: 200, principal: "-" }]);
  });

  it.each([
    ["203.0.113.77", "203.0.113.0/24"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["no address at all", undefined],
  ])("of %s", async (address, prefix) => {
    const server = await serve({ schema, config: `[log]\nformat = "json"` });
    await client(server, { "Test-Client-Address": address }).get("/health");
    expect((await fieldsOf(server)).map((line) => line.address)).toEqual([prefix]);
  });

  it("takes the trace over that a request belongs to", async () => {
    const server = await serve({ schema, config: `[log]\nformat = "json"` });
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    await client(server, { traceparent: `00-${trace}-00f067aa0ba902b7-01` }).get("/health");
    await client(server, { traceparent: `00-${trace}-00f067aa0ba902b7` }).get("/health");
    expect((await fieldsOf(server)).map((line) => line.trace)).toEqual([trace, undefined]);
  });

  it("of HEAD, of methods and of keys of several columns", async () => {
    const server = await serve({
      schema: "pairs: { primary_key: [a, b], columns: { a: { type: text }, b: { type: text } } }",
      config: `[log]\nformat = "json"\n[rules.pairs]\nread = "public"`,
    });
    const anybody = client(server);
    await anybody.send("HEAD", "/api/pairs", {});
    await anybody.get("/api/pairs/_svc/key?a=1&b=2");
    await anybody.get("/api/pairs/x/key");
    await anybody.send("PUT", "/api/pairs", {});
    await anybody.send("PROPFIND", "/api/pairs", {});
    expect(
      (await fieldsOf(server)).map(({ method, route, status, principal, rows_read }) => [
        method,
        route,
        status,
        principal,
        rows_read,
      ]),
    ).toEqual([
      ["HEAD", "/api/:table", 200, "anonymous", 0],
      ["GET", "/api/:table/_svc/key", 404, "anonymous", 0],
      ["GET", "-", 404, "-", undefined],
      ["PUT", "/api/:table", 405, "anonymous", undefined],
      ["-", "/api/:table", 405, "anonymous", undefined],
    ]);
  });
});

describe("a line of a stream", () => {
  it("names its caller and its route, as one of a pull does", async () => {
    const server = await serve({
      schema: `$history: 30d\n${schema}`,
      config: `[log]\nformat = "json"\n${rules}`,
    });
    const { bearer } = await member(server, "ada");
    const ada = client(server, bearer);
    const asked = { tables: { notes: {} } };
    const stream = await server.request("/api/_svc/live", {
      method: "POST",
      headers: { ...bearer, "Content-Type": "application/json" },
      body: JSON.stringify(asked),
    });
    await stream.body!.cancel();
    await ada.post("/api/_svc/pull", asked);
    await ada.get("/api/_svc/nothing");
    const lines = await fieldsOf(server);
    expect(lines.map(({ route, status, principal }) => [route, status, principal])).toEqual([
      ["/api/_svc/live", 200, "user"],
      ["/api/_svc/pull", 200, "user"],
      ["/api/:table/:id", 404, "user"],
    ]);
  });
});

describe("the level", () => {
  const ask = async (level: string) => {
    if (inWorkerd) skip("the database that breaks is of this process");
    let isBroken = false;
    const server = await serve({
      schema,
      config: `[log]\nlevel = "${level}"\nformat = "json"\n${rules}`,
      wrap: (database) => ({
        ...database,
        query: (statements) => (isBroken ? Promise.reject(new Error("broken")) : database.query(statements)),
        batch: (statements, long) => database.batch(statements, long),
        migrate: (statements) => database.migrate(statements),
        close: () => database.close(),
      }),
    });
    const { bearer } = await member(server, "ada");
    const ada = client(server, bearer);
    await ada.get("/api/notes?sort=-title&where[owner_id]=ada&where[nothing]=1&limit=2");
    await client(server, await apiKey(server, "resource:notes:read")).post("/api/notes", {});
    isBroken = true;
    await ada.get("/api/notes");
    return (await fieldsOf(server)).map(({ level: of, status, parameters }) => [of, status, parameters]);
  };

  it("debug names parameters, as far as their names are known", async () => {
    expect(await ask("debug")).toEqual([
      ["info", 400, ["sort", "where[owner_id]", "?", "limit"]],
      ["warn", 403, []],
      ["error", 500, []],
    ]);
  });

  it("info has every request", async () => {
    expect(await ask("info")).toEqual([
      ["info", 400, undefined],
      ["warn", 403, undefined],
      ["error", 500, undefined],
    ]);
  });

  it.each(["warn", "error"])("%s leaves requests out, but neither security nor failures", async (level) => {
    expect(await ask(level)).toEqual([
      ["warn", 403, undefined],
      ["error", 500, undefined],
    ]);
  });
});

describe("a refusal names what refused", () => {
  it.each([
    ["a rule that denies everybody", "DELETE", "/api/notes/1", undefined, "rules.notes.delete"],
    ["a rule that denies the row", "POST", "/api/notes", { owner_id: "bob" }, "rules.notes.create"],
    ["a rule of a column", "POST", "/api/notes", { owner_id: "ada", title: "x" }, "rules.notes.columns.title.write"],
  ])("%s", async (_, method, path, body, rule) => {
    const server = await serve({ schema, config: `[log]\nformat = "json"\n${rules}` });
    const { bearer } = await member(server, "ada");
    await client(server, bearer).send(method, path, {
      headers: { "Content-Type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(await fieldsOf(server)).toMatchObject([
      { status: 403, security: true, event: "access_refused", principal: "user", principal_id: "ada", rule },
    ]);
  });

  it("a row that another rule than that of reading hides", async () => {
    const server = await serve({
      schema,
      config: `[log]\nformat = "json"\n[rules.notes]\nread = "public"\nupdate = "row.owner_id = auth.id"\ndelete = "row.owner_id = auth.id"`,
    });
    const { bearer } = await member(server, "ada");
    await server.database.batch([{ sql: "INSERT INTO notes (id, owner_id) VALUES (1, 'bob')", params: [] }]);
    const ada = client(server, bearer);
    await ada.patch("/api/notes/1", { title: "mine" });
    await ada.delete("/api/notes/1");
    expect((await fieldsOf(server)).map(({ status, rule }) => [status, rule])).toEqual([
      [403, "rules.notes.update"],
      [403, "rules.notes.delete"],
    ]);
  });

  it("the scope that a key lacks", async () => {
    const server = await serve({ schema, config: `[log]\nformat = "json"\n${rules}` });
    await client(server, await apiKey(server, "resource:notes:read")).post("/api/notes", {});
    expect(await fieldsOf(server)).toMatchObject([
      { status: 403, event: "access_refused", principal: "key", rule: "resource:notes:write" },
    ]);
  });

  it("nobody is named whose session has ended", async () => {
    const server = await serve({ schema, config: `[log]\nformat = "json"\n${rules}` });
    const { bearer, refreshToken } = await member(server, "ada");
    const ada = client(server, bearer);
    await ada.get("/api/notes");
    await client(server).post("/auth/logout", { refresh_token: refreshToken });
    await ada.get("/api/notes");
    const lines = await fieldsOf(server);
    expect(lines.at(-1)).toMatchObject({ status: 401, event: "access_refused", principal: "-" });
    expect(lines.at(-1)).not.toHaveProperty("principal_id");
  });
});

it("an administrator's reading is a line of security", async () => {
  const server = await serve({ schema, config: `[log]\nformat = "json"` });
  const { bearer } = await member(server, "root", "admin");
  const users = dataOf<readonly { readonly id: string }[]>(await client(server, bearer).get("/admin/api/users"));
  expect(users).toHaveLength(1);
  expect(await fieldsOf(server)).toEqual([
    {
      ...always,
      method: "GET",
      route: "/admin/api/users",
      status: 200,
      principal: "user",
      security: true,
      event: "admin_read",
      principal_id: "root",
    },
  ]);
});
