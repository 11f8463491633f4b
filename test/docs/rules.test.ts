import { describe, expect, it } from "vitest";
import { client, dataOf } from "../support/client.js";
import { member, run } from "../support/people.js";
import { serve } from "../support/server.js";
import { projectUnder } from "./pages.js";

const project = projectUnder("docs/reference/rules.md", "The language of rules");
const { schema } = project;

async function chat() {
  const server = await serve(project);
  const [ada, bob] = [await member(server, "ada"), await member(server, "bob")];
  await run(server, "INSERT INTO rooms VALUES (1, 'ada', 'lobby'), (2, 'bob', 'cellar')");
  await run(server, "INSERT INTO members VALUES (1, 'ada'), (1, 'bob'), (2, 'bob')");
  await run(
    server,
    "INSERT INTO messages (id, room_id, author_id, body) VALUES (1, 1, 'ada', 'hi'), (2, 2, 'bob', 'ho')",
  );
  return { ada: client(server, ada.bearer), bob: client(server, bob.bearer), anyone: client(server) };
}

describe("the rules of the page's example", () => {
  it("let an author change a message, hand it to nobody and keep it in its room", async () => {
    const { ada, bob } = await chat();
    expect((await ada.patch("/api/messages/1", { body: "hello" })).status).toBe(200);
    expect((await ada.patch("/api/messages/1", { author_id: "bob" })).status).toBe(403);
    expect((await bob.patch("/api/messages/2", { room_id: 1 })).status).toBe(403);
  });

  it("tell 401, 403 and 404 apart", async () => {
    const { ada, anyone } = await chat();
    expect((await anyone.get("/api/messages")).status).toBe(401);
    expect((await ada.get("/api/messages/2")).status).toBe(403);
    expect((await ada.get("/api/messages/3")).status).toBe(404);
    expect((await ada.patch("/api/members/_svc/key?room_id=1&user_id=ada", { user_id: "x" })).status).toBe(403);
  });

  it("hide a column, and let nobody number rows", async () => {
    const { ada } = await chat();
    expect((await ada.get("/api/messages/1")).text).not.toContain("flags");
    expect((await ada.get("/api/messages?sort=flags")).status).toBe(400);
    expect((await ada.patch("/api/messages/1", { flags: 1 })).status).toBe(403);
    expect((await ada.post("/api/rooms", { id: 7, owner_id: "ada", name: "x" })).status).toBe(403);
  });

  it("show whoever may not read what they wrote its key alone", async () => {
    const server = await serve({ schema, config: `[rules.rooms]\ncreate = "new.owner_id = auth.id"` });
    const ada = client(server, (await member(server, "ada")).bearer);
    expect(dataOf(await ada.post("/api/rooms", { owner_id: "ada", name: "lobby" }))).toEqual({ id: 1 });
  });
});

/** The page's table of truths: a rule that is not TRUE for nobody in particular is 401. */
const truths = [
  ["row.author_id = auth.id", 401],
  ["row.author_id != auth.id", 401],
  ["not row.author_id = auth.id", 401],
  ["auth.id is null", 200],
  ["auth.id in ('a', null)", 401],
  ["exists(members m where m.user_id = auth.id)", 401],
  ["not exists(members m where m.user_id = auth.id)", 200],
] as const;

it.each(truths)("%s, asked by nobody, is %i", async (rule, status) => {
  const server = await serve({
    schema,
    config: `[rules.messages]\nread = "${rule}"`,
  });
  expect((await client(server).get("/api/messages")).status).toBe(status);
});

const updates = [
  ["row.author_id = auth.id", { author_id: "bob" }, 403],
  ["old.author_id = auth.id", { author_id: "bob" }, 200],
  ["old.deleted_at is null", { deleted_at: 1 }, 200],
  ["row.deleted_at is null", { deleted_at: 1 }, 403],
] as const;

it.each(updates)("under %s a change to %j is %i", async (rule, change, status) => {
  const server = await serve({
    schema,
    config: `[rules.messages]\nread = "public"\nupdate = "${rule}"`,
  });
  const ada = client(server, (await member(server, "ada")).bearer);
  await run(server, "INSERT INTO rooms VALUES (1, 'ada', 'lobby')");
  await run(server, "INSERT INTO messages (id, room_id, author_id, body) VALUES (1, 1, 'ada', 'hi')");
  expect((await ada.patch("/api/messages/1", change)).status).toBe(status);
});
