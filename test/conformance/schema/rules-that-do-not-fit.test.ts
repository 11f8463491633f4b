import { expect, it } from "vitest";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { member } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";
import { applied } from "./support.js";

const table = (name: string, column: string) =>
  `${name}:\n  columns:\n    id: { type: integer, primary_key: true }\n    ${column}: { type: text }\n`;
const before = table("notes", "body") + table("tags", "label") + table("links", "note");
const after = table("notes", "body") + table("tags", "name") + table("hops", "note");
const config = `usage.enabled = false
[rules.notes]
read = "public"
create = "authenticated"
[rules.tags]
read = "row.label is not null"
create = "public"
[rules.tags.columns.label]
read = "authenticated"
[rules.links]
read = "public"
`;

it("rules that a schema does not fit are refused for their tables alone", async () => {
  const server = await serve({ schema: before, config });
  const ada = client(server, (await member(server, "ada")).bearer);
  const root = client(server, (await member(server, "root", "admin")).bearer);
  const key = client(server, await apiKey(server, "project:backend"));
  await ada.post("/api/notes", { body: "a" });
  // Another process applies it, which has other rules.
  await applied(server.database, after, { allowDestructive: true });
  expect(dataOf(await ada.get("/api/notes"))).toEqual([{ id: 1, body: "a" }]);
  expect((await ada.post("/api/notes", { body: "b" })).status).toBe(201);
  for (const answer of [
    await ada.get("/api/tags"),
    await ada.post("/api/tags", { name: "x" }),
    await ada.post("/api/_svc/batch", { operations: [{ op: "create", table: "tags", values: { name: "x" } }] }),
    await root.post("/admin/api/explain", { as: { user: "ada" }, action: "read", table: "tags" }),
  ])
    expect(expectRefusal(answer, 503, "unavailable")).toContain("the rules of tags do not fit the schema in force");
  // A mutation is not refused for good: the client sends it again.
  const mutation = (id: number, named: string) => ({ id, operations: [{ op: "create", table: named, values: {} }] });
  const pushed = (...mutations: object[]) => ada.post("/api/_svc/push", { client: "c_1", mutations });
  expect((await pushed(mutation(1, "tags"))).status).toBe(503);
  expect(dataOf(await pushed(mutation(1, "notes"), mutation(2, "tags")))).toMatchObject({ last_id: 1 });
  expectRefusal(await ada.get("/api/links"), 404, "not_found");
  // A table without rules is closed to all but keys, for which no rule holds.
  expectRefusal(await ada.get("/api/hops"), 403, "forbidden");
  expect((await key.post("/api/tags", { id: 1, name: "x" })).status).toBe(201);
  expect(dataOf(await key.get("/api/tags"))).toEqual([{ id: 1, name: "x" }]);
  expect(server.log.lines.join("\n")).toMatch(/rules do not fit schema version 2: .*tags/);
});

it("a named condition that does not fit keeps all tables from being served", async () => {
  const named = `${config}[conditions]\nlabelled = "exists(tags t where t.label = 'x')"\n`;
  const server = await serve({ schema: before, config: named });
  const ada = client(server, (await member(server, "ada")).bearer);
  await applied(server.database, after, { allowDestructive: true });
  expectRefusal(await ada.get("/api/notes"), 503, "unavailable");
});
