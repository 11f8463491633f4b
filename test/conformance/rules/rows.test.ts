import { describe, expect, it } from "vitest";
import { type Client, client, dataOf, expectAnswer, expectRefusal, metaOf } from "../../support/client.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { serve } from "../../support/server.js";

const project = {
  schema: `
notes:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text, default: nobody }
    state: { type: text, not_null: true, default: draft }
    body: { type: text }
`,
};

async function notes(rules: string) {
  const server = await serve({
    ...project,
    config: `usage.enabled = false\n[rules.notes]\n${rules}\ncolumns.id.write = "public"`,
  });
  await run(
    server,
    "INSERT INTO notes VALUES (1, 'ada', 'draft', 'a'), (2, 'bob', 'draft', 'b'), (3, NULL, 'draft', 'c')",
  );
  return {
    server,
    ada: client(server, (await member(server, "ada")).bearer),
    bob: client(server, (await member(server, "bob")).bearer),
    stored: () => rowsOf(server, "SELECT id, owner_id, state, body FROM notes ORDER BY id"),
  };
}

const before = [
  [1, "ada", "draft", "a"],
  [2, "bob", "draft", "b"],
  [3, null, "draft", "c"],
];

const ids = async (caller: Client) => dataOf<{ id: number }[]>(await caller.get("/api/notes")).map(({ id }) => id);

describe("an owner's rows", () => {
  const owned = `
read = "row.owner_id = auth.id"
create = "new.owner_id = auth.id"
update = "row.owner_id = auth.id"
delete = "row.owner_id = auth.id"
`;

  it("are all that is listed, counted and got", async () => {
    const { ada, bob } = await notes(owned);
    const listed = await ada.get("/api/notes");
    expect(dataOf(listed)).toEqual([{ id: 1, owner_id: "ada", state: "draft", body: "a" }]);
    expect(metaOf(listed)).toEqual({ limit: 50, offset: 0, total: 1 });
    expect(await ids(bob)).toEqual([2]);
    expectRefusal(await ada.get("/api/notes/2"), 403, "forbidden");
    expectRefusal(await ada.get("/api/notes/3"), 403, "forbidden");
    expect(metaOf(await ada.get("/api/notes?where[owner_id]=bob")).total).toBe(0);
    expect(metaOf(await ada.get("/api/notes?filter[body][contains]=b")).total).toBe(0);
  });

  it("cannot be handed to another owner: 403, unchanged", async () => {
    const { ada, stored } = await notes(owned);
    for (const owner of ["bob", null, "", "ADA", "ada "]) {
      expectRefusal(await ada.post("/api/notes", { owner_id: owner }), 403, "forbidden");
      expectRefusal(await ada.patch("/api/notes/1", { owner_id: owner }), 403, "forbidden");
      expectRefusal(await ada.patch("/api/notes/1", { owner_id: owner, body: "x" }), 403, "forbidden");
    }
    expectRefusal(await ada.post("/api/notes", {}), 403, "forbidden");
    expectRefusal(await ada.post("/api/notes", { id: 1, owner_id: "bob" }), 403, "forbidden");
    expect(await stored()).toEqual(before);
    expectAnswer(await ada.patch("/api/notes/1", { owner_id: "ada", body: "x" }), 200, {
      data: { id: 1, owner_id: "ada", state: "draft", body: "x" },
    });
  });

  it("are beyond the reach of others", async () => {
    const { ada, stored } = await notes(owned);
    for (const id of [2, 3]) {
      expectRefusal(await ada.patch(`/api/notes/${id}`, { body: "x" }), 403, "forbidden");
      expectRefusal(await ada.patch(`/api/notes/${id}`, { owner_id: "ada" }), 403, "forbidden");
      expectRefusal(await ada.delete(`/api/notes/${id}`), 403, "forbidden");
    }
    expectRefusal(await ada.delete("/api/notes/4"), 404, "not_found");
    expect(await stored()).toEqual(before);
  });
});

describe("an update rule", () => {
  it("that names `row` holds for the result too", async () => {
    const { ada, bob, stored } = await notes(`update = "row.state = 'draft' and row.owner_id = auth.id"`);
    expectRefusal(await ada.patch("/api/notes/1", { state: "published" }), 403, "forbidden");
    expectRefusal(await bob.patch("/api/notes/2", { state: "published", body: "x" }), 403, "forbidden");
    expect(await stored()).toEqual(before);
    expectAnswer(await ada.patch("/api/notes/1", { state: "draft", body: "x" }), 200, { data: { id: 1 } });
  });

  it("that names `new` or `old` as well holds for the result all the same", async () => {
    for (const more of ["new.state = row.state", "new.state = old.state", "new.body is not null"]) {
      const { ada, stored } = await notes(`update = "row.owner_id = auth.id and ${more}"`);
      for (const owner of ["bob", null])
        expectRefusal(await ada.patch("/api/notes/1", { owner_id: owner }), 403, "forbidden");
      expectRefusal(await ada.patch("/api/notes/2", { owner_id: "ada" }), 403, "forbidden");
      expect(await stored()).toEqual(before);
      expectAnswer(await ada.patch("/api/notes/1", { owner_id: "ada", body: "x" }), 200, { data: { id: 1 } });
    }
  });

  it("says with `old` what has to hold before alone, and with `new` what after", async () => {
    const { server, ada, stored } = await notes(
      `update = "old.owner_id = auth.id and new.state in ('draft', 'published')"`,
    );
    expectRefusal(await ada.patch("/api/notes/1", { state: "gone" }), 403, "forbidden");
    expectRefusal(await ada.patch("/api/notes/2", { owner_id: "ada" }), 403, "forbidden");
    expect(await stored()).toEqual(before);
    expectAnswer(await ada.patch("/api/notes/1", { state: "published" }), 200, { data: { id: 1 } });
    expectAnswer(await ada.patch("/api/notes/1", { owner_id: "bob" }), 200, { data: { id: 1 } });
    expectRefusal(await ada.patch("/api/notes/1", { body: "x" }), 403, "forbidden");
    expect(await rowsOf(server, "SELECT owner_id, state, body FROM notes WHERE id = 1")).toEqual([
      ["bob", "published", "a"],
    ]);
  });

  it("compares before and after", async () => {
    const { ada, stored } = await notes(
      `update = "new.owner_id = row.owner_id and (row.state != 'locked' or new.state = 'locked')"`,
    );
    expectAnswer(await ada.patch("/api/notes/2", { state: "locked" }), 200, { data: { id: 2 } });
    expectRefusal(await ada.patch("/api/notes/2", { state: "draft" }), 403, "forbidden");
    expectRefusal(await ada.patch("/api/notes/1", { owner_id: "bob" }), 403, "forbidden");
    expect(await stored()).toEqual([before[0], [2, "bob", "locked", "b"], before[2]]);
    // NULL = NULL is not TRUE.
    expectRefusal(await ada.patch("/api/notes/3", { body: "x" }), 403, "forbidden");
  });

  it("holds when many race to break it", async () => {
    const { server, ada } = await notes(`update = "old.state = 'draft' and new.state = auth.id"`);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ada.patch("/api/notes/1", { state: "ada" })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(19);
    expect(await rowsOf(server, "SELECT state FROM notes WHERE id = 1")).toEqual([["ada"]]);
  });
});

describe("a create rule", () => {
  it("sees the defaults of what is left out", async () => {
    const { server, ada } = await notes(`create = "new.owner_id = 'nobody' and new.state = 'draft'"`);
    expectAnswer(await ada.post("/api/notes", {}), 201, { data: { id: 4 } });
    expectRefusal(await ada.post("/api/notes", { owner_id: null }), 403, "forbidden");
    expectRefusal(await ada.post("/api/notes", { state: "published" }), 403, "forbidden");
    expect(await rowsOf(server, "SELECT owner_id, state FROM notes WHERE id > 3")).toEqual([["nobody", "draft"]]);
  });

  it("that says no leaves a conflict unsaid", async () => {
    const { server, ada } = await notes(`create = "new.owner_id = auth.id"`);
    expectRefusal(await ada.post("/api/notes", { id: 1, owner_id: "bob" }), 403, "forbidden");
    expectRefusal(await ada.post("/api/notes", { id: 1, owner_id: "ada" }), 409, "conflict", ["id"]);
    expect(await countOf(server, "notes")).toBe(3);
  });
});

/** Null: nothing at all can be admitted, which is said before any row is looked at. */
describe("a rule is three-valued, and only TRUE admits", () => {
  it.each([
    ["row.owner_id = auth.id", [1]],
    ["row.owner_id != auth.id", [2]],
    ["not (row.owner_id = auth.id)", [2]],
    ["row.owner_id = auth.id or row.owner_id is null", [1, 3]],
    ["row.owner_id is not null", [1, 2]],
    ["not (row.owner_id = null)", null],
    ["row.owner_id in ('bob', null)", [2]],
    ["not (row.owner_id in ('bob', null))", null],
    ["row.id > 1 and row.id <= 3", [2, 3]],
    ["row.body < 'c' and not row.body = 'a'", [2]],
    ["auth.email = 'ada@example.com' and auth.role = 'user'", [1, 2, 3]],
    ["now() < 0", null],
    ["row.id < now()", [1, 2, 3]],
    ["false", null],
  ] as const)("%s admits %j", async (rule, expected) => {
    const { ada } = await notes(`read = "${rule}"`);
    if (expected === null) {
      expectRefusal(await ada.get("/api/notes"), 403, "forbidden");
      expectRefusal(await ada.get("/api/notes/1"), 403, "forbidden");
      return;
    }
    expect(await ids(ada)).toEqual(expected);
    for (const id of [1, 2, 3])
      expect((await ada.get(`/api/notes/${id}`)).status).toBe((expected as readonly number[]).includes(id) ? 200 : 403);
  });
});
