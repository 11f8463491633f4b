import { describe, expect, test } from "vitest";
import { type Answer, client, dataOf, expectRefusal } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const metaOf = (answer: Answer) => (answer.body as { meta: Meta }).meta;
interface Meta {
  readonly metering: { readonly attempt_id: string };
}

const schema = `
rooms:
  columns: { id: { type: integer, primary_key: true }, owner: { type: text } }
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, not_null: true, references: { table: rooms } }
    author: { type: text }
    body: { type: text, check: "length(body) < 10" }
    hidden: { type: boolean }
    size: { type: real }
    file: { type: blob }
  unique: [[room_id, body]]
found:
  columns: { id: { type: integer, primary_key: true }, body: { type: text } }
  search: [body]
votes:
  columns: { id: { type: integer, primary_key: true }, poll: { type: integer }, by: { type: text } }
notes:
  history: forever
  columns:
    id: { type: text, primary_key: true, default: { sql: "lower(hex(randomblob(8)))" } }
    text: { type: text }
    version: { type: integer, managed: version }
`;
const config = `
[rules.messages]
read = "row.hidden is null"
create = "new.author = auth.id and exists(rooms r where r.id = new.room_id and r.owner = auth.id)"
[rules.votes]
read = "public"
create = "new.by = auth.id and not exists(votes v where v.poll = new.poll and v.by = auth.id)"
[rules.notes]
read = "public"
create = "authenticated"
[rules.messages.columns.id]
write = "authenticated"
`;

async function world() {
  const server: TestServer = await serve({ schema, config });
  const ann = client(server, (await member(server, "ann")).bearer);
  const key = client(server, await apiKey(server, "project:backend"));
  await run(server, "INSERT INTO rooms (id, owner) VALUES (1, 'ann'), (2, 'ben')");
  return { server, ann, key };
}

const message = (body: string, more: object = {}) => ({ room_id: 1, author: "ann", body, ...more });

describe("an array creates rows", () => {
  test("all of them, in order, metered exactly", async () => {
    const { ann } = await world();
    const answer = await ann.post("/api/messages", [
      message("a", { size: 0.1, file: "aGk=" }),
      message("b", { hidden: true }),
      message("c", { id: 7 }),
      message("d"),
    ]);
    expect(answer.status, answer.text).toBe(201);
    const none = { hidden: null, size: null, file: null };
    expect(dataOf(answer)).toEqual(
      []
        .concat([{ id: 1, ...message("a"), hidden: null, size: 0.1, file: "aGk=" }] as never)
        .concat([{ id: 2 }] as never)
        .concat([{ id: 7, ...message("c"), ...none }] as never)
        .concat([{ id: 8, ...message("d"), ...none }] as never),
    );
    expect(metaOf(answer)).toMatchObject({ rows_read: 4, rows_written: 4, rows_returned: 4 });
    const rows = dataOf<unknown[]>(await ann.get("/api/messages"));
    expect(rows).toHaveLength(3);
  });

  test("of which a key that may not read is shown the key and what each row sent", async () => {
    const { server } = await world();
    const key = client(server, await apiKey(server, "resource:messages:write", "resource:notes:write"));
    const rows = [{ room_id: 1, body: "a" }, { room_id: 1, size: 0.1, file: "aGk=" }, { room_id: 1 }];
    const shown = rows.map((row, i) => ({ id: i + 1, ...row }));
    const notes = [{ id: "a", text: "a" }, { id: "b" }];
    for (const headers of [{}, { "Idempotency-Key": "k" }, { "Idempotency-Key": "k" }]) {
      const isFirst = Object.keys(headers).length === 0;
      const answer = await key.post(
        "/api/messages",
        rows.map((row) => ({ ...row, ...(!isFirst && { room_id: 2 }) })),
        headers,
      );
      expect(dataOf(answer)).toEqual(shown.map((row) => (isFirst ? row : { ...row, id: row.id + 3, room_id: 2 })));
    }
    expect(dataOf(await key.post("/api/notes", notes, { "Idempotency-Key": "k" }))).toEqual(notes);
    expect(dataOf(await key.post("/api/notes", notes, { "Idempotency-Key": "k" }))).toEqual(notes);
  });

  test("into a table that keeps history: the entries of the log are not counted", async () => {
    const { ann } = await world();
    const answer = await ann.post("/api/notes", [{ text: "a" }, { id: "x" }, {}]);
    const rows = dataOf<{ id: string; text: string | null; version: number }[]>(answer);
    expect(rows.map(({ text }) => text)).toEqual(["a", null, null]);
    expect(rows[1]!.id).toBe("x");
    expect(new Set(rows.map(({ version }) => version)).size).toBe(3);
    expect(metaOf(answer)).toMatchObject({ rows_read: 0, rows_written: 3, rows_returned: 3 });
    expect(answer.headers.has("ETag")).toBe(false);
  });

  test("none, where one is refused, which is named", async () => {
    const { ann, key } = await world();
    const good = [message("a"), message("b")];
    const cases: readonly [object | string | null, number, string, string[]?][] = [
      [message("far too long for it"), 400, "bad_request", ["body"]],
      [message("c", { room_id: 2 }), 403, "forbidden"],
      [message("b"), 409, "conflict", ["room_id", "body"]],
      [message("c", { author: "ben" }), 403, "forbidden"],
      [message("c", { no: 1 }), 400, "bad_request"],
      [message("c", { size: "1" }), 400, "bad_request", ["size"]],
      ["c", 400, "bad_request"],
      [null, 400, "bad_request"],
    ];
    for (const [bad, status, code, columns] of cases) {
      const words = expectRefusal(await ann.post("/api/messages", [...good, bad, message("z")]), status, code, columns);
      expect(words).toMatch(/^row 2: ./);
    }
    expect(dataOf(await key.get("/api/messages"))).toEqual([]);
  });

  test("each judged by what the ones before it left", async () => {
    const { ann } = await world();
    const vote = (poll: number) => ({ poll, by: "ann" });
    expect(dataOf(await ann.post("/api/votes", [vote(1), vote(2)]))).toHaveLength(2);
    const words = expectRefusal(await ann.post("/api/votes", [vote(3), vote(4), vote(3)]), 403, "forbidden");
    expect(words).toMatch(/^row 2:/);
    expect(dataOf(await ann.get("/api/votes"))).toHaveLength(2);
  });

  test("are found by their words", async () => {
    const { key } = await world();
    const rows = [{ body: "red hat" }, { body: "red shoes" }, { body: "hat" }];
    expect(dataOf(await key.post("/api/found", rows))).toEqual(rows.map((row, i) => ({ id: i + 1, ...row })));
    expect(dataOf(await key.get("/api/found?search=red"))).toHaveLength(2);
  });

  test("1 to 1,000 of them; of 1,000 with one bad, none", async () => {
    const { key, ann } = await world();
    expectRefusal(await ann.post("/api/notes", []), 400, "bad_request");
    expectRefusal(
      await ann.post(
        "/api/notes",
        Array.from({ length: 1001 }, () => ({})),
      ),
      400,
      "bad_request",
    );
    const rows = Array.from({ length: 1000 }, (_, i) => ({ room_id: 1, body: `b${i}` }));
    const words = expectRefusal(
      await key.post("/api/messages", rows.with(637, { room_id: 1, body: "b11" })),
      409,
      "conflict",
      ["room_id", "body"],
    );
    expect(words).toMatch(/^row 637: /);
    expect(dataOf(await key.get("/api/messages?limit=1"))).toEqual([]);
    const answer = await key.post("/api/messages", rows);
    expect(dataOf<{ body: string }[]>(answer).map(({ body }) => body)).toEqual(rows.map(({ body }) => body));
    expect(metaOf(answer)).toMatchObject({ rows_read: 0, rows_written: 1000, rows_returned: 1000 });
  });
});
