import { describe, expect, it } from "vitest";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf, member, rowsOf } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

/** docs/reference/http.md: the bodies of the eight endpoints. */
const project = {
  schema: `
notes:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text, not_null: true }
    title: { type: text, not_null: true }
    stars: { type: integer, not_null: true, default: 3 }
diaries:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text }
    entry: { type: text }
members:
  primary_key: [room, person]
  columns:
    room: { type: integer }
    person: { type: text }
    role: { type: text, not_null: true, default: member }
`,
  config: `
usage.enabled = false
[rules.notes]
read = "row.owner_id = auth.id"
create = "authenticated"
update = "authenticated"
delete = "row.owner_id = auth.id"
[rules.diaries]
create = "authenticated"
update = "authenticated"
delete = "authenticated"
[rules.members]
read = "authenticated"
create = "authenticated"
update = "authenticated"
delete = "authenticated"
`,
};

describe("single keys", () => {
  it("creates with 201 and the row, gets, patches and deletes with 200", async () => {
    const server = await serve(project);
    const ada = client(server, (await member(server, "ada")).bearer);
    const created = await ada.post("/api/notes", { owner_id: "ada", title: "one" });
    expectAnswer(created, 201, { data: { id: 1, owner_id: "ada", title: "one", stars: 3 } });
    expectAnswer(await ada.get("/api/notes/1"), 200, {
      data: { id: 1, owner_id: "ada", title: "one", stars: 3 },
    });
    expectAnswer(await ada.patch("/api/notes/1", { title: "two" }), 200, {
      data: { id: 1, owner_id: "ada", title: "two", stars: 3 },
    });
    expectAnswer(await ada.get("/api/notes"), 200, {
      data: [{ id: 1, owner_id: "ada", title: "two", stars: 3 }],
      meta: { limit: 50, offset: 0, total: 1 },
    });
    expectAnswer(await ada.delete("/api/notes/1"), 200, { data: { id: 1 } });
    expectRefusal(await ada.get("/api/notes/1"), 404, "not_found");
    expectAnswer(await ada.get("/api/notes"), 200, { data: [], meta: { limit: 50, offset: 0, total: 0 } });
  });

  it("answers with the key alone where the writer may not read what they wrote", async () => {
    const server = await serve(project);
    const ada = client(server, (await member(server, "ada")).bearer);
    expectAnswer(await ada.post("/api/notes", { owner_id: "bob", title: "his" }), 201, { data: { id: 1 } });
    expectAnswer(await ada.patch("/api/notes/1", { title: "still his" }), 200, { data: { id: 1 } });
    expectAnswer(await ada.post("/api/diaries", { owner_id: "ada", entry: "unread" }), 201, {
      data: { id: 1 },
    });
    expectAnswer(await ada.patch("/api/diaries/1", { entry: "unread still" }), 200, { data: { id: 1 } });
    expectAnswer(await ada.delete("/api/diaries/1"), 200, { data: { id: 1 } });
    expectRefusal(await ada.get("/api/diaries/1"), 403, "forbidden");
  });

  it("answers a PATCH by what may be read after it", async () => {
    const server = await serve(project);
    const ada = client(server, (await member(server, "ada")).bearer);
    await ada.post("/api/notes", { owner_id: "ada", title: "mine" });
    expectAnswer(await ada.patch("/api/notes/1", { owner_id: "bob" }), 200, { data: { id: 1 } });
    expectAnswer(await ada.patch("/api/notes/1", { owner_id: "ada" }), 200, {
      data: { id: 1, owner_id: "ada", title: "mine", stars: 3 },
    });
  });

  it("gives a write-only key the primary key and the columns that it sent", async () => {
    const server = await serve(project);
    const key = client(server, await apiKey(server, "resource:notes:write"));
    expectAnswer(await key.post("/api/notes", { owner_id: "ada", title: "one" }), 201, {
      data: { id: 1, owner_id: "ada", title: "one" },
    });
    expectAnswer(await key.patch("/api/notes/1", { stars: 5 }), 200, { data: { id: 1, stars: 5 } });
    expectAnswer(await key.delete("/api/notes/1"), 200, { data: { id: 1 } });
  });

  it("answers 404 for a row that is not there, and writes none", async () => {
    const server = await serve(project);
    const ada = client(server, (await member(server, "ada")).bearer);
    expectRefusal(await ada.get("/api/notes/7"), 404, "not_found");
    expectRefusal(await ada.patch("/api/notes/7", { title: "x" }), 404, "not_found");
    expectRefusal(await ada.delete("/api/notes/7"), 404, "not_found");
    expect(await countOf(server, "notes")).toBe(0);
  });

  it("creates a row of defaults alone from an empty object", async () => {
    const server = await serve(project);
    const key = client(server, await apiKey(server, "project:backend"));
    expectAnswer(await key.post("/api/diaries", {}), 201, { data: { id: 1, owner_id: null, entry: null } });
    expectRefusal(await key.post("/api/notes", {}), 400, "bad_request", ["owner_id"]);
    expect(await countOf(server, "notes")).toBe(0);
  });

  it("takes the primary key from the body where it is given", async () => {
    const server = await serve(project);
    const key = client(server, await apiKey(server, "project:backend"));
    expectAnswer(await key.post("/api/diaries", { id: -7 }), 201, {
      data: { id: -7, owner_id: null, entry: null },
    });
    expectAnswer(await key.get("/api/diaries/-7"), 200, { data: { id: -7, owner_id: null, entry: null } });
    expectRefusal(await key.post("/api/diaries", { id: -7 }), 409, "conflict", ["id"]);
  });
});

describe("composite keys", () => {
  const row = { room: 1, person: "ada&b=c d/é", role: "member" };
  const key = `room=1&person=${encodeURIComponent("ada&b=c d/é")}`;
  const at = `/api/members/_svc/key?${key}`;

  it("creates, gets, patches and deletes by every field of the key", async () => {
    const server = await serve(project);
    const backend = client(server, await apiKey(server, "project:backend"));
    expectAnswer(await backend.post("/api/members", { room: 1, person: row.person }), 201, { data: row });
    expectAnswer(await backend.get(at), 200, { data: row });
    expectAnswer(await backend.get(`/api/members/_svc/key?${key.split("&").reverse().join("&")}`), 200, {
      data: row,
    });
    expectAnswer(await backend.patch(at, { role: "owner" }), 200, { data: { ...row, role: "owner" } });
    expectAnswer(await backend.delete(at), 200, { data: { room: 1, person: row.person } });
    expectRefusal(await backend.get(at), 404, "not_found");
  });

  it.each([
    ["no field", ""],
    ["one field missing", "room=1"],
    ["the other field missing", "person=ada"],
    ["a field twice", "room=1&room=1&person=ada"],
    ["a field twice, once in other letters", "room=1&%72oom=2&person=ada"],
    ["an extra column", "room=1&person=ada&role=member"],
    ["an extra parameter", "room=1&person=ada&x=1"],
    ["a list parameter", "room=1&person=ada&select=room"],
    ["a field in other case", "Room=1&person=ada"],
    ["a value of another type", "room=1.0&person=ada"],
    ["an empty integer", "room=&person=ada"],
    ["a bad percent sign", "room=1&person=%zz"],
  ])("refuses a key with %s, for every method", async (_, query) => {
    const server = await serve(project);
    const backend = client(server, await apiKey(server, "project:backend"));
    await backend.post("/api/members", { room: 1, person: "ada" });
    const path = `/api/members/_svc/key?${query}`;
    expectRefusal(await backend.get(path), 400, "bad_request");
    expectRefusal(await backend.patch(path, { role: "owner" }), 400, "bad_request");
    expectRefusal(await backend.delete(path), 400, "bad_request");
    expect(await rowsOf(server, "SELECT * FROM members")).toEqual([[1, "ada", "member"]]);
  });

  it("does not let a column of the key be changed", async () => {
    const server = await serve(project);
    const backend = client(server, await apiKey(server, "project:backend"));
    await backend.post("/api/members", { room: 1, person: "ada" });
    for (const body of [{ room: 2 }, { person: "bob" }, { person: "ada", role: "owner" }]) {
      const answer = await backend.patch("/api/members/_svc/key?room=1&person=ada", body);
      expectRefusal(answer, 400, "bad_request", [Object.keys(body)[0]!]);
    }
    expect(await rowsOf(server, "SELECT * FROM members")).toEqual([[1, "ada", "member"]]);
  });

  it("does not take a composite key as one segment", async () => {
    const server = await serve(project);
    const backend = client(server, await apiKey(server, "project:backend"));
    await backend.post("/api/members", { room: 1, person: "ada" });
    for (const id of ["1", "ada", "1,ada", "1%2Fada"]) {
      expectRefusal(await backend.get(`/api/members/${id}`), 400, "bad_request");
      expectRefusal(await backend.delete(`/api/members/${id}`), 400, "bad_request");
    }
    expect(await countOf(server, "members")).toBe(1);
  });

  it("takes a single key in the composite form too", async () => {
    const server = await serve(project);
    const backend = client(server, await apiKey(server, "project:backend"));
    await backend.post("/api/diaries", { entry: "x" });
    expectAnswer(await backend.get("/api/diaries/_svc/key?id=1"), 200, {
      data: { id: 1, owner_id: null, entry: "x" },
    });
  });
});
