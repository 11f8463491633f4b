import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { describe, expect, it } from "vitest";
import { openLibsql } from "../../../src/node/database/libsql.js";
import type { Database } from "../../../src/platform/database.js";
import { parseSchema } from "../../../src/project/parse-schema.js";
import { planChange } from "../../../src/schema/plan/plan.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { schemaYaml } from "../../../src/schema/pull/schema-yaml.js";
import { applied, apply, databaseWithForeignKeysOn, emptyDatabase, rows, run, sound, soundness } from "./support.js";

const databases: Readonly<Record<string, () => Database>> = {
  "foreign keys off": emptyDatabase,
  "foreign keys on": () => ({ ...databaseWithForeignKeysOn(), foreignKeysStayOn: true }),
};

const posts = (more: string, key = "{ type: integer, primary_key: true }") => `
posts:
  columns:
    id: ${key}
    title: { type: text }
    body: { type: text }
${more}
`;
const on = "  search: [title]";

/** What a search finds of `posts`, by the index itself: the values of `key`, in their order. */
async function found(database: Database, words: string, table = "posts", key = "id") {
  const documents = `SELECT rowid FROM _search_${table}_words WHERE _search_${table}_words MATCH '${words}'`;
  const [kept] = await rows(database, `SELECT count(*) FROM sqlite_master WHERE name = '_search_${table}_keys'`);
  const ids =
    kept![0] === 0
      ? `SELECT ${key} FROM ${table} WHERE ${key} IN (${documents})`
      : `SELECT k0 FROM _search_${table}_keys WHERE doc IN (${documents})`;
  return (await rows(database, `${ids} ORDER BY 1`)).map(([id]) => id);
}

const parts = async (database: Database) =>
  (
    await rows(
      database,
      "SELECT name FROM sqlite_master WHERE name LIKE '\\_search\\_%' ESCAPE '\\' OR name LIKE '\\_svc\\_%' ESCAPE '\\' ORDER BY name",
    )
  ).map(([name]) => name);

const whole = (table: string, keys = false) => [
  ...(keys ? [`_search_${table}_keys`] : []),
  `_search_${table}_words`,
  ...["config", "content", "data", "docsize", "idx"].map((each) => `_search_${table}_words_${each}`),
  ...["delete", "insert", "move", "update"].map((each) => `_svc_search_${table}_${each}`),
];

async function stepsOf(database: Database, text: string) {
  const planned = await planChange(database, text);
  return planned.outcome === "planned" ? planned.plan.steps.map(({ description }) => description) : [];
}

const insert = "INSERT INTO posts (id, title, body) VALUES (1, 'red', 'one'), (2, 'blue', 'two'), (7, 'red', 'two')";

describe.each(Object.entries(databases))("the index of a search, with %s", (_, open) => {
  it("is filled from the rows that are there, and dropped with its key in the file", async () => {
    const database = open();
    await applied(database, posts(""));
    await run(database, insert);
    expect(await stepsOf(database, posts(on))).toEqual(["create the search index of posts (title)"]);
    await applied(database, posts(on));
    expect(await parts(database)).toEqual(whole("posts"));
    expect(await found(database, "red")).toEqual([1, 7]);
    expect(await stepsOf(database, posts(on))).toEqual([]);
    await run(database, "UPDATE posts SET title = 'green' WHERE id = 1", "DELETE FROM posts WHERE id = 7");
    expect([await found(database, "red"), await found(database, "green")]).toEqual([[], [1]]);
    expect(await stepsOf(database, posts(""))).toEqual(["drop the search index of posts"]);
    await applied(database, posts(""));
    expect(await parts(database)).toEqual([]);
    expect(await soundness(database)).toEqual(sound);
  });

  it("follows a change of its columns", async () => {
    const database = open();
    await applied(database, posts(on));
    await run(database, insert);
    await applied(database, posts("  search: [body, title]"));
    expect(await found(database, "{c0} : two")).toEqual([2, 7]);
    expect(await found(database, "{c1} : red")).toEqual([1, 7]);
    const renamed = posts("  search: [body, head]")
      .replace("title:", "head:")
      .replace("text }", "text, renamed_from: title }");
    expect(await stepsOf(database, renamed)).toEqual([
      "drop the search index of posts",
      "rename column posts.title to head",
      "create the search index of posts (body, head)",
    ]);
    await applied(database, renamed);
    await run(database, "UPDATE posts SET head = 'black' WHERE id = 2");
    expect([await found(database, "blue"), await found(database, "black")]).toEqual([[], [2]]);
    await applied(database, posts("  search: [body]").replace("    title: { type: text }\n", ""), {
      allowDestructive: true,
    });
    expect(await found(database, "two")).toEqual([2, 7]);
    expect(await found(database, "black")).toEqual([]);
  });

  it("stays as it is where something else of the table changes", async () => {
    const database = open();
    await applied(database, posts(on));
    await run(database, insert);
    const more = posts(on).replace("    body:", "    likes: { type: integer }\n    body:");
    expect(await stepsOf(database, more)).toEqual([
      "set the server's own triggers aside",
      "add column posts.likes",
      "make the server's own triggers again",
    ]);
    await applied(database, more);
    await run(database, "INSERT INTO posts (id, title) VALUES (9, 'red')");
    expect(await found(database, "red")).toEqual([1, 7, 9]);
    expect(await parts(database)).toEqual(whole("posts"));
  });

  it("is made anew with its table: rebuilt, renamed, and renamed in case alone", async () => {
    const database = open();
    const child =
      "\nnotes:\n  columns:\n    id: { type: integer, primary_key: true }\n    post: { type: integer, references: { table: posts } }\n    text: { type: text }\n  search: [text]\n";
    await applied(database, posts(on) + child);
    await run(database, insert, "INSERT INTO notes VALUES (5, 1, 'remember')");
    await applied(database, posts(on).replace("title: { type: text", "title: { type: text, not_null: true") + child);
    expect(await found(database, "red")).toEqual([1, 7]);
    expect(await found(database, "remember", "notes")).toEqual([5]);
    await run(database, "UPDATE notes SET text = 'forget'", "UPDATE posts SET title = 'grey' WHERE id = 7");
    expect(await found(database, "forget", "notes")).toEqual([5]);
    expect(await found(database, "red")).toEqual([1]);
    const named = (to: string, from: string) =>
      (posts(on) + child)
        .replace("title: { type: text", "title: { type: text, not_null: true")
        .replace("posts:", `${to}:\n  renamed_from: ${from}`)
        .replace("table: posts", `table: ${to}`);
    await applied(database, named("entries", "posts"));
    expect(await parts(database)).toEqual([...whole("entries"), ...whole("notes")].sort());
    await run(database, "INSERT INTO entries (id, title) VALUES (9, 'red')");
    expect(await found(database, "red", "entries")).toEqual([1, 9]);
    await applied(database, named("Entries", "entries"));
    await run(database, "DELETE FROM entries WHERE id = 9");
    expect(await found(database, "red", "Entries")).toEqual([1]);
    await applied(database, "notes: { columns: { id: { type: integer, primary_key: true } } }", {
      allowDestructive: true,
    });
    expect(await parts(database)).toEqual([]);
    expect(await soundness(database)).toEqual(sound);
  });

  it("goes by a table of keys where the key is no rowid, and changes with the key", async () => {
    const database = open();
    const text = "{ type: text, primary_key: true }";
    await applied(database, posts(on, text));
    await run(database, insert);
    expect(await parts(database)).toEqual(whole("posts", true));
    expect(await found(database, "red")).toEqual(["1", "7"]);
    await run(database, "DELETE FROM posts WHERE id = '1'");
    await run(
      database,
      "INSERT INTO posts (id, title) VALUES ('8', 'red')",
      "UPDATE posts SET id = '9' WHERE id = '8'",
    );
    expect(await found(database, "red")).toEqual(["7", "9"]);
    await applied(database, posts(on), { allowDestructive: true });
    expect(await parts(database)).toEqual(whole("posts"));
    expect(await found(database, "red")).toEqual([7, 9]);
    await run(database, "UPDATE posts SET title = 'x' WHERE id = 7", "UPDATE posts SET rowid = 12 WHERE id = 9");
    expect(await found(database, "red")).toEqual([12]);
  });

  it("is repaired where a part of it is missing", async () => {
    const database = open();
    await applied(database, posts(on));
    await run(database, insert, "DROP TRIGGER _svc_search_posts_update", "UPDATE posts SET title = 'new'");
    expect(await stepsOf(database, posts(on))).toEqual([
      "drop the search index of posts",
      "create the search index of posts (title)",
    ]);
    await applied(database, posts(on));
    expect(await found(database, "new")).toEqual([1, 2, 7]);
  });

  it("is made anew where an earlier release has made it without the texts", async () => {
    const database = open();
    await applied(database, posts(on));
    await run(
      database,
      insert,
      "DROP TABLE _search_posts_words",
      "CREATE VIRTUAL TABLE _search_posts_words USING fts5(c0, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2')",
      "INSERT INTO _search_posts_words (rowid, c0) SELECT id, title FROM posts",
      "UPDATE posts SET title = 'réd' WHERE id = 2",
      "DELETE FROM posts WHERE id = 1",
    );
    const before = await found(database, "red");
    expect(before).toEqual([2, 7]);
    expect(await stepsOf(database, posts(on))).toEqual([
      "drop the search index of posts",
      "create the search index of posts (title)",
    ]);
    await applied(database, posts(on));
    expect(await found(database, "red")).toEqual(before);
    await run(database, "UPDATE posts SET title = 'x' WHERE id = 2", "INSERT OR REPLACE INTO posts (id) VALUES (7)");
    expect(await found(database, "red")).toEqual([]);
    expect(await parts(database)).toEqual(whole("posts"));
  });
});

it("covers tables of other programs, by the keys that they have", async () => {
  const database = emptyDatabase();
  await run(
    database,
    "CREATE TABLE loose (id INT PRIMARY KEY, t)",
    "CREATE TABLE packed (a TEXT NOT NULL COLLATE NOCASE, b INTEGER NOT NULL, t TEXT, PRIMARY KEY (a COLLATE BINARY, b)) WITHOUT ROWID",
    "CREATE TABLE numbered (id INTEGER PRIMARY KEY AUTOINCREMENT, t TEXT UNIQUE)",
    "CREATE TABLE named (rank TEXT, rowid TEXT PRIMARY KEY NOT NULL)",
    "INSERT INTO loose VALUES (1, 'red'), (NULL, 'red'), (NULL, 'red'), ('x', 12)",
    "INSERT INTO packed VALUES ('a', 1, 'red'), ('A', 1, 'red'), ('A', 2, 'blue')",
    "INSERT INTO numbered VALUES (5, 'red')",
    "INSERT INTO named VALUES ('red', 'k')",
  );
  const { text } = await pullSchema(database);
  const searched = text
    .replace(/^(loose|packed|numbered):$/gm, "$1:\n  search: [t]")
    .replace(/^named:$/m, "named:\n  search: [rank, rowid]")
    .replace(/t:( +)\{ type: \w+/, "t:$1{ type: text");
  await applied(database, searched);
  expect(await found(database, "red", "loose")).toEqual([1]);
  expect(await found(database, "12", "loose")).toEqual(["x"]);
  expect(await found(database, "red", "packed")).toEqual(["A", "a"]);
  await run(database, "UPDATE packed SET t = 'green' WHERE a = 'a' COLLATE BINARY");
  expect([await found(database, "red", "packed"), await found(database, "green", "packed")]).toEqual([["A"], ["a"]]);
  await run(database, "INSERT OR REPLACE INTO numbered VALUES (6, 'red')");
  expect(await found(database, "red", "numbered")).toEqual([6]);
  expect(await found(database, "red", "named", "rowid")).toEqual(["k"]);
  const again = await pullSchema(database);
  expect(again.text).not.toContain("_search_");
  const rowids = parts(database);
  expect((await rowids).filter((name) => String(name).endsWith("_keys"))).toEqual([
    "_search_loose_keys",
    "_search_named_keys",
    "_search_packed_keys",
  ]);
});

it("survives VACUUM, whatever rows were deleted before", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "svc-")), "data.db");
  const open = () => openLibsql({ path, synchronous: "normal" });
  const table = (name: string, type: string) =>
    `${name}: { search: [t], columns: { id: { type: ${type}, primary_key: true }, t: { type: text } } }\n`;
  const before = open();
  await applied(before, table("numbered", "integer") + table("named", "text"));
  for (const name of ["numbered", "named"])
    await run(
      before,
      `INSERT INTO ${name} (id, t) VALUES (1, 'red'), (2, 'red'), (3, 'blue'), (4, 'red')`,
      `DELETE FROM ${name} WHERE id IN (1, 3)`,
    );
  await before.close();
  const raw = new Libsql(path);
  raw.exec("VACUUM");
  raw.close();
  const after = open();
  expect(await found(after, "red", "numbered")).toEqual([2, 4]);
  expect(await found(after, "red", "named")).toEqual(["2", "4"]);
  await run(after, "INSERT INTO named VALUES ('5', 'red')", "UPDATE named SET t = 'grey' WHERE id = '4'");
  expect(await found(after, "red", "named")).toEqual(["2", "5"]);
  await after.close();
});

it("is not mixed up with those of tables whose names are alike", async () => {
  const database = emptyDatabase();
  const table = (name: string) =>
    `${name}: { search: [t], columns: { id: { type: text, primary_key: true }, t: { type: text } } }\n`;
  const names = ["a", "a_words", "a_words_data", "a_keys", "a_words_words", "a_data", "words", "insert"];
  await applied(database, names.map(table).join(""));
  for (const name of names) await run(database, `INSERT INTO "${name}" VALUES ('${name}', 'x${name}')`);
  for (const name of names) expect(await found(database, `"x${name}"`, name)).toEqual([name]);
  await applied(database, names.slice(1).map(table).join(""), { allowDestructive: true });
  for (const name of names.slice(1)) expect(await found(database, `"x${name}"`, name)).toEqual([name]);
});

it("stays right whatever the order of the owner's triggers, and what they do with the row", async () => {
  const database = emptyDatabase();
  await applied(database, posts(on));
  await run(
    database,
    "CREATE TRIGGER shout AFTER INSERT ON posts WHEN new.title = 'shout' BEGIN UPDATE posts SET title = 'SHOUTED' WHERE id = new.id; END",
    "CREATE TRIGGER gone AFTER INSERT ON posts WHEN new.title = 'gone' BEGIN DELETE FROM posts WHERE id = new.id; END",
    "CREATE TRIGGER back AFTER DELETE ON posts WHEN old.title = 'back' BEGIN INSERT INTO posts (id, title) VALUES (old.id, 'phoenix'); END",
    "INSERT INTO posts (id, title) VALUES (1, 'shout'), (2, 'gone'), (3, 'back')",
    "DELETE FROM posts WHERE id = 3",
  );
  expect(await found(database, "shouted")).toEqual([1]);
  expect(
    await rows(
      database,
      "SELECT rowid FROM _search_posts_words WHERE _search_posts_words MATCH 'shout OR gone OR back'",
    ),
  ).toEqual([]);
  expect(await found(database, "phoenix")).toEqual([3]);
});

it("is refused where the file cannot have it", async () => {
  const problems = (text: string) => parseSchema(text).problems.map(({ path, message }) => `${path}: ${message}`);
  expect(problems(posts("  search: [title, titel]"))).toEqual([
    "posts.search: unknown column titel; did you mean title?",
  ]);
  expect(problems(posts("  search: [title, title]"))).toEqual(["posts.search: names a column twice"]);
  expect(problems(posts("  search: []"))).toEqual(["posts.search: expected at least one column"]);
  expect(problems(posts("  search: title"))).toEqual(['posts.search: expected a list, got "title"']);
  expect(problems(posts("  search: { columns: [titel], tokenize: trigrams, on: 1 }"))).toEqual([
    'posts.search.tokenize: expected "unicode61" or "trigram", got "trigrams"; did you mean trigram?',
    "posts.search.on: unknown key; there are columns, tokenize",
    "posts.search: unknown column titel; did you mean title?",
  ]);
  expect(problems(posts("  search: { columns: [title] }"))).toEqual([]);
  expect(problems(posts("  search: [id]"))).toEqual(["posts.search: id is integer: only text is searched"]);
  expect(problems(`${posts(on)}  virtual: true\n`)).toEqual(["posts.search: a virtual table cannot be searched"]);
  expect(problems(posts(on, "{ type: integer }"))).toEqual([
    "posts.search: only a table with a primary key can be searched",
  ]);
  const many = Array.from({ length: 17 }, (_, i) => `t${i}`);
  expect(
    problems(
      `wide:\n  search: [${many.join()}]\n  columns:\n    id: { type: integer, primary_key: true }\n${many.map((name) => `    ${name}: { type: text }\n`).join("")}`,
    ),
  ).toEqual(["wide.search: more than 16 columns"]);
  expect(await apply(emptyDatabase(), posts("  search: true"))).toMatchObject({
    outcome: "refused",
    reason: "invalid",
  });
});

it("is created anew with another tokenizer, which the text of the schema names", async () => {
  const database = emptyDatabase();
  const trigrams = posts("  search: { columns: [title], tokenize: trigram }");
  await applied(database, posts(on));
  await run(database, insert);
  expect(await found(database, "lue")).toEqual([]);
  expect(await stepsOf(database, trigrams)).toEqual([
    "drop the search index of posts",
    "create the search index of posts (title)",
  ]);
  await applied(database, trigrams);
  expect(await found(database, "lue")).toEqual([2]);
  expect(await stepsOf(database, trigrams)).toEqual([]);
  const { schema } = parseSchema(trigrams);
  expect(schemaYaml(schema!)).toContain("  search: { columns: [title], tokenize: trigram }\n");
  expect(await stepsOf(database, schemaYaml(schema!))).toEqual([]);
  expect(await stepsOf(database, posts("  search: { columns: [title], tokenize: unicode61 }"))).toHaveLength(2);
  await applied(database, posts(on));
  expect(await found(database, "lue")).toEqual([]);
});
