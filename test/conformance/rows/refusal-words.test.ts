import { expect, it } from "vitest";
import { adoptedWith } from "../../support/adopted.js";
import { client, expectRefusal } from "../../support/client.js";
import { member, rowsOf } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

/** What a person is told of a write that the database refuses, or that no rule lets anybody make. */

const config = `usage.enabled = false
[rules.items]
read = "authenticated"
create = "authenticated"
update = "authenticated"
delete = "authenticated"
[rules.items.columns.secret]
read = "deny"
[rules.rooms]
read = "authenticated"
delete = "authenticated"
[rules.watched]
read = "authenticated"
create = "authenticated"
`;

async function items() {
  const { server, key } = await adoptedWith(
    config,
    "CREATE TABLE rooms (id INTEGER PRIMARY KEY)",
    "CREATE TABLE people (name TEXT PRIMARY KEY)",
    `CREATE TABLE items (
       id INTEGER PRIMARY KEY,
       price INTEGER CHECK (price >= 0) CONSTRAINT "not too much" CHECK (price < 100),
       discount INTEGER, /* of the price */
       secret INTEGER CONSTRAINT secret_small CHECK (secret < 10) CHECK (secret > 0),
       room INTEGER REFERENCES rooms,
       owner TEXT,
       hidden TEXT,
       CHECK (Discount  <=  "price"),
       FOREIGN KEY (owner) REFERENCES people (name),
       FOREIGN KEY (secret, owner) REFERENCES pairs
     )`,
    "CREATE TABLE pairs (a INTEGER, b TEXT, PRIMARY KEY (a, b))",
    "INSERT INTO rooms VALUES (1), (2)",
    "INSERT INTO people VALUES ('ada')",
    "INSERT INTO items (id, price, room) VALUES (1, 5, 1)",
    "CREATE VIRTUAL TABLE words USING fts5(word)",
    "CREATE TABLE indexed (id INTEGER PRIMARY KEY)",
    "CREATE TRIGGER indexer AFTER INSERT ON indexed BEGIN INSERT INTO words (rowid, word) VALUES (1, 'x'); END",
    "CREATE TABLE watched (id INTEGER PRIMARY KEY, body TEXT)",
    `CREATE TRIGGER watcher BEFORE INSERT ON watched BEGIN
       SELECT RAISE(ABORT, 'a note needs a body, "really"') WHERE new.body IS NULL;
       SELECT RAISE(FAIL, 'no shouting') WHERE new.body = 'HEY';
       SELECT RAISE(ABORT, '') WHERE new.body = '';
     END`,
  );
  return { server, key };
}

it("names what a write has broken, as far as the caller may read it", async () => {
  const { server, key } = await items();
  const refused = async (body: object, status: number, code: string) =>
    expectRefusal(await key.post("/api/items", body), status, code);
  const check = (body: object) => refused(body, 400, "bad_request");
  expect(await check({ price: -1 })).toBe("a value breaks a check of the table: price");
  expect(await check({ price: 100 })).toBe('a value breaks the check "not too much"');
  expect(await check({ price: 1, discount: 2 })).toBe("a value breaks a check of the table: price, discount");
  expect(await check({ secret: 10 })).toBe('a value breaks the check "secret_small"');
  const reference = (body: object) => refused(body, 409, "conflict");
  const missing = "a reference does not hold: the row that it names is missing";
  expect(await reference({ room: 7 })).toBe(`${missing}: room`);
  expect(await reference({ room: 7, owner: "bob" })).toBe(`${missing}: one of room, owner`);
  expect(await reference({ secret: 5, owner: "ada" })).toBe(`${missing}: one of owner, (secret, owner)`);
  expect(expectRefusal(await key.patch("/api/items/1", { room: 7, discount: null }), 409, "conflict")).toBe(
    `${missing}: room`,
  );
  expect(expectRefusal(await key.delete("/api/rooms/1"), 409, "conflict")).toBe(
    "a reference does not hold: rows still refer to this one",
  );
  expect(await rowsOf(server, "SELECT id FROM items")).toEqual([[1]]);
  for (const [body, message] of [
    [null, 'a note needs a body, "really"'],
    ["HEY", "no shouting"],
    ["", "a trigger of the table refuses this"],
  ])
    expect(expectRefusal(await key.post("/api/watched", { body }), 400, "bad_request")).toBe(message);
  // A virtual table gives no reason.
  expect((await key.post("/api/indexed", {})).status).toBe(201);
  expect(expectRefusal(await key.post("/api/indexed", {}), 400, "bad_request")).toBe(
    "a trigger of the table refuses this",
  );
});

it("names neither columns nor checks that the caller may not read", async () => {
  const { server } = await items();
  const ada = client(server, (await member(server, "ada")).bearer);
  const message = async (body: object, status: number, code: string) =>
    expectRefusal(await ada.post("/api/items", body), status, code);
  expect(await message({ price: -1 }, 400, "bad_request")).toBe("a value breaks a check of the table: price");
  for (const secret of [0, 10])
    expect(await message({ secret }, 400, "bad_request")).toBe("a value breaks a check of the table");
  const missing = "a reference does not hold: the row that it names is missing";
  expect(await message({ room: 7 }, 409, "conflict")).toBe(`${missing}: room`);
  expect(await message({ owner: "ada", secret: 5 }, 409, "conflict")).toBe(missing);
  expect(expectRefusal(await ada.post("/api/watched", { body: "HEY" }), 400, "bad_request")).toBe(
    "no shouting",
  );
});

it("says where no rule lets anybody do it, with or without credentials", async () => {
  const server = await serve({
    schema: "notes: { columns: { id: { type: integer, primary_key: true } } }",
    config: 'usage.enabled = false\nrules.notes = { read = "authenticated", update = "deny" }',
  });
  const ada = client(server, (await member(server, "ada")).bearer);
  const nobody = client(server);
  const write = await apiKey(server, "resource:notes:write");
  expect(expectRefusal(await nobody.get("/api/notes"), 401, "unauthorized")).toBe("sign in to do this");
  for (const [verb, ask] of [
    ["create", (caller: typeof ada) => caller.post("/api/notes", {})],
    ["update", (caller: typeof ada) => caller.patch("/api/notes/1", { id: 2 })],
    ["delete", (caller: typeof ada) => caller.delete("/api/notes/1")],
  ] as const) {
    const message = `the rules of this table let nobody ${verb} rows`;
    expect(expectRefusal(await ask(nobody), 401, "unauthorized")).toBe(message);
    expect(expectRefusal(await ask(ada), 403, "forbidden")).toBe(message);
  }
  expect((await client(server, write).post("/api/notes", { id: 1 })).status).toBe(201);
});
