import { describe, expect, it } from "vitest";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const project = {
  schema: `
notes: { columns: { id: { type: integer, primary_key: true } } }
pairs: { primary_key: [a, b], columns: { a: { type: integer }, b: { type: integer } } }
`,
  config: "usage.enabled = false",
};

describe("a method that a route does not have is 405, and Allow says which it has", () => {
  const lists = "GET, POST, QUERY";
  const rows = "GET, PATCH, DELETE";
  it.each([
    ["PUT", "/api/notes", lists],
    ["PATCH", "/api/notes", lists],
    ["DELETE", "/api/notes", lists],
    ["PROPFIND", "/api/notes", lists],
    ["PUT", "/api/notes/1", rows],
    ["GET", "/api/notes/_svc/query", "POST"],
    ["POST", "/api/notes/1", rows],
    ["POST", "/api/pairs/_svc/key?a=1&b=1", rows],
    ["PUT", "/api/pairs/_svc/key?a=1&b=1", rows],
    ["GET", "/auth/login", "POST"],
    ["PUT", "/auth/login", "POST"],
    ["DELETE", "/auth/register", "POST"],
    ["GET", "/auth/refresh", "POST"],
    ["PATCH", "/auth/logout", "POST"],
    ["POST", "/auth/me", "GET, DELETE"],
    ["POST", "/auth/sessions", "GET"],
    ["PATCH", "/auth/sessions/x", "DELETE"],
    ["DELETE", "/auth/email", "POST"],
    ["GET", "/auth/email/confirm", "POST"],
    ["PUT", "/auth/pages/password-reset", "GET, POST"],
    ["POST", "/auth/oauth/providers", "GET"],
    ["POST", "/health", "GET"],
    ["DELETE", "/health", "GET"],
    ["POST", "/openapi.json", "GET"],
  ])("%s %s", async (method, path, allowed) => {
    const server = await serve(project);
    await run(server, "INSERT INTO notes VALUES (1)");
    await run(server, "INSERT INTO pairs VALUES (1, 1)");
    for (const credential of [{}, await apiKey(server, "project:backend")]) {
      const answer = await client(server, credential).send(method, path, {});
      expectRefusal(answer, 405, "method_not_allowed");
      expect(answer.headers.get("Allow")).toBe(allowed);
    }
    expect([await countOf(server, "notes"), await countOf(server, "pairs")]).toEqual([1, 1]);
  });
});

it("a composite key is told under `_svc` alone", async () => {
  const server = await serve(project);
  await run(server, "INSERT INTO pairs VALUES (1, 1)");
  const key = client(server, await apiKey(server, "project:backend"));
  expectAnswer(await key.get("/api/pairs/_svc/key?a=1&b=1"), 200, { data: { a: 1, b: 1 } });
  for (const path of ["/api/pairs/x/key?a=1&b=1", "/api/pairs/_svc/keys?a=1&b=1"])
    expectRefusal(await key.get(path), 404, "not_found");
});

describe("a path that is nothing is 404", () => {
  it.each([
    "/",
    "/favicon.ico",
    "/auth",
    "/auth/",
    "/auth/nope",
    "/auth/login/",
    "/auth/me/x",
    "/apis/notes",
    "/Auth/me",
    "/%61uth/nope",
    "/health/x",
    "/.env",
    "/svc.toml",
    "/..%2fsvc.toml",
    "/.svc/data.db",
  ])("%s, for every method", async (path) => {
    const server = await serve(project);
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"])
      expectRefusal(await client(server).send(method, path, {}), 404, "not_found");
  });
});

it("/health is 200 while the database answers", async () => {
  const server = await serve(project);
  const answer = await client(server).get("/health");
  expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: { status: "ok" } });
});

it("HEAD answers as GET does, without a body", async () => {
  const server = await serve(project);
  const key = client(server, await apiKey(server, "project:backend"));
  const head = await key.send("HEAD", "/api/notes", {});
  expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: "" });
  for (const path of ["/api/nope", "/api/notes/1"]) expect((await key.send("HEAD", path, {})).status, path).toBe(404);
  expect((await key.send("HEAD", "/health", {})).status).toBe(200);
  expect((await key.send("HEAD", "/auth/login", {})).status).toBe(405);
});

it("a table whose name is that of a route of no table is a table", async () => {
  const server = await serve({
    ...project,
    schema: "health: { columns: { id: { type: integer, primary_key: true } } }",
  });
  const key = client(server, await apiKey(server, "project:backend"));
  expectAnswer(await key.get("/api/health"), 200, { data: [], meta: { limit: 50, offset: 0, total: 0 } });
});

it("a failure that nobody expected is 500 without a word of its cause, which is logged", async () => {
  const server = await serve({
    ...project,
    wrap: (database) => ({
      query: (statements) => database.query(statements),
      batch: async (statements) => {
        if (statements.some(({ sql }) => /^INSERT .*"notes"/.test(sql)))
          throw new Error("SELECT secret FROM _users at /srv/app/main.js:1:1");
        return database.batch(statements);
      },
      migrate: (statements) => database.migrate(statements),
      foreignKeysStayOn: database.foreignKeysStayOn,
      answerBytesMax: database.answerBytesMax,
      imageBytesMax: database.imageBytesMax,
      statementsMax: database.statementsMax,
      close: () => database.close(),
    }),
  });
  const key = client(server, await apiKey(server, "project:backend"));
  expectRefusal(await key.post("/api/notes", {}), 500, "internal");
  expect(server.log.lines.join("\n")).toContain("SELECT secret");
  expectAnswer(await key.post("/api/pairs", { a: 1, b: 2 }), 201, { data: { a: 1, b: 2 } });
});
