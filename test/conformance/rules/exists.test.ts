import { describe, expect, it } from "vitest";
import { type Client, client, dataOf, expectAnswer, expectRefusal, metaOf, pagesOf } from "../../support/client.js";
import { countOf, member, run } from "../../support/people.js";
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
    muted: { type: boolean, not_null: true, default: false }
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, not_null: true }
    body: { type: text }
  indexes: [{ columns: [room_id] }]
`;

const memberOf = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)";
const config = `
usage.enabled = false
[rules.rooms]
read = "row.owner_id = auth.id or exists(members m where m.room_id = row.id and m.user_id = auth.id)"
delete = "not exists(messages x where x.room_id = row.id) and row.owner_id = auth.id"
[rules.members]
create = "exists(rooms r where r.id = new.room_id and r.owner_id = auth.id) and exists($users u where u.id = new.user_id)"
[rules.messages]
read = "${memberOf}"
create = "${memberOf.replace("row.", "new.").replace(")", " and m.muted = false)")}"
update = "${memberOf}"
delete = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id and exists(rooms r where r.id = m.room_id and r.owner_id = auth.id))"
`;

async function chat() {
  const server = await serve({ schema, config });
  await run(server, "INSERT INTO rooms VALUES (1, 'ada'), (2, 'bob'), (3, 'ada')");
  await run(server, "INSERT INTO members VALUES (1, 'ada', 0), (1, 'bob', 0), (2, 'bob', 0), (1, 'cy', 1)");
  await run(server, "INSERT INTO messages VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 1, 'c'), (4, 2, 'd'), (5, 3, 'e')");
  const who = async (id: string) => client(server, (await member(server, id)).bearer);
  return { server, ada: await who("ada"), bob: await who("bob"), cy: await who("cy") };
}

const ids = async (caller: Client, path: string) =>
  dataOf<{ id: number }[]>(await caller.get(path)).map(({ id }) => id);

describe("a rule that asks another table", () => {
  it("lists and counts what the membership admits", async () => {
    const { ada, bob, cy } = await chat();
    expect(await ids(ada, "/api/rooms")).toEqual([1, 3]);
    expect(await ids(bob, "/api/rooms")).toEqual([1, 2]);
    expect(await ids(ada, "/api/messages")).toEqual([1, 3]);
    expect(await ids(bob, "/api/messages?sort=-id")).toEqual([4, 3, 2, 1]);
    expect(await ids(cy, "/api/messages?where[room_id]=1")).toEqual([1, 3]);
    expect(metaOf(await cy.get("/api/messages?where[room_id]=2")).total).toBe(0);
    expect((await pagesOf(bob, "/api/messages?limit=3")).map(({ data }) => data.length)).toEqual([3, 1]);
  });

  it("guards reads and writes of single rows", async () => {
    const { server, ada, bob, cy } = await chat();
    expectAnswer(await ada.get("/api/messages/1"), 200, { data: { id: 1, room_id: 1, body: "a" } });
    expectRefusal(await ada.get("/api/messages/2"), 403, "forbidden");
    expectAnswer(await ada.post("/api/messages", { room_id: 1, body: "x" }), 201, {
      data: { id: 6, room_id: 1, body: "x" },
    });
    expectRefusal(await ada.post("/api/messages", { room_id: 2 }), 403, "forbidden");
    expectRefusal(await ada.post("/api/messages", { room_id: 99 }), 403, "forbidden");
    expectRefusal(await cy.post("/api/messages", { room_id: 1 }), 403, "forbidden");
    expectRefusal(await bob.delete("/api/messages/1"), 403, "forbidden");
    expectAnswer(await ada.delete("/api/messages/1"), 200, { data: { id: 1 } });
    expect(await countOf(server, "messages")).toBe(5);
  });

  it("holds for the result of a change: nothing moves to where the caller is no member", async () => {
    const { server, ada, bob } = await chat();
    expectRefusal(await ada.patch("/api/messages/1", { room_id: 2 }), 403, "forbidden");
    expectRefusal(await ada.patch("/api/messages/2", { room_id: 1 }), 403, "forbidden");
    expectAnswer(await bob.patch("/api/messages/1", { room_id: 2 }), 200, {
      data: { id: 1, room_id: 2, body: "a" },
    });
    expect(await countOf(server, "messages WHERE room_id = 2")).toBe(3);
  });

  it("offers ids of users, and nothing else of them", async () => {
    const { server, ada, bob } = await chat();
    expectAnswer(await ada.post("/api/members", { room_id: 3, user_id: "bob" }), 201, {
      data: { room_id: 3, user_id: "bob" },
    });
    expectRefusal(await ada.post("/api/members", { room_id: 3, user_id: "nobody" }), 403, "forbidden");
    expectRefusal(await bob.post("/api/members", { room_id: 3, user_id: "bob" }), 403, "forbidden");
    expect(await countOf(server, "members")).toBe(5);
  });

  it("that must not find anything guards a write", async () => {
    const { server, ada } = await chat();
    expectRefusal(await ada.delete("/api/rooms/1"), 403, "forbidden");
    await run(server, "DELETE FROM messages WHERE room_id = 3");
    expectAnswer(await ada.delete("/api/rooms/3"), 200, { data: { id: 3 } });
    expect(await countOf(server, "rooms")).toBe(2);
  });

  it("is asked anew on every page of a cursor", async () => {
    const { server, bob } = await chat();
    const first = metaOf(await bob.get("/api/messages?limit=2"));
    expect(first.total).toBe(4);
    await run(server, "DELETE FROM members WHERE room_id = 2 AND user_id = 'bob'");
    const second = await bob.get(`/api/messages?cursor=${first.next_cursor}`);
    expect(dataOf(second)).toEqual([{ id: 3, room_id: 1, body: "c" }]);
    await run(server, "DELETE FROM members WHERE user_id = 'bob'");
    expect(dataOf(await bob.get(`/api/messages?cursor=${first.next_cursor}`))).toEqual([]);
  });
});

/** The parent of a row is another row of the same table. */
const tree = `
nodes:
  columns:
    id: { type: integer, primary_key: true }
    parent: { type: integer }
    owner: { type: text, not_null: true }
`;

async function ownNodes(update: string, settings = "") {
  const config = `${settings}\n[rules.nodes]\nread = "public"\nupdate = "${update}"`;
  const server = await serve({ schema: tree, config });
  await run(server, "INSERT INTO nodes VALUES (1, NULL, 'ada'), (2, NULL, 'bob'), (3, 1, 'ada'), (4, 2, 'ada')");
  return { server, ada: client(server, (await member(server, "ada")).bearer) };
}

describe("an update rule that looks into its own table", () => {
  it("finds the rows as they were before the change, both times", async () => {
    const { server, ada } = await ownNodes(
      "exists(nodes n where n.id = row.parent and n.owner = auth.id)",
      "usage.enabled = false",
    );
    expectAnswer(await ada.patch("/api/nodes/3", { owner: "cy" }), 200, {
      data: { id: 3, parent: 1, owner: "cy" },
    });
    // Neither from under somebody else's node, nor to there.
    expectRefusal(await ada.patch("/api/nodes/4", { parent: 1 }), 403, "forbidden");
    expectRefusal(await ada.patch("/api/nodes/3", { parent: 2 }), 403, "forbidden");
    expect(await countOf(server, "nodes WHERE parent = 1")).toBe(1);
    // Its own parent: before the change the node is Cy's.
    expectRefusal(await ada.patch("/api/nodes/3", { parent: 3, owner: "ada" }), 403, "forbidden");
    expectAnswer(await ada.patch("/api/nodes/3", { parent: 1, owner: "ada" }), 200, {
      data: { id: 3, parent: 1, owner: "ada" },
    });
    expectAnswer(await ada.patch("/api/nodes/3", { parent: 3 }), 200, {
      data: { id: 3, parent: 3, owner: "ada" },
    });
  });

  it("counts a row that it looks up once, and twice where the change leads to another", async () => {
    const { ada } = await ownNodes(
      "exists(nodes n where n.id = row.parent and n.owner = auth.id) and (row.owner = auth.id or new.owner = 'cy')",
    );
    const read = async (path: string, patch: object) => metaOf(await ada.patch(path, patch)).rows_read;
    expect(await read("/api/nodes/3", { owner: "ada" })).toBe(2);
    expect(await read("/api/nodes/3", { parent: 1 })).toBe(3);
    expect(await read("/api/nodes/3", { parent: 1, owner: "cy" })).toBe(3);
  });
});
