import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { expect, onTestFinished, test } from "vitest";
import { svc as commandLine } from "./svc.js";

const schema = `
notes:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text, references: { table: $users, on_delete: cascade } }
    body: { type: text, not_null: true }
    pinned: { type: boolean, default: false }
places:
  primary_key: [room, seat]
  columns: { room: { type: integer }, seat: { type: integer } }
`;
const config = `
[conditions]
"mine(id)" = "id = auth.id"
[rules.notes]
read = "mine(row.owner_id) or row.pinned"
create = "new.owner_id = auth.id"
update = "row.owner_id = auth.id and old.pinned = false"
[rules.notes.columns.body]
read = "authenticated"
[rules.places]
read = "public"
`;

test("svc explain says why, on the project's database, and writes nothing", () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-explain-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "svc.toml"), config);
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  const svc = (input: string, ...args: readonly string[]) => commandLine([...args, "--dir", directory], input);
  const explain = (...args: readonly string[]) => svc("", "explain", ...args);
  const before = explain("--as", "anonymous", "read", "notes");
  expect(before).toMatchObject({ status: 1, stdout: "" });
  expect(before.stderr).toContain("there is no database");

  expect(svc("", "schema", "apply")).toMatchObject({ status: 0 });
  const user = ["admin", "create-user", "--email", "ada@example.com", "--password-stdin"];
  const made = svc("correct horse", ...user);
  expect(made).toMatchObject({ status: 0 });
  const id = made.stdout.trim();
  const file = join(directory, ".svc/data.db");
  const database = new Database(file);
  database.prepare("INSERT INTO notes VALUES (1, ?, 'a', 1), (2, NULL, 'b', 0)").run(id);
  database.prepare("INSERT INTO places VALUES (1, 2)").run();
  database.pragma("wal_checkpoint(truncate)");
  database.close();
  const hash = () => createHash("sha256").update(readFileSync(file)).digest("hex");
  const asIs = hash();

  const denied = explain("--as", "ada@example.com", "update", "notes", "1", "--values", '{"body":"c"}');
  expect(denied).toMatchObject({ status: 1, stderr: "" });
  expect(
    denied.stdout.replace(/[\d.]+ ms/, "… ms"),
  ).toBe(`denied: the rules of this table do not allow it: the rule is FALSE with the row before, and FALSE with the row after
the answer is 403 forbidden

rules.notes.update (svc.toml, line 7)
  ✓ before 7:11  row.owner_id = auth.id
  ✗ before 7:38  old.pinned = false
  ✓ after 7:11  row.owner_id = auth.id
  ✗ after 7:38  old.pinned = false

may not write: id

not judged:
  not null body

rows are found by notes.id
rows read: 1, in … ms
`);
  const update = ["update", "notes", "1", "--values", '{"body":"c"}', "--sql"];
  const { stdout: withSql } = explain("--as", "ada@example.com", ...update);
  expect(withSql).toContain('\n\nUPDATE OR ABORT "notes" SET "body" = ? WHERE ');
  expect(withSql).toContain("\n  SEARCH notes USING INTEGER PRIMARY KEY (rowid=?)\n");

  const list = explain("--as", "anonymous", "read", "notes", "--query", '{"where":{"pinned":false}}');
  expect(list).toMatchObject({ status: 0, stderr: "" });
  expect(list.stdout).toContain("allowed: the rules admit 0 of 1 rows");
  expect(list.stdout).toContain("  • 5:9  mine(row.owner_id)  TRUE of 0, FALSE of 0, NULL of 1");
  expect(list.stdout).toContain("  • 3:15  id = auth.id  TRUE of 0, FALSE of 0, NULL of 1");
  expect(list.stdout).toContain("may not read: body");

  const json = explain("--as", `user:${id}`, "create", "notes", "--json", "--values", '{"body":"x"}');
  expect(json).toMatchObject({ status: 1, stderr: "" });
  expect(JSON.parse(json.stdout)).toMatchObject({
    allowed: false,
    rule: { name: "rules.notes.create", line: 6, column: 11 },
    terms: [{ text: "new.owner_id = auth.id", truth: null }],
    values: { pinned: false },
  });
  expect(explain("--as", "anonymous", "read", "places", "room=1&seat=2")).toMatchObject({ status: 0 });
  const missing = explain("--as", "ada@example.com", "read", "notes", "9");
  expect(missing).toMatchObject({ status: 1 });
  expect(missing.stdout).toContain("denied: no such row\nthe answer is 404 not_found\n");

  const wrong: readonly (readonly [args: readonly string[], status: number, words: string])[] = [
    [["read", "notes"], 2, "expected --as"],
    [["--as", "anonymous", "read"], 2, "expected ACTION TABLE"],
    [["--as", "anonymous", "read", "notes", "1", "2"], 2, "expected ACTION TABLE"],
    [["--as", "anonymous", "drop", "notes"], 2, "action: expected one of"],
    [["--as", "anonymous", "update", "notes"], 2, "key: expected"],
    [["--as", "anonymous", "create", "notes", "--values", "["], 2, "--values: "],
    [["--as", "anonymous", "create", "notes", "--values", "[]"], 2, "--values: expected a JSON object"],
    [["--as", "eve@example.com", "read", "notes"], 1, "there is no such user"],
    [["--as", "key:eve", "read", "notes"], 1, "there is no such key"],
    [["--as", "anonymous", "read", "nothing"], 1, "no such table"],
    [["--as", "anonymous", "read", "notes", "x"], 1, "id: "],
    [["--as", "anonymous", "read", "notes", "--url", "http://x"], 2, "--email E --password-stdin"],
  ];
  for (const [args, status, words] of wrong) {
    const outcome = explain(...args);
    expect(outcome).toMatchObject({ status, stdout: "" });
    expect(outcome.stderr).toContain(words);
  }
  expect(hash()).toBe(asIs);
});
