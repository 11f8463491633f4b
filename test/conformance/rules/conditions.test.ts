import { describe, expect, it } from "vitest";
import { type Client, client } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { serve } from "../../support/server.js";

const schema = `
rooms:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text, not_null: true }
members:
  primary_key: [room_id, user_id]
  columns:
    room_id: { type: integer, not_null: true }
    user_id: { type: text, not_null: true }
    level: { type: integer, not_null: true, default: 1 }
  indexes: [{ columns: [user_id] }]
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, not_null: true }
    author_id: { type: text, not_null: true }
    body: { type: text }
    note: { type: text }
  indexes: [{ columns: [room_id] }]
`;

const named = `
usage.enabled = false
[conditions]
"admin()" = "auth.role = 'admin'"
"me(id)" = "id = auth.id"
"member(room, level)" = "exists(members m where m.room_id = room and me(m.user_id) and m.level >= level)"
"owns(room)" = "exists(rooms r where r.id = room and me(r.owner_id))"
"runs(room)" = "owns(room) or member(room, 2)"
[rules.rooms]
read = "me(row.owner_id) or member(row.id, 1)"
create = "me(new.owner_id)"
[rules.members]
read = "me(row.user_id) or exists(members m where m.room_id = row.room_id and m.user_id = auth.id and runs(m.room_id))"
create = "owns(new.room_id)"
[rules.messages]
read = "admin() or member(row.room_id, 1)"
create = "me(new.author_id) and member(new.room_id, 1)"
update = "me(row.author_id) and member(row.room_id, 1) and not (old.body = 'fixed' and not runs(old.room_id))"
delete = "me(row.author_id) or runs(row.room_id)"
[rules.messages.columns.note]
read = "admin() or me('bob')"
write = "admin()"
`;

const writtenOut = `
usage.enabled = false
[rules.rooms]
read = "row.owner_id = auth.id or exists(members m where m.room_id = row.id and m.user_id = auth.id and m.level >= 1)"
create = "new.owner_id = auth.id"
[rules.members]
read = """
row.user_id = auth.id or exists(members m where m.room_id = row.room_id and m.user_id = auth.id and (
  exists(rooms r where r.id = m.room_id and r.owner_id = auth.id)
  or exists(members n where n.room_id = m.room_id and n.user_id = auth.id and n.level >= 2)))"""
create = "exists(rooms r where r.id = new.room_id and r.owner_id = auth.id)"
[rules.messages]
read = "auth.role = 'admin' or exists(members m where m.room_id = row.room_id and m.user_id = auth.id and m.level >= 1)"
create = """
new.author_id = auth.id
and exists(members m where m.room_id = new.room_id and m.user_id = auth.id and m.level >= 1)"""
update = """
row.author_id = auth.id
and exists(members m where m.room_id = row.room_id and m.user_id = auth.id and m.level >= 1)
and not (old.body = 'fixed' and not (
  exists(rooms r where r.id = old.room_id and r.owner_id = auth.id)
  or exists(members m where m.room_id = old.room_id and m.user_id = auth.id and m.level >= 2)))"""
delete = """
row.author_id = auth.id
or exists(rooms r where r.id = row.room_id and r.owner_id = auth.id)
or exists(members m where m.room_id = row.room_id and m.user_id = auth.id and m.level >= 2)"""
[rules.messages.columns.note]
read = "auth.role = 'admin' or 'bob' = auth.id"
write = "auth.role = 'admin'"
`;

async function chat(config: string) {
  const server = await serve({ schema, config });
  await run(server, "INSERT INTO rooms VALUES (1, 'ada'), (2, 'bob'), (3, 'cy')");
  await run(server, "INSERT INTO members VALUES (1, 'ada', 1), (1, 'bob', 2), (1, 'cy', 1), (2, 'bob', 1)");
  await run(
    server,
    "INSERT INTO messages VALUES (1, 1, 'ada', 'a', 'x'), (2, 1, 'cy', 'fixed', 'y'), (3, 2, 'bob', 'c', 'z'), (4, 1, 'bob', 'fixed', 'w'), (5, 3, 'cy', 'e', 'v')",
  );
  const who = async (id: string, role?: "admin") => client(server, (await member(server, id, role)).bearer);
  return {
    server,
    ada: await who("ada"),
    bob: await who("bob"),
    cy: await who("cy"),
    root: await who("root", "admin"),
    anyone: client(server),
  };
}

type Chat = Awaited<ReturnType<typeof chat>>;
type Who = Exclude<keyof Chat, "server">;

/** What is asked, by whom, and the status of the answer, or the ids of the rows of a list. */
const asked: readonly (readonly [Who, (caller: Client) => ReturnType<Client["get"]>, number | unknown[]])[] = [
  ["ada", (caller) => caller.get("/api/rooms"), [1]],
  ["bob", (caller) => caller.get("/api/rooms"), [1, 2]],
  ["ada", (caller) => caller.get("/api/messages"), [1, 2, 4]],
  ["bob", (caller) => caller.get("/api/messages?sort=-id"), [4, 3, 2, 1]],
  ["cy", (caller) => caller.get("/api/messages?where[room_id]=3"), []],
  ["root", (caller) => caller.get("/api/messages"), [1, 2, 3, 4, 5]],
  ["anyone", (caller) => caller.get("/api/messages"), 401],
  ["ada", (caller) => caller.get("/api/messages/3"), 403],
  ["ada", (caller) => caller.get("/api/messages?where[note]=x"), 400],
  ["bob", (caller) => caller.get("/api/messages?where[note]=x"), [1]],
  ["ada", (caller) => caller.get("/api/members?sort=user_id"), ["ada", "bob", "cy"]],
  ["bob", (caller) => caller.get("/api/members?where[room_id]=1"), ["ada", "bob", "cy"]],
  ["cy", (caller) => caller.get("/api/members"), ["cy"]],
  ["ada", (caller) => caller.post("/api/rooms", { owner_id: "ada" }), 201],
  ["ada", (caller) => caller.post("/api/rooms", { owner_id: "bob" }), 403],
  ["ada", (caller) => caller.post("/api/members", { room_id: 2, user_id: "ada" }), 403],
  ["ada", (caller) => caller.post("/api/messages", { room_id: 1, author_id: "ada" }), 201],
  ["ada", (caller) => caller.post("/api/messages", { room_id: 2, author_id: "ada" }), 403],
  ["bob", (caller) => caller.post("/api/messages", { room_id: 1, author_id: "bob", note: "n" }), 403],
  ["ada", (caller) => caller.patch("/api/messages/1", { body: "b" }), 200],
  ["ada", (caller) => caller.patch("/api/messages/1", { room_id: 2 }), 403],
  ["bob", (caller) => caller.patch("/api/messages/1", { body: "b" }), 403],
  ["cy", (caller) => caller.patch("/api/messages/2", { body: "b" }), 403],
  ["bob", (caller) => caller.patch("/api/messages/4", { body: "b" }), 200],
  ["cy", (caller) => caller.patch("/api/messages/5", { body: "b" }), 403],
  ["bob", (caller) => caller.delete("/api/messages/2"), 200],
  ["cy", (caller) => caller.delete("/api/messages/1"), 403],
  ["cy", (caller) => caller.delete("/api/messages/5"), 200],
  ["ada", (caller) => caller.delete("/api/messages/4"), 200],
];

interface Row {
  readonly id?: number;
  readonly user_id?: string;
}

describe.each([
  ["with named conditions", named],
  ["with the same rules written out", writtenOut],
])("rules %s", (_, config) => {
  it("answer everybody", async () => {
    const { server, ...people } = await chat(config);
    const answers = [];
    for (const [who, ask] of asked) {
      const { status, body } = await ask(people[who]);
      const { data } = body as { data?: Row[] | Row };
      answers.push(Array.isArray(data) ? data.map(({ id, user_id }) => id ?? user_id) : status);
    }
    expect(answers).toEqual(asked.map(([, , answer]) => answer));
    expect(await rowsOf(server, "SELECT id, room_id, body FROM messages ORDER BY id")).toEqual([
      [1, 1, "b"],
      [3, 2, "c"],
      [6, 1, null],
    ]);
  });
});

it("an alias of a condition does not hide that of the exists around its use", async () => {
  const server = await serve({
    schema,
    config: `
[conditions]
"joined(room)" = "exists(members m where m.room_id = room and m.user_id = auth.id)"
[rules.rooms]
read = "exists(members m where m.user_id = row.owner_id and joined(m.room_id))"
`,
  });
  await run(server, "INSERT INTO rooms VALUES (1, 'ada'), (2, 'bob'), (3, 'cy')");
  await run(
    server,
    "INSERT INTO members VALUES (1, 'ada', 1), (2, 'bob', 1), (2, 'dan', 1), (3, 'cy', 1), (4, 'bob', 1)",
  );
  const dan = client(server, (await member(server, "dan")).bearer);
  expect((await dan.get("/api/rooms")).body).toMatchObject({ data: [{ id: 2, owner_id: "bob" }] });
});
