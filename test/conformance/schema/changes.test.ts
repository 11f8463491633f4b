import { describe, expect, it } from "vitest";
import type { Database } from "../../../src/platform/database.js";
import { planChange } from "../../../src/schema/plan/plan.js";
import {
  applied,
  apply,
  databaseWithForeignKeysOn,
  emptyDatabase,
  rows,
  run,
  sound,
  soundness,
  value,
} from "./support.js";

const base = `
rooms:
  columns:
    id: { type: text, primary_key: true }
    owner_id: { type: text, references: { table: $users, on_delete: cascade } }
    name: { type: text, not_null: true, check: "length(name) < 80" }
    score: { type: integer, default: 1 }
    parent_id: { type: text, references: { table: rooms, on_delete: cascade } }
  unique: [[owner_id, name]]
  indexes: [{ columns: [score, -name] }]
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: text, not_null: true, references: { table: rooms, on_delete: cascade } }
    body: { type: text }
pins:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: text, references: { table: rooms, on_delete: set_null } }
    other_id: { type: text, default: r1, references: { table: rooms, on_delete: set_default } }
log:
  columns:
    id: { type: integer, primary_key: true }
    what: { type: text }
`;

async function filled(database: Database): Promise<Database> {
  await applied(database, base);
  await run(
    database,
    "INSERT INTO rooms (id, name, score, parent_id) VALUES ('r1', 'one', 1, NULL), ('r2', 'two', 2, 'r1'), ('r3', 'three', 3, 'r2')",
    "INSERT INTO messages (room_id, body) SELECT id, 'hello ' || id FROM rooms",
    "INSERT INTO pins (room_id, other_id) SELECT id, id FROM rooms",
    "CREATE TRIGGER renamed AFTER UPDATE OF name ON rooms BEGIN INSERT INTO log (what) VALUES (old.name || '>' || new.name); END",
    "CREATE TRIGGER said AFTER INSERT ON messages BEGIN UPDATE rooms SET score = score + 1 WHERE id = new.room_id; END",
    "CREATE VIEW room_names (id, name) AS SELECT id, name FROM rooms",
    "CREATE VIEW short_names AS SELECT name FROM room_names WHERE length(name) < 5",
    "CREATE TRIGGER through INSTEAD OF DELETE ON room_names BEGIN DELETE FROM messages WHERE room_id = old.id; END",
    "CREATE INDEX by_length ON rooms (length(name))",
  );
  return database;
}

const changes: Record<string, { from: string; to: string; kinds: string[]; options?: { allowDestructive: boolean } }> =
  {
    "a new table and index": {
      from: "log:\n",
      to: "tags:\n  columns:\n    id: { type: integer, primary_key: true }\n    name: { type: text, unique: true }\nlog:\n",
      kinds: ["create_table", "create_index"],
    },
    "a nullable column": {
      from: "    score: ",
      to: "    topic: { type: text }\n    score: ",
      kinds: ["add_column"],
    },
    "a column with a constant": {
      from: "    score: ",
      to: '    open: { type: boolean, not_null: true, default: true, check: "open in (0, 1)" }\n    score: ',
      kinds: ["add_column"],
    },
    "a column with an expression": {
      from: "    score: ",
      to: '    token: { type: text, not_null: true, unique: true, default: { sql: "hex(randomblob(8))" } }\n    score: ',
      kinds: ["rebuild_table", "create_index"],
    },
    "a reference with a default": {
      from: "    score: ",
      to: "    twin: { type: text, default: r1, references: { table: rooms } }\n    score: ",
      kinds: ["rebuild_table"],
    },
    "an index more": {
      from: "indexes: [",
      to: 'indexes: [{ columns: [name], where: "score > 1" }, ',
      kinds: ["create_index"],
    },
    "an index less": { from: "  indexes: [{ columns: [score, -name] }]\n", to: "", kinds: ["drop_index"] },
    "a unique more": { from: "unique: [[", to: "unique: [[score], [", kinds: ["create_index"] },
    "a unique less": { from: "  unique: [[owner_id, name]]\n", to: "", kinds: ["drop_index"] },
    "a check more": {
      from: "score: { type: integer, default: 1 }",
      to: 'score: { type: integer, default: 1, check: "score > 0" }',
      kinds: ["rebuild_table"],
    },
    "a check less": { from: ', check: "length(name) < 80"', to: "", kinds: ["rebuild_table"] },
    "not null more": {
      from: "score: { type: integer, default: 1 }",
      to: "score: { type: integer, not_null: true, default: 1 }",
      kinds: ["rebuild_table"],
    },
    "not null less": {
      from: "name: { type: text, not_null: true,",
      to: "name: { type: text,",
      kinds: ["rebuild_table"],
    },
    "another default": { from: "default: 1 }", to: "default: 2 }", kinds: ["rebuild_table"] },
    "a wider type": {
      from: "score: { type: integer, default: 1 }",
      to: "score: { type: real, default: 1 }",
      kinds: ["rebuild_table"],
    },
    "a narrower type": {
      from: "score: { type: integer, default: 1 }",
      to: "score: { type: boolean, default: true }",
      kinds: ["rebuild_table"],
      options: { allowDestructive: true },
    },
    "a table renamed": {
      from: "\nrooms:\n",
      to: "\nchannels:\n  renamed_from: rooms\n",
      kinds: ["drop_index", "drop_index", "create_index", "create_index", "rename_table"],
    },
    "a column renamed": {
      from: '    name: { type: text, not_null: true, check: "length(name) < 80" }',
      to: '    title: { type: text, not_null: true, renamed_from: name, check: "length(title) < 80" }',
      kinds: ["drop_index", "drop_index", "create_index", "create_index", "rename_column"],
    },
    "a table and a column renamed and rebuilt at once": {
      from: "\nrooms:\n  columns:\n    id: { type: text, primary_key: true }",
      to: "\nchannels:\n  renamed_from: rooms\n  columns:\n    key: { type: text, primary_key: true, renamed_from: id, check: \"key <> ''\" }",
      kinds: [
        ...["drop_index", "drop_index", "rebuild_table", "create_index", "create_index"],
        ...["rename_table", "rename_column"],
      ],
    },
    "a table renamed in case alone": {
      from: "\nrooms:\n",
      to: "\nRooms:\n  renamed_from: rooms\n",
      kinds: ["drop_index", "drop_index", "create_index", "create_index", "rename_table"],
    },
  };

/** The proposal, with every mention of what is renamed. */
function proposal(name: string, { from, to }: { from: string; to: string }): string {
  expect(base, name).toContain(from);
  let text = base.replace(from, to);
  if (to.includes("renamed_from: rooms"))
    text = text.replaceAll("table: rooms", to.includes("Rooms") ? "table: Rooms" : "table: channels");
  if (to.includes("renamed_from: name"))
    text = text.replaceAll("owner_id, name]", "owner_id, title]").replaceAll("-name", "-title");
  return text;
}

describe.each([
  ["that are switched off meanwhile", false],
  ["that stay on", true],
])("with foreign keys %s, every row stays, and triggers, views and indexes go on working", (_, foreignKeysStayOn) => {
  for (const [name, change] of Object.entries(changes)) {
    it(name, async () => {
      const database = await filled(foreignKeysStayOn ? databaseWithForeignKeysOn() : emptyDatabase());
      const outcome = await applied(database, proposal(name, change), {
        ...change.options,
        foreignKeysStayOn,
      });
      const isWhole = foreignKeysStayOn && change.kinds.includes("rebuild_table");
      const kinds = change.kinds
        .filter((kind) => !isWhole || kind !== "create_index")
        .flatMap((kind) => (isWhole && kind === "rebuild_table" ? [kind, kind] : [kind]));
      expect(outcome.steps.map(({ kind }) => kind)).toEqual(kinds);
      expect(outcome.steps.every(({ safe }) => safe)).toBe(change.options === undefined);
      const rooms = /^\n(\w+):\n {2}renamed/.exec(change.to)?.[1] ?? "rooms";
      const key = change.to.includes("    key:") ? "key" : "id";
      const title = change.to.includes("title:") ? "title" : "name";
      expect(await rows(database, `SELECT ${key}, ${title}, parent_id FROM ${rooms} ORDER BY ${key}`)).toEqual([
        ["r1", "one", null],
        ["r2", "two", "r1"],
        ["r3", "three", "r2"],
      ]);
      expect(await rows(database, "SELECT id, room_id, body FROM messages ORDER BY id")).toEqual([
        [1, "r1", "hello r1"],
        [2, "r2", "hello r2"],
        [3, "r3", "hello r3"],
      ]);
      expect(await rows(database, "SELECT id, room_id, other_id FROM pins ORDER BY id")).toEqual([
        [1, "r1", "r1"],
        [2, "r2", "r2"],
        [3, "r3", "r3"],
      ]);
      expect(await soundness(database)).toEqual(sound);
      expect(
        await value(
          database,
          "SELECT count(*) FROM sqlite_master WHERE name LIKE '\\_re%' ESCAPE '\\'  AND name NOT LIKE '\\_refresh%' ESCAPE '\\'",
        ),
      ).toBe(0);
      expect(String(await value(database, "SELECT tbl_name FROM sqlite_master WHERE name = 'by_length'"))).toBe(rooms);

      await run(database, `UPDATE ${rooms} SET ${title} = 'ONE' WHERE ${key} = 'r1'`);
      expect(await rows(database, "SELECT what FROM log")).toEqual([["one>ONE"]]);
      if (change.kinds[0] !== "rebuild_table" || !change.to.includes("boolean")) {
        await run(database, "INSERT INTO messages (room_id) VALUES ('r3')");
        expect(await value(database, `SELECT score FROM ${rooms} WHERE ${key} = 'r3'`)).toBe(4);
      }
      expect(await rows(database, "SELECT * FROM short_names ORDER BY 1")).toEqual([["ONE"], ["two"]]);
      await run(database, "DELETE FROM room_names WHERE id = 'r3'");
      expect(await value(database, "SELECT count(*) FROM messages WHERE room_id = 'r3'")).toBe(0);

      await run(database, `DELETE FROM ${rooms} WHERE ${key} = 'r2'`);
      expect(await rows(database, `SELECT ${key} FROM ${rooms}`)).toEqual([["r1"]]);
      expect(await rows(database, "SELECT id, room_id FROM messages")).toEqual([[1, "r1"]]);
      expect(await rows(database, "SELECT id, room_id, other_id FROM pins")).toEqual([
        [1, "r1", "r1"],
        [2, null, "r1"],
        [3, null, "r1"],
      ]);
    });
  }
});

describe("what a trigger or a view uses", () => {
  it("is not dropped from under it", async () => {
    const database = await filled(emptyDatabase());
    const column = await apply(
      database,
      base
        .replace("    score: { type: integer, default: 1 }\n", "")
        .replace("  indexes: [{ columns: [score, -name] }]\n", ""),
      {
        allowDestructive: true,
      },
    );
    expect(column).toMatchObject({
      outcome: "refused",
      reason: "constraint",
      message: "trigger said uses rooms.score: drop it first",
    });
    const table = await apply(database, base.slice(0, base.indexOf("log:")), { allowDestructive: true });
    expect(table).toMatchObject({
      outcome: "refused",
      reason: "constraint",
      message: "trigger renamed uses log: drop it first",
    });
    expect(await value(database, "SELECT count(*) FROM _schema")).toBe(1);
  });
});

describe("a rename that views and triggers do not follow", () => {
  const table = "a: { columns: { id: { type: integer, primary_key: true }, x: { type: text } } }";
  const column = table.replace("x: { type: text }", "z: { type: text, renamed_from: x }");
  const named = table.replace("a: { ", "b: { renamed_from: a, ");

  it.each<[string, string, string, string | null]>([
    [
      "CREATE VIEW v AS SELECT id, x FROM a",
      "INSTEAD OF INSERT ON v BEGIN INSERT INTO a (x) VALUES (new.x); END",
      column,
      "trigger t",
    ],
    [
      "CREATE VIEW v AS SELECT * FROM a",
      "INSTEAD OF UPDATE OF x ON v BEGIN UPDATE a SET x = new.x; END",
      column,
      "trigger t",
    ],
    [
      "CREATE VIEW v AS SELECT id, x AS x FROM a",
      "INSTEAD OF INSERT ON v BEGIN INSERT INTO a (x) VALUES (new.x); END",
      column,
      null,
    ],
    [
      "CREATE VIEW v AS SELECT id, x FROM a",
      "INSTEAD OF INSERT ON v BEGIN INSERT INTO a (x) VALUES (new.x); END",
      named,
      null,
    ],
    ["CREATE VIEW v AS SELECT * FROM missing", "AFTER INSERT ON a BEGIN SELECT new.x; END", named, "view v"],
    ["CREATE VIEW v AS SELECT 1", "AFTER INSERT ON a BEGIN SELECT new.x FROM a; END", column, null],
  ])("is not planned as safe: %s, %s", async (view, trigger, next, refusing) => {
    const database = emptyDatabase();
    await applied(database, table);
    await run(database, "INSERT INTO a VALUES (1, 'kept')", view, `CREATE TRIGGER t ${trigger}`);
    const before = await rows(database, "SELECT name, sql FROM sqlite_master ORDER BY name");
    const planned = await planChange(database, next);
    if (planned.outcome !== "planned") throw new Error(JSON.stringify(planned));
    expect(await rows(database, "SELECT name, sql FROM sqlite_master ORDER BY name")).toEqual(before);
    const [step] = planned.plan.steps;
    if (refusing === null) {
      expect(step).toMatchObject({ safe: true, hazards: [] });
      await applied(database, next);
      expect(await value(database, `SELECT id FROM ${next === named ? "b" : "a"}`)).toBe(1);
      return;
    }
    expect(step).toMatchObject({
      safe: false,
      hazards: [{ effect: "impossible", reason: expect.stringContaining(`error in ${refusing}`) }],
    });
    const refused = await apply(database, next, { allowDestructive: true });
    expect(refused).toMatchObject({ outcome: "refused", reason: "constraint" });
    expect(await rows(database, "SELECT name, sql FROM sqlite_master ORDER BY name")).toEqual(before);
  });
});
