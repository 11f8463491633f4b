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
[rules.places]
read = "authenticated"
create = "authenticated"
update = "authenticated"
[rules.places.columns.street]
read = "deny"
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
    `CREATE TABLE places (
       id INTEGER PRIMARY KEY,
       town TEXT NOT NULL CHECK (length(town) < 20),
       length INTEGER,
       street TEXT,
       code TEXT UNIQUE,
       note TEXT,
       room INTEGER REFERENCES rooms,
       near TEXT REFERENCES places (code),
       UNIQUE (town, street)
     )`,
    "CREATE UNIQUE INDEX places_lower ON places (lower(note))",
    "INSERT INTO places VALUES (1, 'Rome', 5, 'Via', 'a', 'x', NULL, NULL), (2, 'Oslo', 5, NULL, 'b', NULL, 1, 'a')",
    `CREATE TABLE made (
       id INTEGER PRIMARY KEY,
       label TEXT,
       folded TEXT AS (lower(label)) UNIQUE,
       amount INTEGER DEFAULT 'many',
       room INTEGER REFERENCES rooms
     ) STRICT`,
    "INSERT INTO made (label, amount) VALUES ('x', 1)",
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
  const refused = async (body: object, status: number, code: string, columns: string[]) =>
    expectRefusal(await key.post("/api/items", body), status, code, columns);
  const check = (body: object, ...columns: string[]) => refused(body, 400, "bad_request", columns);
  expect(await check({ price: -1 }, "price")).toBe("a value breaks a check of the table: price");
  expect(await check({ price: 100 }, "price")).toBe('a value breaks the check "not too much"');
  expect(await check({ price: 1, discount: 2 }, "price", "discount")).toBe(
    "a value breaks a check of the table: price, discount",
  );
  expect(await check({ secret: 10 }, "secret")).toBe('a value breaks the check "secret_small"');
  const reference = (body: object, ...columns: string[]) => refused(body, 409, "conflict", columns);
  const missing = "a reference does not hold: the row that it names has to be created first";
  expect(await reference({ room: 7 }, "room")).toBe(`${missing}: room`);
  // It is not known which of them.
  expect(await reference({ room: 7, owner: "bob" })).toBe(`${missing}: one of room, owner`);
  expect(await reference({ secret: 5, owner: "ada" })).toBe(`${missing}: one of owner, (secret, owner)`);
  expect(expectRefusal(await key.patch("/api/items/1", { room: 7, discount: null }), 409, "conflict", ["room"])).toBe(
    `${missing}: room`,
  );
  expect(expectRefusal(await key.delete("/api/rooms/1"), 409, "conflict")).toBe(
    "a reference does not hold: rows still refer to this one, so change or delete these first",
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

it("names columns where it is certain which constraint is broken", async () => {
  const { server, key } = await items();
  const before = await rowsOf(server, "SELECT * FROM places ORDER BY id");
  const post = async (body: object, status: number, code: string, ...columns: string[]) =>
    expectRefusal(await key.post("/api/places", body), status, code, columns);
  expect(await post({}, 400, "bad_request", "town")).toBe("a column needs a value, and has none or null: town");
  await post({ town: null }, 400, "bad_request", "town");
  await post({ town: 7 }, 400, "bad_request", "town");
  // The check names a function, not the column that is called so, too.
  await post({ town: "x".repeat(20) }, 400, "bad_request", "town");
  const taken = "a row with the same key or unique values exists";
  expect(await post({ town: "Rome", street: "Via" }, 409, "conflict", "town", "street")).toBe(`${taken}: town, street`);
  await post({ town: "Oslo", code: "a" }, 409, "conflict", "code");
  await post({ town: "Oslo", id: 1 }, 409, "conflict", "id");
  // Of an index over an expression or a generated column, no column that is served.
  expect(await post({ town: "Oslo", note: "X" }, 409, "conflict")).toBe(taken);
  const made = { label: "X", amount: 1 };
  expect(expectRefusal(await key.post("/api/made", made), 409, "conflict")).toBe(taken);
  // A default that its column does not take.
  expect(expectRefusal(await key.post("/api/made", { label: "y" }), 400, "bad_request", ["amount"])).toBe(
    "a value is not of its column's type: amount",
  );
  const missing = "a reference does not hold: the row that it names has to be created first";
  expect(await post({ town: "Oslo", near: "x" }, 409, "conflict", "near")).toBe(`${missing}: near`);
  const patch = async (body: object, ...columns: string[]) =>
    expectRefusal(await key.patch("/api/places/1", body), 409, "conflict", columns);
  const referredTo = "rows still refer to this one";
  expect(await patch({ room: 9 }, "room")).toBe(`${missing}: room`);
  expect(await patch({ code: "z" })).toBe(`a reference does not hold: ${referredTo}, so change or delete these first`);
  expect(await patch({ code: "z", room: 1 })).toBe(`${missing}, or ${referredTo}: room`);
  // Rows may refer to a generated column, too, and it may change with any other.
  expect(expectRefusal(await key.patch("/api/made/1", { room: 9 }), 409, "conflict")).toBe(
    `${missing}, or ${referredTo}: room`,
  );
  expect(await rowsOf(server, "SELECT * FROM places ORDER BY id")).toEqual(before);
  expect(await rowsOf(server, "SELECT id, label, room FROM made")).toEqual([[1, "x", null]]);
});

it("names neither columns nor checks that the caller may not read", async () => {
  const { server } = await items();
  const ada = client(server, (await member(server, "ada")).bearer);
  const message = async (body: object, status: number, code: string, ...columns: string[]) =>
    expectRefusal(await ada.post("/api/items", body), status, code, columns);
  expect(await message({ price: -1 }, 400, "bad_request", "price")).toBe("a value breaks a check of the table: price");
  for (const secret of [0, 10])
    expect(await message({ secret }, 400, "bad_request")).toBe("a value breaks a check of the table");
  const missing = "a reference does not hold: the row that it names has to be created first";
  expect(await message({ room: 7 }, 409, "conflict", "room")).toBe(`${missing}: room`);
  expect(await message({ owner: "ada", secret: 5 }, 409, "conflict")).toBe(missing);
  // One of the two columns is enough to name neither.
  const place = { town: "Rome", street: "Via" };
  expect(expectRefusal(await ada.post("/api/places", place), 409, "conflict")).toBe(
    "a row with the same key or unique values exists",
  );
  // What the body itself says, and the caller may write, is named.
  expect(await message({ secret: "x" }, 400, "bad_request", "secret")).toMatch(/^secret: expected/);
  expect(expectRefusal(await ada.post("/api/watched", { body: "HEY" }), 400, "bad_request")).toBe("no shouting");
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
