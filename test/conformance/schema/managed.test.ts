import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../../src/schema/catalog.js";
import { planChange } from "../../../src/schema/plan/plan.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { tableName } from "../../../src/sqlite/names.js";
import { applied, emptyDatabase, rows, run } from "./support.js";

async function stepsTo(database: ReturnType<typeof emptyDatabase>, text: string) {
  const planned = await planChange(database, text);
  if (planned.outcome !== "planned") throw new Error(JSON.stringify(planned));
  return planned.plan.steps.map(({ description, hazards }) => [
    description,
    ...hazards.map(({ reason, count }) => `${reason} (${count})`),
  ]);
}

const notes = (columns: string) => `notes:\n  columns:\n    id: { type: integer, primary_key: true }\n${columns}\n`;

describe("a column that becomes managed, or is no more", () => {
  it("stays as it is in the database where it has the default already, or none", async () => {
    const database = emptyDatabase();
    const times = notes(`    made: { type: integer, not_null: true, default: { sql: unixepoch() } }
    by: { type: text, references: { table: $users } }`);
    const managed = notes(`    made: { type: integer, not_null: true, managed: created_at }
    by: { type: text, references: { table: $users }, managed: created_by }`);
    await applied(database, times);
    expect(await stepsTo(database, managed)).toEqual([]);
    await applied(database, managed);
    expect(await stepsTo(database, times)).toEqual([]);
    expect(await stepsTo(database, managed.replaceAll("created", "updated"))).toEqual([
      ["set notes.made, notes.by with each change of a row"],
    ]);
  });

  it("is changed, and rows with NULL get a version", async () => {
    const database = emptyDatabase();
    await applied(database, notes("    version: { type: integer }"));
    await run(database, "INSERT INTO notes VALUES (1, 7), (2, NULL)");
    const managed = notes("    version: { type: integer, not_null: true, managed: version }");
    expect(await stepsTo(database, managed)).toEqual([
      ["rebuild table notes: change column version"],
      ["set notes.version with each change of a row"],
    ]);
    await applied(database, managed);
    expect(await rows(database, "SELECT id FROM notes WHERE version <> 7")).toEqual([[2]]);
    expect(await stepsTo(database, notes("    version: { type: integer, not_null: true }"))).toEqual([
      ["drop the triggers that set managed columns of notes"],
      ["rebuild table notes: change column version"],
    ]);
  });

  it("may be of a type that converts", async () => {
    const database = emptyDatabase();
    await applied(database, notes("    version: { type: text }"));
    await run(database, "INSERT INTO notes VALUES (1, '7'), (2, 'x')");
    const managed = notes("    version: { type: integer, managed: version }");
    await applied(database, managed, { allowDestructive: true });
    expect(await rows(database, "SELECT id FROM notes WHERE version = 7")).toEqual([[1]]);
    expect(await rows(database, "SELECT count(*) FROM notes WHERE version IS NULL")).toEqual([[0]]);
  });
});

describe("a table that is there already", () => {
  const managed = `notes:
  strict: false
  columns:
    id: { type: integer, primary_key: true }
    made: { type: text, managed: created_at }
    version: { type: integer, managed: version }
`;

  it("is taken over with managed columns, without their defaults, where each row has a version", async () => {
    const database = emptyDatabase();
    await run(database, "CREATE TABLE notes (id INTEGER PRIMARY KEY, made TEXT DEFAULT 'now', version INTEGER)");
    await run(database, "INSERT INTO notes VALUES (1, NULL, 1), (2, NULL, NULL)");
    expect(await stepsTo(database, managed)).toEqual([
      [
        "adopt table notes, which is there as the file declares it",
        "rows of notes have no version: give version a number where it is NULL (1)",
      ],
      ["set notes.version with each change of a row"],
    ]);
    await run(database, "UPDATE notes SET version = id");
    await applied(database, managed);
    await run(database, "INSERT INTO notes (id) VALUES (3)", "UPDATE notes SET made = 'then' WHERE id < 3");
    expect(await rows(database, "SELECT made, version FROM notes WHERE id < 3")).toEqual([
      ["then", 2],
      ["then", 3],
    ]);
    expect(await rows(database, "SELECT made, version >= 0 FROM notes WHERE id = 3")).toEqual([["now", 1]]);
    expect(await stepsTo(database, managed)).toEqual([]);
  });

  it("is pulled with the defaults of its columns, and without the triggers", async () => {
    const database = emptyDatabase();
    await applied(database, managed);
    const { text, notes } = await pullSchema(database);
    expect(text).toContain('version: { type: integer, default: { sql: "random() & 1099511627775" } }');
    expect(text + JSON.stringify(notes)).not.toContain("_svc_");
  });
});

it("how many rows a write has written is known where no trigger but those of requests raises versions", async () => {
  const database = emptyDatabase();
  await applied(
    database,
    `
parents:
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text }
children:
  columns:
    id: { type: integer, primary_key: true }
    parent_id: { type: integer, references: { table: parents, on_delete: set_null } }
    version: { type: integer, managed: version }
entries:
  columns:
    id: { type: integer, primary_key: true }
    version: { type: integer, managed: version }
`,
  );
  const written = async (table: string) => {
    const { insert, update, delete: removal } = (await loadCatalog(database)).tables.get(tableName(table))!.triggers;
    return [insert, update, removal].map(({ rowsWritten, own }) => [rowsWritten, own]);
  };
  // A request sets the version of the row that it writes.
  expect(await written("entries")).toEqual([
    [0, false],
    [0, false],
    [0, false],
  ]);
  // Of a parent's children, a foreign key action changes as many as there are, and each gets a version.
  expect(await written("parents")).toEqual([
    [0, false],
    [0, false],
    [null, true],
  ]);
  await run(
    database,
    "CREATE TRIGGER noted AFTER INSERT ON parents BEGIN INSERT INTO entries (id) VALUES (new.id); END",
  );
  expect((await written("parents"))[0]).toEqual([1, true]);
  await run(
    database,
    "CREATE TRIGGER counted AFTER UPDATE ON entries BEGIN INSERT INTO children (id) VALUES (new.id); END",
  );
  expect((await written("parents"))[0]).toEqual([null, true]);
  expect((await written("entries"))[1]).toEqual([1, true]);
  await run(
    database,
    "CREATE TRIGGER again AFTER UPDATE ON children BEGIN UPDATE children SET parent_id = NULL WHERE id = 1; END",
  );
  expect((await written("children"))[1]).toEqual([null, true]);
});
