import { expect, test } from "vitest";
import { applyChange } from "../../../src/schema/apply.js";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { countOf, rowsOf } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const columns = `
  columns:
    id: { type: integer, primary_key: true }
    body: { type: text }
    size: { type: real }
`;
const notes = `notes:\n  history: forever${columns}`;

async function written(): Promise<{ server: TestServer; key: Client }> {
  const server = await serve({ schema: notes, config: "usage.enabled = false" });
  const key = client(server, await apiKey(server, "project:backend"));
  await key.post("/api/notes", { id: 1, body: "a", size: 0.1 + 0.2 });
  await key.patch("/api/notes/1", { body: "b", size: 1e300 });
  return { server, key };
}

const apply = (server: TestServer, text: string, allowDestructive = false) =>
  applyChange(server.database, text, { allowDestructive, now: 5_000_000_000_000 });
const bodies = async (key: Client, path: string) =>
  (dataOf(await key.get(path)) as unknown as { row: object | null }[]).map(({ row }) => row);

test("history follows renames of its table and columns, a column that comes and one that goes", async () => {
  const { server, key } = await written();
  const renamed = `letters:\n  history: forever\n  renamed_from: notes${columns
    .replace("body:", "text:")
    .replace("{ type: text }", "{ type: text, renamed_from: body }")}    more: { type: text, default: m }\n`;
  expect(await apply(server, renamed)).toMatchObject({ outcome: "applied" });
  expect(await bodies(key, "/api/letters/_svc/history")).toEqual([
    { id: 1, text: "b", size: 1e300, more: "m" },
    { id: 1, text: "a", size: 0.1 + 0.2, more: null },
  ]);
  await key.patch("/api/letters/1", { more: "n" });
  const without = renamed.replace("    size: { type: real }\n", "");
  const refused = await apply(server, without);
  expect(refused).toMatchObject({ outcome: "refused", reason: "destructive" });
  const hazards = "steps" in refused ? refused.steps.flatMap((step) => step.hazards) : [];
  expect(hazards).toEqual([
    { effect: "destructive", reason: "letters.size is dropped with its values", count: 1 },
    { effect: "destructive", reason: "letters.size is dropped with its values in the history", count: 2 },
  ]);
  expect(await apply(server, without, true)).toMatchObject({ outcome: "applied" });
  expect(await bodies(key, "/api/letters/_svc/history")).toEqual([
    { id: 1, text: "b", more: "n" },
    { id: 1, text: "b", more: "m" },
    { id: 1, text: "a", more: null },
  ]);
  expect((await rowsOf(server, "SELECT count(*) AS n FROM _changes WHERE old LIKE '%size%'"))[0]).toEqual([0]);
});

test("history that is turned on later begins there, also for rows that were there", async () => {
  const server = await serve({ schema: `notes:${columns}`, config: "usage.enabled = false" });
  const key = client(server, await apiKey(server, "project:backend"));
  await key.post("/api/notes", { id: 1, body: "before" });
  server.clock.advance(1000);
  expect((await key.get("/api/notes/_svc/history")).status).toBe(404);
  expect(await applyChange(server.database, notes, { allowDestructive: false, now: server.clock.now() })).toMatchObject(
    { outcome: "applied" },
  );
  expect(await bodies(key, "/api/notes/_svc/history")).toEqual([]);
  await key.delete("/api/notes/1");
  expect(dataOf(await key.get("/api/notes/_svc/state?at=0"))).toEqual([{ id: 1, body: "before", size: null }]);
  expect(await bodies(key, "/api/notes/_svc/history")).toEqual([null]);
  expectRefusal(await key.get("/api/notes/_svc/state?at=2025-12-31"), 410, "gone");
});

test("turning history off loses it, which a person allows; no number is used twice", async () => {
  const { server, key } = await written();
  const off = `notes:${columns}`;
  const refused = await apply(server, off);
  expect(refused).toMatchObject({ outcome: "refused", reason: "destructive" });
  expect(JSON.stringify(refused)).toContain('"the history of notes is dropped","count":2');
  expect(await countOf(server, "_changes")).toBe(2);
  expect(await apply(server, off, true)).toMatchObject({ outcome: "applied" });
  await key.patch("/api/notes/1", { body: "unseen" });
  expect(await rowsOf(server, "SELECT seq, tbl, old FROM _changes")).toEqual([[2, "", null]]);
  expect(await apply(server, notes)).toMatchObject({ outcome: "applied" });
  await key.patch("/api/notes/1", { body: "seen" });
  expect(dataOf(await key.get("/api/notes/_svc/history"))).toMatchObject([{ seq: 3, changed: ["body"] }]);
});

test("what keeps no history: a table without a key, and one that says something else than a time", async () => {
  const problems = (text: string) =>
    applyChange(server.database, text, { allowDestructive: false, now: 1 }).then((outcome) =>
      "problems" in outcome ? outcome.problems.map(({ path, message }) => `${path}: ${message}`) : [],
    );
  const { server } = await written();
  expect(await problems("a:\n  history: 30d\n  columns: { b: { type: text } }")).toContain(
    "a.history: only a table with a primary key can keep history",
  );
  expect(await problems("a:\n  history: 30 days\n  columns: { b: { type: text, primary_key: true } }")).toEqual([
    expect.stringContaining("a.history: expected days such as 30d, forever or none"),
  ]);
});
