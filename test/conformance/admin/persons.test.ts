import { describe, expect, it } from "vitest";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { member, rowsOf } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const by = (managed: string, table: string, column: string) =>
  `{ type: text, managed: ${managed}, references: { table: ${table}, column: ${column} } }`;

const schema = `
profiles:
  columns:
    id:   { type: text, primary_key: true, references: { table: $users } }
    name: { type: text }
staff:
  columns:
    id:    { type: integer, primary_key: true }
    badge: { type: text, not_null: true, unique: true }
rooms:
  columns:
    id: { type: integer, primary_key: true }
notes:
  history: 30d
  columns:
    id:      { type: integer, primary_key: true }
    slug:    { type: text, unique: true }
    room:    { type: integer, references: { table: rooms } }
    title:   { type: text }
    author:  ${by("created_by", "profiles", "id")}
    account: { type: text, managed: created_by, references: { table: $users } }
    editor:  ${by("updated_by", "staff", "badge")}
`;
const config = `
[rules.notes]
read = "public"
create = "authenticated"
update = "authenticated"
`;

const notes = "/admin/api/data/notes";

async function served() {
  const server = await serve({ schema, config });
  const signedIn = async (id: string, role: "user" | "admin" = "user") =>
    client(server, (await member(server, id, role)).bearer);
  const [root, known, ada] = [await signedIn("root", "admin"), await signedIn("known", "admin"), await signedIn("ada")];
  await root.post("/admin/api/data/profiles", { id: "known", name: "Known" });
  await root.post("/admin/api/data/staff", { badge: "known" });
  return { server, root, known, ada };
}

describe("a column with the id of who writes, which refers to a table of the project", () => {
  it("is NULL where an administrator without a row in that table writes past the rules", async () => {
    const { server, root, known } = await served();
    const persons = "SELECT title, author, account, editor FROM notes ORDER BY id";
    const made = await root.post(notes, { title: "one" });
    expect(made.status).toBe(201);
    expect(dataOf(made)).toMatchObject({ title: "one", author: null, account: "root", editor: null });
    expect((await known.post(notes, { title: "two" })).status).toBe(201);
    expect(await rowsOf(server, persons)).toEqual([
      ["one", null, "root", null],
      ["two", "known", "known", "known"],
    ]);
    expect((await known.patch(`${notes}/1`, { title: "1" })).status).toBe(200);
    expect(dataOf(await root.patch(`${notes}/2`, { title: "2" }))).toMatchObject({ author: "known", editor: null });
    expect(await rowsOf(server, persons)).toEqual([
      ["1", null, "root", "known"],
      ["2", "known", "known", null],
    ]);
  });

  it("also in bulk, upserts, batches and restored versions", async () => {
    const { server, root } = await served();
    const bulk = await root.post(notes, [
      { slug: "a", title: "a" },
      { slug: "b", title: "b" },
    ]);
    expect(bulk.status).toBe(201);
    const upsert = `${notes}?on_conflict=slug&on_duplicate=`;
    for (const [how, slug] of [
      ["update", "a"],
      ["update", "c"],
      ["ignore", "d"],
    ])
      expect((await root.post(upsert + how, { slug, title: `${slug} again` })).status).toBeLessThan(300);
    const batch = {
      operations: [
        { op: "create", table: "notes", values: { slug: "e" } },
        { op: "update", table: "notes", key: { id: 1 }, set: { title: "batched" } },
      ],
    };
    expect((await root.post("/admin/api/data/_svc/batch", batch)).status).toBe(200);
    const history = dataOf<{ seq: string }[]>(await root.get(`${notes}/_svc/history?where[id]=1`));
    const restored = await root.post(`${notes}/_svc/restore`, { key: { id: 1 }, seq: history.at(-1)!.seq });
    expect(restored.status).toBe(200);
    expect(await rowsOf(server, "SELECT slug, title, author, account, editor FROM notes ORDER BY id")).toEqual([
      ["a", "a", null, "root", null],
      ["b", "b", null, "root", null],
      ["c", "c again", null, "root", null],
      ["d", "d again", null, "root", null],
      ["e", null, null, "root", null],
    ]);
  });

  it("names another broken reference alone", async () => {
    const { root } = await served();
    const message = expectRefusal(await root.post(notes, { room: 7 }), 409, "conflict");
    expect(message).toMatch(/one of room, account$/);
  });

  it("is NULL for a key, and 409 under /api for a user without a row, with what to do", async () => {
    const { server, root, ada } = await served();
    const key = client(server, await apiKey(server, "project:backend"));
    expect(dataOf(await key.post(notes, { title: "key" }))).toMatchObject({ author: null, account: null });
    await root.post("/admin/api/data/staff", { badge: "ada" });
    const refused = await ada.post("/api/notes", { title: "hers" });
    expect(expectRefusal(refused, 409, "conflict")).toMatch(
      /one of author, account, editor; author is your id, and has to be the id of a row of profiles; editor is your id, and/,
    );
    await root.post("/admin/api/data/profiles", { id: "ada" });
    expect((await ada.post("/api/notes", { title: "hers" })).status).toBe(201);
  });
});
