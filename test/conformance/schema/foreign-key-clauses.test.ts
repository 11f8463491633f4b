import { describe, expect, it } from "vitest";
import type { Database } from "../../../src/platform/database.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { applied, databaseWithForeignKeysOn, emptyDatabase, rows, run, sound, soundness } from "./support.js";

// Tables as Prisma and Django make them: their foreign keys have clauses that svc.schema.yaml does not express.
const statements = [
  'CREATE TABLE "User" ("id" TEXT NOT NULL PRIMARY KEY, "name" TEXT)',
  `CREATE TABLE "Post" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "title" TEXT NOT NULL, "authorId" TEXT, "parentId" INTEGER,
    CONSTRAINT "Post_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES "User" ("id") ON DELETE SET NULL ON UPDATE CASCADE,
    CONSTRAINT "Post_parentId_fkey" FOREIGN KEY ("parentId") REFERENCES "Post" ("id") ON DELETE CASCADE ON UPDATE SET NULL)`,
  `CREATE TABLE "app_comment" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "text" varchar(99) NOT NULL,
    "post_id" bigint NOT NULL REFERENCES "Post" ("id") DEFERRABLE INITIALLY DEFERRED,
    "user_id" text NULL REFERENCES "User" ("id") ON UPDATE RESTRICT NOT DEFERRABLE)`,
  `INSERT INTO "User" VALUES ('u1', 'Ada')`,
  `INSERT INTO "Post" VALUES (1, 'one', 'u1', NULL), (2, 'two', 'u1', 1)`,
  `INSERT INTO "app_comment" VALUES (1, 'c', 2, NULL)`,
];
const foreignKeys = (database: Database) =>
  rows(
    database,
    `SELECT m.name, f."from", f."table", f."to", f.on_update, f.on_delete
      FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.name IN ('Post', 'app_comment') ORDER BY 1, 2`,
  );

describe.each([
  ["off meanwhile", false],
  ["on", true],
])("with foreign keys that are %s", (_, foreignKeysStayOn) => {
  it("a rebuild carries ON UPDATE and DEFERRABLE over", async () => {
    const database = foreignKeysStayOn ? databaseWithForeignKeysOn() : emptyDatabase();
    await run(database, ...statements);
    const { text, notes } = await pullSchema(database);
    expect(notes.kept).toContain("app_comment: DEFERRABLE foreign keys");
    await applied(database, text);
    const before = await foreignKeys(database);
    const checked = text
      .replace(/title: +\{ type: text,/, `$& check: "title <> ''",`)
      .replace(/\btext: +\{ type: text,/, 'words: { type: text, renamed_from: text, check: "length(words) < 99",')
      .replace("on_delete: set_null", "on_delete: cascade");
    expect(checked.match(/check/g)).toHaveLength(2);
    const { steps } = await applied(database, checked, { foreignKeysStayOn });
    expect(steps.every(({ safe }) => safe)).toBe(true);
    const changed = (key: readonly unknown[]) => (key[1] === "authorId" ? [...key.slice(0, -1), "CASCADE"] : key);
    expect(await foreignKeys(database)).toEqual(before.map(changed));
    const [[sql]] = (await rows(database, "SELECT sql FROM sqlite_master WHERE name = 'app_comment'")) as [[string]];
    expect(sql).toContain('REFERENCES "Post" ("id") DEFERRABLE INITIALLY DEFERRED');
    expect(sql).toContain('REFERENCES "User" ("id") ON UPDATE RESTRICT NOT DEFERRABLE');
    expect(await soundness(database)).toEqual(sound);
  });
});
