import { describe, expect, it } from "vitest";
import { client, expectRefusal } from "../../support/client.js";
import { countOf, member, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const project = {
  schema: "notes: { columns: { id: { type: integer, primary_key: true } } }",
  config: 'usage.enabled = false\nrules.notes = { read = "public", create = "public" }',
};

const names = [
  "_users",
  "_sessions",
  "_schema",
  "_service_keys",
  "_x",
  "%5fusers",
  "%5Fx",
  "%255fusers",
  "..%2f_users",
  "..%2Fnotes",
  "%2e%2e%2f_users",
  "sqlite_master",
  "sqlite_schema",
  "sqlite_sequence",
  "$users",
  "main._users",
  "Notes",
  "NOTES",
  "notes%20",
  "notes%00",
  "notes;",
  '"notes"',
  "undeclared",
  "constructor",
  "__proto__",
  "toString",
];

describe("whatever is not a declared table is the same 404", () => {
  it.each(names)("%s", async (name) => {
    const server = await serve(project);
    await run(server, "CREATE TABLE undeclared (id INTEGER PRIMARY KEY)");
    await run(server, "INSERT INTO undeclared VALUES (1)");
    const ada = await member(server, "ada", "admin");
    const callers = [{}, ada.bearer, await apiKey(server, "project:backend")];
    for (const credential of callers) {
      const caller = client(server, credential);
      const requests = (table: string) =>
        [
          caller.get(`/api/${table}`),
          caller.get(`/api/${table}?limit=0`),
          caller.get(`/api/${table}?cursor=x`),
          caller.post(`/api/${table}`, {}),
          caller.get(`/api/${table}/1`),
          caller.patch(`/api/${table}/1`, {}),
          caller.delete(`/api/${table}/1`),
          caller.get(`/api/${table}/_svc/key?id=1`),
          caller.delete(`/api/${table}/_svc/key?id=1`),
          caller.send("PUT", `/api/${table}`, {}),
        ] as const;
      const unknown = await Promise.all(requests("nope"));
      for (const [at, answer] of (await Promise.all(requests(name))).entries()) {
        expectRefusal(answer, 404, "not_found");
        expect(answer.text).toBe(unknown[at]!.text);
      }
    }
    expect(await countOf(server, "undeclared")).toBe(1);
    expect(await countOf(server, "_users")).toBe(1);
  });
});

it.each(["/api", "/api/", "/api/notes/", "/api//notes", "/api/notes/1/2", "/api/notes/_svc/other", "/API/notes"])(
  "%s is 404 in the same shape",
  async (path) => {
    const server = await serve(project);
    expectRefusal(await client(server).get(path), 404, "not_found");
  },
);
