import { describe, expect, it } from "vitest";
import { applyChange } from "../../../src/schema/apply.js";
import { client, dataOf, expectRefusal, metaOf } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const schema = `
notes:
  columns:
    id: { type: text, primary_key: true }
    owner_id: { type: text }
    body: { type: text }
tasks:
  columns:
    id: { type: text, primary_key: true }
    owner_id: { type: text }
    body: { type: text }
`;
const config = `
usage.enabled = false
[rules.notes]
read = "public"
[rules.tasks]
read = "public"
`;

async function notes() {
  const server = await serve({ schema, config });
  for (const table of ["notes", "tasks"])
    await run(
      server,
      `INSERT INTO ${table} VALUES ('needle-1', 'ada', 'haystack-1'), ('needle-2', 'bob', 'haystack-2'), ('needle-3', 'ada', 'haystack-3')`,
    );
  const ada = await member(server, "ada");
  const adas = client(server, ada.bearer);
  const first = metaOf(await adas.get("/api/notes?limit=1&sort=-body&where[owner_id]=ada")).next_cursor!;
  return { server, ada, adas, first };
}

const second = [{ id: "needle-1", owner_id: "ada", body: "haystack-1" }];

describe("a cursor", () => {
  it("that would be too long is 400, and names the columns of the sort that are why", async () => {
    const { server, adas } = await notes();
    await run(server, "UPDATE notes SET body = hex(zeroblob(50000)) || id");
    const by = (query: string) => adas.get(`/api/notes?${query}limit=1`);
    expectRefusal(await by("sort=owner_id,-body&"), 400, "bad_request", ["body"]);
    for (const query of ["", "sort=owner_id&"]) expect((await by(query)).status).toBe(200);
    // The last page needs none.
    expect((await adas.get("/api/notes?sort=body&where[owner_id]=bob")).status).toBe(200);
    const many = Array.from({ length: 12_000 }, (_, i) => `id${i}`);
    const filter = { or: [{ id: { in: many } }, { owner_id: "ada" }] };
    expectRefusal(await adas.post("/api/notes/_svc/query", { filter, limit: 1 }), 400, "bad_request");
  });

  it("continues the request that it was made for", async () => {
    const { adas, first } = await notes();
    const page = await adas.get(`/api/notes?cursor=${first}`);
    expect(dataOf(page)).toEqual(second);
    expect(metaOf(page)).toEqual({ limit: 1, offset: 1, total: 2 });
  });

  it("is of letters that need no escaping in a URL", async () => {
    const { first } = await notes();
    expect(first).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  it("shows nothing of the rows, of the request or of the caller when decoded", async () => {
    const { first } = await notes();
    const bytes = Buffer.from(first, "base64url");
    for (const encoding of ["latin1", "utf8", "utf16le"] as const)
      for (const word of ["needle", "haystack", "body", "owner_id", "notes", "limit", "after", "example.com"])
        expect(bytes.toString(encoding)).not.toContain(word);
    const again = (await notes()).first;
    expect(again).not.toBe(first);
    expect(again.slice(0, 16)).not.toBe(first.slice(0, 16));
  });

  it("that was tampered with is invalid_cursor, whichever character it was", async () => {
    const { adas, first, server } = await notes();
    const swap = (at: number) => `${first.slice(0, at)}${first[at] === "A" ? "B" : "A"}${first.slice(at + 1)}`;
    const cursors = [
      "",
      "x",
      "null",
      "AAAA",
      first.slice(1),
      first.slice(0, -1),
      first.slice(0, 16),
      `${first}A`,
      `${first}=`,
      `${first}%20`,
      first.toUpperCase(),
      ...Array.from({ length: first.length }, (_, at) => at)
        .filter((at) => at % 9 === 0 || at < 20)
        .map(swap),
    ];
    for (const cursor of cursors) expectRefusal(await adas.get(`/api/notes?cursor=${cursor}`), 400, "invalid_cursor");
    expect(server.log.lines).toEqual([]);
  });

  it("of another caller is invalid_cursor", async () => {
    const { server, first } = await notes();
    const bob = await member(server, "bob");
    const callers = [
      {},
      bob.bearer,
      await apiKey(server, "project:backend"),
      await apiKey(server, "resource:notes:read"),
    ];
    for (const credential of callers)
      expectRefusal(await client(server, credential).get(`/api/notes?cursor=${first}`), 400, "invalid_cursor");
    const anonymous = metaOf(await client(server).get("/api/notes?limit=1")).next_cursor;
    expectRefusal(await client(server, bob.bearer).get(`/api/notes?cursor=${anonymous}`), 400, "invalid_cursor");
  });

  it("of another session of the same user is theirs", async () => {
    const { server, adas, first, ada } = await notes();
    const refreshed = dataOf<{ access_token: string }>(
      await adas.post("/auth/refresh", { refresh_token: ada.refreshToken }),
    );
    const again = client(server, { Authorization: `Bearer ${refreshed.access_token}` });
    expect(dataOf(await again.get(`/api/notes?cursor=${first}`))).toEqual(second);
  });

  it("of another table is invalid_cursor, even of one with the same columns", async () => {
    const { adas, first } = await notes();
    expectRefusal(await adas.get(`/api/tasks?cursor=${first}`), 400, "invalid_cursor");
  });

  it("of another project is invalid_cursor", async () => {
    const other = await serve({ schema, config, secret: "another secret of 32 bytes or more, really" });
    await run(other, "INSERT INTO notes VALUES ('1', NULL, NULL), ('2', NULL, NULL)");
    const cursor = metaOf(await client(other).get("/api/notes?limit=1")).next_cursor;
    const { server } = await notes();
    expectRefusal(await client(server).get(`/api/notes?cursor=${cursor}`), 400, "invalid_cursor");
  });

  it("of an older schema is invalid_cursor", async () => {
    const { server, adas, first } = await notes();
    const changed = schema.replace("body: { type: text }", "body: { type: text }\n    more: { type: text }");
    const outcome = await applyChange(server.database, changed, { allowDestructive: false, now: 1 });
    expect(outcome).toMatchObject({ outcome: "applied" });
    expectRefusal(await adas.get(`/api/notes?cursor=${first}`), 400, "invalid_cursor");
    expect((await adas.get("/api/notes?sort=more")).status).toBe(200);
  });

  it("lives one hour", async () => {
    const { server } = await notes();
    const anonymous = client(server);
    const cursor = metaOf(await anonymous.get("/api/notes?limit=1")).next_cursor;
    server.clock.advance(3_599_999);
    expect((await anonymous.get(`/api/notes?cursor=${cursor}`)).status).toBe(200);
    server.clock.advance(1);
    expectRefusal(await anonymous.get(`/api/notes?cursor=${cursor}`), 400, "invalid_cursor");
  });

  it.each(["limit=1", "offset=0", "select=id", "sort=id", "where[owner_id]=ada", "filter[body][contains]=h", "foo=1"])(
    "beside %s is invalid_cursor",
    async (parameter) => {
      const { adas, first } = await notes();
      for (const query of [`cursor=${first}&${parameter}`, `${parameter}&cursor=${first}`])
        expectRefusal(await adas.get(`/api/notes?${query}`), 400, "invalid_cursor");
    },
  );

  it("given twice is 400", async () => {
    const { adas, first } = await notes();
    const answer = await adas.get(`/api/notes?cursor=${first}&cursor=${first}`);
    expect(answer.status).toBe(400);
  });
});
