import { expect, test } from "vitest";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const columns = `
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text }
    a: { type: text }
    b: { type: text }
    file: { type: blob }`;
const schema = `
notes:
  history: forever${columns}
drafts:${columns}
`;
const config = `
[api]
max_body_bytes = 8_000_000
[usage]
enabled = false
[rules.notes]
read = "row.owner = auth.id"
update = "row.owner = auth.id"
`;
const megabyte = "a".repeat(1_000_000);
/** A million bytes, in base64. */
const file = `${"A".repeat(1_333_332)}AA==`;

async function notes(): Promise<{ server: TestServer; key: Client; isD1: boolean }> {
  const server = await serve({ schema, config });
  const key = client(server, await apiKey(server, "project:backend"));
  return { server, key, isD1: (server.database.imageBytesMax ?? Infinity) < 2_000_000 };
}

const refused = (answer: Awaited<ReturnType<Client["post"]>>) => expectRefusal(answer, 413, "payload_too_large");

test("a row whose image the log cannot hold is refused before it is written, on D1 alone", async () => {
  const { server, key, isD1 } = await notes();
  for (const row of [
    { id: 1, file },
    // Each of these characters takes two in JSON.
    { id: 2, a: '"'.repeat(960_000) },
  ]) {
    const made = await key.post("/api/notes", row);
    if (isD1) {
      refused(made);
      expect(await countOf(server, "notes")).toBe(0);
      expect(await countOf(server, "_changes")).toBe(0);
    } else {
      expect(made.status).toBe(201);
      expect((await key.patch(`/api/notes/${row.id}`, { owner: "ann" })).status).toBe(200);
      expect((await key.delete(`/api/notes/${row.id}`)).status).toBe(200);
    }
  }
  // A table without history has no images.
  expect((await key.post("/api/drafts", { id: 1, file })).status).toBe(201);
  expect((await key.patch("/api/drafts/1", { a: "short" })).status).toBe(200);
});

test("what just fits can be changed and deleted afterwards", async () => {
  const { key } = await notes();
  // On D1 the row is too large for an answer.
  expect((await key.post("/api/notes", { id: 1, a: "a".repeat(1_890_000) })).status).toBe(201);
  expect((await key.patch("/api/notes/1", { owner: "ann" })).status).toBe(200);
  expect((await key.patch("/api/notes/1", { b: "b".repeat(2_000) })).status).toBe(200);
  expect((await key.delete("/api/notes/1")).status).toBe(200);
});

test("an update that makes a row too large together with what stays is undone", async () => {
  const { server, key, isD1 } = await notes();
  await key.post("/api/notes", { id: 1, owner: "ann", a: megabyte });
  const [second, third] = [
    await key.patch("/api/notes/1", { b: megabyte }),
    () => key.patch("/api/notes/1", { b: "c" }),
  ];
  if (isD1) refused(second);
  else expect(second.status).toBe(200);
  expect(await rowsOf(server, "SELECT length(a) AS a, length(b) AS b FROM notes")).toEqual([
    [1_000_000, isD1 ? null : 1_000_000],
  ]);
  expect(await countOf(server, "_changes")).toBe(isD1 ? 1 : 2);
  expect(await rowsOf(server, "SELECT id FROM _transactions WHERE seq IS NULL")).toEqual([]);
  expect((await third()).status).toBe(200);
  // In place of what was there, it fits.
  expect((await key.patch("/api/notes/1", { a: "", b: megabyte })).status).toBe(200);
  expect(dataOf(await key.get("/api/notes/_svc/history?where[id]=1&limit=1"))).toBeDefined();
});

test("a row can still be changed and deleted where an update of it was refused", async () => {
  const { server, key } = await notes();
  const half = "a".repeat(Math.floor(0.55 * (server.database.imageBytesMax ?? 1_000_000)));
  expect((await key.post("/api/notes", { id: 1, a: half })).status).toBe(201);
  const larger = await key.patch("/api/notes/1", { b: half });
  if (server.database.imageBytesMax === null) expect(larger.status).toBe(200);
  else refused(larger);
  expect((await key.patch("/api/notes/1", { owner: "ann" })).status).toBe(200);
  expect((await key.delete("/api/notes/1")).status).toBe(200);
});

test("what a caller may not change does not tell how large it is", async () => {
  const { server, key } = await notes();
  const ann = client(server, (await member(server, "ann")).bearer);
  await key.post("/api/notes", { id: 1, owner: "ben", a: megabyte });
  expectRefusal(await ann.patch("/api/notes/1", { b: megabyte }), 403, "forbidden");
  expectRefusal(await ann.patch("/api/notes/2", { b: megabyte }), 404, "not_found");
  await run(server, "INSERT INTO notes (id, owner, file) VALUES (3, 'ben', zeroblob(1200000))");
  expectRefusal(await ann.patch("/api/notes/3", { b: "b".repeat(2_000) }), 403, "forbidden");
});

test("a row that another program made too large is refused as such, and stays", async () => {
  const { server, key, isD1 } = await notes();
  await run(server, "INSERT INTO notes (id, file) VALUES (1, zeroblob(1200000))");
  const answers = [await key.patch("/api/notes/1", { owner: "ann" }), await key.delete("/api/notes/1")];
  if (isD1) {
    answers.forEach(refused);
    expect(await rowsOf(server, "SELECT owner, length(file) AS bytes FROM notes")).toEqual([[null, 1_200_000]]);
  } else expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});
