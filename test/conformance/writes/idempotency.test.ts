import { expect, test } from "vitest";
import { type Answer, type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { accessTokenOf, member, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const metaOf = (answer: Answer) => (answer.body as { meta: Meta }).meta;
interface Meta {
  readonly metering: { readonly attempt_id: string };
}

const schema = `
notes:
  history: forever
  columns:
    id: { type: text, primary_key: true, default: { sql: "lower(hex(randomblob(8)))" } }
    text: { type: text, unique: true }
    size: { type: real }
    file: { type: blob }
    hidden: { type: boolean }
    secret: { type: text }
    version: { type: integer, managed: version }
plain:
  columns:
    id: { type: integer, primary_key: true }
    text: { type: text, unique: true }
    owner: { type: text }
    size: { type: real }
    hidden: { type: boolean }
checked:
  columns:
    id: { type: integer, primary_key: true }
    n: { type: integer, check: "abs(n) < 9" }
    at: { type: integer, default: { sql: "unixepoch()" } }
stamped:
  columns:
    id: { type: integer, primary_key: true }
    n: { type: integer }
    stamp: { type: text }
  triggers:
    stamp: "after insert on stamped begin update stamped set stamp = 's' || new.n where id = new.id; end"
`;
const config = `
[rules.plain]
read = "row.hidden is null and exists(notes n where n.text = row.owner)"
create = "new.owner = auth.id"
update = "row.owner = auth.id"
[rules.checked]
read = "public"
create = "authenticated"
update = "authenticated"
[rules.stamped]
read = "public"
create = "authenticated"
[rules.notes]
read = "row.hidden is null"
create = "public"
update = "authenticated"
delete = "authenticated"
[rules.notes.columns.secret]
read = "auth.role = 'admin'"
`;

async function world() {
  const server: TestServer = await serve({ schema, config });
  const ann = client(server, (await member(server, "ann")).bearer);
  const ben = client(server, (await member(server, "ben")).bearer);
  const key = client(server, await apiKey(server, "project:backend"));
  return { server, ann, ben, key };
}

const once = (key: string) => ({ "Idempotency-Key": key });
const isReplay = (answer: Answer) => answer.headers.get("Idempotency-Replayed") === "true";
const count = async (by: Client) => dataOf<unknown[]>(await by.get("/api/notes?limit=1000")).length;

test("a request with a key is done once, and answered as before", async () => {
  const { server, ann } = await world();
  const body = { text: "a", size: 0.1 + 0.2, file: "aGk=" };
  const first = await ann.post("/api/notes", body, once("k"));
  expect([first.status, isReplay(first)]).toEqual([201, false]);
  expect(metaOf(first)).toMatchObject({ rows_read: 0, rows_written: 1 });
  const row = dataOf<{ id: string; version: number }>(first);
  await ann.patch(`/api/notes/${row.id}`, { text: "changed" });
  const again = await ann.post("/api/notes", body, once("k"));
  expect([again.status, isReplay(again)]).toEqual([201, true]);
  expect(dataOf(again)).toEqual(row);
  expect(again.headers.get("ETag")).toBe(first.headers.get("ETag"));
  expect(metaOf(again)).toMatchObject({ rows_read: 1, rows_written: 0, rows_returned: 1 });
  const id = (answer: Answer) => metaOf(answer).metering.attempt_id;
  expect(id(again)).not.toBe(id(first));
  const patched = await ann.patch(`/api/notes/${row.id}`, { text: "b" }, once('"k"'));
  expect(dataOf(await ann.patch(`/api/notes/${row.id}`, { text: "b" }, once("k")))).toEqual(dataOf(patched));
  const gone = await ann.delete(`/api/notes/${row.id}`, once("k"));
  const gone2 = await ann.delete(`/api/notes/${row.id}`, once("k"));
  expect([gone.status, dataOf(gone), gone2.status, dataOf(gone2)]).toEqual([200, { id: row.id }, 200, { id: row.id }]);
  expect([isReplay(gone), isReplay(gone2)]).toEqual([false, true]);
  expect(await count(ann)).toBe(0);
  expectRefusal(await ann.delete(`/api/notes/${row.id}`), 404, "not_found");
  // After a day the key is a new one.
  server.clock.advance(86_400_001);
  const { bearer } = await member(server, "cat");
  const cat = client(server, bearer);
  expect((await cat.post("/api/notes", body, once("k"))).status).toBe(201);
});

test("a row whose JSON is much shorter than its text inside of JSON is kept whole", async () => {
  const { ann } = await world();
  const id = "a";
  const quotes = '"'.repeat(100_000);
  const isAnsweredAsBefore = async (ask: () => Promise<Answer>) => {
    const first = await ask();
    expect(first.status).toBeLessThan(300);
    await ann.patch(`/api/notes/${id}`, { size: 1 });
    const again = await ask();
    expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
    expect(again.headers.get("ETag")).toBe(first.headers.get("ETag"));
    expect(dataOf(again)).toEqual(dataOf(first));
  };
  await isAnsweredAsBefore(() => ann.post("/api/notes", { id, text: quotes }, once("k")));
  await isAnsweredAsBefore(() => ann.patch(`/api/notes/${id}`, { text: `${quotes}x`, size: 2 }, once("k")));
});

test("several rows, and what was there", async () => {
  const { ann } = await world();
  const rows = [{ text: "a" }, { text: "b", hidden: true }, { id: "x" }];
  const first = await ann.post("/api/notes", rows, once("k"));
  const again = await ann.post("/api/notes", rows, once("k"));
  expect([again.status, isReplay(again), dataOf(again)]).toEqual([201, true, dataOf(first)]);
  const plain = [
    { text: "p", size: 1e300 },
    { text: "q", hidden: true },
    { text: "r", file: "aGk=" },
  ];
  const made = await ann.post("/api/notes", plain, once("plain"));
  const made2 = await ann.post("/api/notes", plain, once("plain"));
  expect([made2.status, isReplay(made2), dataOf(made2)]).toEqual([201, true, dataOf(made)]);
  expect(dataOf<unknown[]>(made)).toHaveLength(3);
  await ann.delete(`/api/notes/${dataOf<{ id: string }[]>(made)[0]!.id}`);
  const path = "/api/notes?on_conflict=text&on_duplicate=update";
  const upsert = [{ text: "a", size: 2 }, { text: "c" }];
  const changed = await ann.post(path, upsert, once("k"));
  const changed2 = await ann.post(path, upsert, once("k"));
  expect([changed2.status, isReplay(changed2), dataOf(changed2)]).toEqual([200, true, dataOf(changed)]);
  expect(await count(ann)).toBe(4);
});

test("twenty at once: one effect, equal answers", async () => {
  const { ann } = await world();
  const answers = await Promise.all(Array.from({ length: 20 }, () => ann.post("/api/notes", { text: "a" }, once("k"))));
  expect(new Set(answers.map((answer) => JSON.stringify([answer.status, dataOf(answer)]))).size).toBe(1);
  expect(answers.filter(isReplay)).toHaveLength(19);
  expect(await count(ann)).toBe(1);
});

test("another body under the key is 422; another caller, method or path has keys of its own", async () => {
  const { ann, ben } = await world();
  const { id } = dataOf<{ id: string }>(await ann.post("/api/notes", { text: "a" }, once("k")));
  expectRefusal(await ann.post("/api/notes", { text: "b" }, once("k")), 422, "idempotency_mismatch");
  const long = { text: "x".repeat(500) };
  await ann.post("/api/notes", long, once("long"));
  expect(isReplay(await ann.post("/api/notes", long, once("long")))).toBe(true);
  expectRefusal(
    await ann.post("/api/notes", { text: `${"x".repeat(499)}y` }, once("long")),
    422,
    "idempotency_mismatch",
  );
  expect((await ben.post("/api/notes", { text: "b" }, once("k"))).status).toBe(201);
  expect(isReplay(await ann.patch(`/api/notes/${id}`, { size: 1 }, once("k")))).toBe(false);
  expect(await count(ann)).toBe(3);
});

test("what was refused is not kept", async () => {
  const { ann } = await world();
  await ann.post("/api/notes", { text: "a" });
  expectRefusal(await ann.post("/api/notes", { text: "a" }, once("k")), 409, "conflict", ["text"]);
  expect((await ann.post("/api/notes", { text: "b" }, once("k"))).status).toBe(201);
  expectRefusal(await ann.patch("/api/notes/none", { text: "x" }, once("p")), 404, "not_found");
  expectRefusal(await ann.delete("/api/notes/none", once("p")), 404, "not_found");
});

test("a repetition shows what the caller may read now", async () => {
  const { server, ann } = await world();
  const body = { text: "a", secret: "s" };
  const admin = client(server, (await member(server, "adm", "admin")).bearer);
  const shown = dataOf<{ id: string; secret: string }>(await admin.post("/api/notes", body, once("k")));
  expect(shown.secret).toBe("s");
  await run(server, "UPDATE _users SET role = 'user' WHERE id = 'adm'");
  const user = client(server, { Authorization: `Bearer ${await accessTokenOf(server, "adm")}` });
  const { secret: _, ...others } = shown;
  expect(dataOf(await user.post("/api/notes", body, once("k")))).toEqual(others);
  await run(server, "UPDATE notes SET hidden = 1");
  expect(dataOf(await user.post("/api/notes", body, once("k")))).toEqual({ id: shown.id });
  await run(server, "DELETE FROM notes");
  expect(dataOf(await user.post("/api/notes", body, once("k")))).toEqual({ id: shown.id });
  expect(await count(ann)).toBe(0);
});

test("who was signed out, or disabled, meanwhile is not told what was kept", async () => {
  const { server, ann, ben } = await world();
  const headers = { "Idempotency-Key": "k" };
  for (const person of [ann, ben])
    expect((await person.post("/api/notes", { text: person === ann ? "a" : "b" }, headers)).status).toBe(201);
  await run(server, "UPDATE _sessions SET revoked_at = 1 WHERE user_id = 'ann'");
  await run(server, "UPDATE _users SET disabled = 1 WHERE id = 'ben'");
  expectRefusal(await ann.post("/api/notes", { text: "a" }, headers), 401, "unauthorized");
  expectRefusal(await ben.post("/api/notes", { text: "b" }, headers), 401, "unauthorized");
  // Nor whether something was kept.
  expectRefusal(await ann.post("/api/notes", { text: "other" }, headers), 401, "unauthorized");
});

test("a write that nothing else follows, which is one with the question whether it was done", async () => {
  const { server, ann, ben } = await world();
  await ann.post("/api/notes", { text: "ann" });
  const body = { text: "a", owner: "ann", size: 0.1 + 0.2 };
  const answers = await Promise.all(Array.from({ length: 20 }, () => ann.post("/api/plain", body, once("k"))));
  expect(answers.filter((answer) => !isReplay(answer))).toHaveLength(1);
  const row = { id: 1, hidden: null, ...body };
  for (const answer of answers) expect([answer.status, dataOf(answer)]).toEqual([201, row]);
  const first = answers.find((answer) => !isReplay(answer))!;
  // The note is looked up for the row that is answered.
  expect(metaOf(first)).toMatchObject({ rows_read: 1, rows_written: 1, rows_returned: 1 });
  const patched = await ann.patch("/api/plain/1", { text: "b" }, once("p"));
  expect(metaOf(patched)).toMatchObject({ rows_read: 2, rows_written: 1, rows_returned: 1 });
  await ann.patch("/api/plain/1", { text: "c" });
  for (const [again, text] of [
    [await ann.post("/api/plain", body, once("k")), "a"],
    [await ann.patch("/api/plain/1", { text: "b" }, once("p")), "b"],
  ] as const) {
    expect([isReplay(again), dataOf(again)]).toEqual([true, { ...row, text }]);
    expect(metaOf(again)).toMatchObject({ rows_read: 2, rows_written: 0, rows_returned: 1 });
  }
  expectRefusal(await ann.post("/api/plain", { ...body, size: 1 }, once("k")), 422, "idempotency_mismatch");
  // What is refused is not kept, and says why as without a key.
  expectRefusal(await ben.post("/api/plain", body, once("k")), 403, "forbidden");
  expectRefusal(await ben.patch("/api/plain/1", { text: "d" }, once("p")), 403, "forbidden");
  expectRefusal(await ann.patch("/api/plain/2", { text: "d" }, once("p")), 404, "not_found");
  expectRefusal(await ann.post("/api/plain", { text: "c", owner: "ann" }, once("c")), 409, "conflict", ["text"]);
  expect(dataOf(await ann.post("/api/plain", { text: "d", owner: "ann" }, once("c")))).toMatchObject({
    id: 2,
  });
  await run(server, "UPDATE plain SET hidden = 1");
  expect(dataOf(await ann.post("/api/plain", body, once("k")))).toEqual({ id: 1 });
  await run(server, "DELETE FROM plain");
  expect(dataOf(await ann.post("/api/plain", body, once("k")))).toEqual({ id: 1 });
  const large = { text: "x".repeat(270_000), owner: "ann" };
  const answered = await ann.post("/api/plain", large, once("large"));
  expect(dataOf(await ann.post("/api/plain", large, once("large")))).toEqual(dataOf(answered));
  await run(server, "UPDATE plain SET size = 2");
  expect(dataOf(await ann.post("/api/plain", large, once("large")))).toMatchObject({ size: 2 });
});

test("a repetition where the table has SQL of the owner's, which a refusal could be blamed on", async () => {
  const { ann } = await world();
  const first = await ann.post("/api/checked", { n: 1 }, once("k"));
  expect(first.status).toBe(201);
  const again = await ann.post("/api/checked", { n: 1 }, once("k"));
  expect([again.status, isReplay(again), dataOf(again)]).toEqual([201, true, dataOf(first)]);
  const changed = await ann.patch("/api/checked/1", { n: 2 }, once("p"));
  const changed2 = await ann.patch("/api/checked/1", { n: 2 }, once("p"));
  expect([changed2.status, isReplay(changed2), dataOf(changed2)]).toEqual([200, true, dataOf(changed)]);
  expectRefusal(await ann.post("/api/checked", { n: 2 }, once("k")), 422, "idempotency_mismatch");
  expectRefusal(await ann.post("/api/checked", { n: "-9223372036854775808" }, once("q")), 400, "bad_request");
});

test("what a trigger changes in the row is in the first answer and in the repetition", async () => {
  const { ann } = await world();
  const answers = [
    await ann.post("/api/stamped", { n: 1 }, once("k")),
    await ann.post("/api/stamped", { n: 1 }, once("k")),
  ];
  expect(answers.map(isReplay)).toEqual([false, true]);
  expect(answers.map((answer) => dataOf(answer))).toEqual([
    { id: 1, n: 1, stamp: "s1" },
    { id: 1, n: 1, stamp: "s1" },
  ]);
  const bulk = [
    await ann.post("/api/stamped", [{ n: 2 }, { n: 3 }], once("b")),
    await ann.post("/api/stamped", [{ n: 2 }, { n: 3 }], once("b")),
  ];
  expect(dataOf(bulk[1]!)).toEqual(dataOf(bulk[0]!));
  expect(dataOf(bulk[0]!)).toMatchObject([{ stamp: "s2" }, { stamp: "s3" }]);
});

test("a large answer is kept as its key, and read again", async () => {
  const { ann } = await world();
  const body = { text: "x".repeat(300_000) };
  const first = await ann.post("/api/notes", body, once("k"));
  const again = await ann.post("/api/notes", body, once("k"));
  expect([again.status, isReplay(again)]).toEqual([first.status, true]);
  expect(dataOf(again)).toEqual(dataOf(first));
});

test("keys that are none, and callers who have none", async () => {
  const { server, ann } = await world();
  const nobody = client(server);
  for (const key of ["", "a b", "x".repeat(201), '"a', "\u00e4"])
    expectRefusal(await ann.post("/api/notes", { text: "x" }, once(key)), 400, "bad_request");
  expectRefusal(await nobody.post("/api/notes", { text: "x" }, once("k")), 400, "bad_request");
  expect((await nobody.post("/api/notes", { text: "x" })).status).toBe(201);
  expect(await count(ann)).toBe(1);
});
