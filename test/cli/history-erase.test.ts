import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { statement } from "../../src/platform/database.js";
import { openRemoteLibsql } from "../../src/remote/libsql.js";
import { spawnServer } from "../support/spawned-server.js";
import { borrowSqld, sqldMissing } from "../support/sqld.js";
import { svc as commandLine } from "./svc.js";

const schema = `
notes: { history: forever, columns: { id: { type: integer, primary_key: true }, body: { type: text } } }
plain: { columns: { id: { type: integer, primary_key: true } } }
`;
const config = `
[auth]
allow_insecure_dev_secret = true
dev_secret = "only for this test, and long enough"
[rules.notes]
read = "public"
history = "public"
`;
/** What a note was, of a short and of a long text, whose end is on pages of its own. */
const former = ["formerly short", `formerly ${"long ".repeat(4_000)}and ended`];
const [short, end] = ["formerly short", "long and ended"];

/** A project whose database has its schema, and its command line. */
function project(configText = config) {
  const directory = mkdtempSync(join(tmpdir(), "svc-erase-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "svc.toml"), configText);
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  const svc = (...args: readonly string[]) => commandLine([...args, "--dir", directory]);
  expect(svc("schema", "apply")).toMatchObject({ status: 0 });
  const erase = (table: string, key: string) => svc("history", "erase", "--table", table, "--key", key);
  return { directory, svc, erase };
}

/**
 * Another program writes notes, and overwrites what it deletes, so that what they were is in the log alone. If it is killed,
 * all of it is in the WAL.
 */
function write(directory: string, isKilled: boolean): void {
  const script = `
    const Database = require(${JSON.stringify(createRequire(import.meta.url).resolve("libsql"))});
    const db = new Database(${JSON.stringify(join(directory, ".svc/data.db"))});
    for (const pragma of ["journal_mode=WAL", "secure_delete=ON", "busy_timeout=5000", "wal_autocheckpoint=0"]) db.exec("PRAGMA " + pragma);
    db.exec("INSERT INTO notes VALUES (1, 'x'), (2, 'other')");
    for (const body of ${JSON.stringify([...former, "now"])}) db.prepare("UPDATE notes SET body = ? WHERE id = 1").run(body);
    ${isKilled ? 'process.kill(process.pid, "SIGKILL")' : "db.close()"};`;
  const { signal, status, stderr } = spawnSync(process.execPath, ["-e", script], { encoding: "utf8" });
  expect([signal, status, stderr]).toEqual(isKilled ? ["SIGKILL", null, ""] : [null, 0, ""]);
}

/** Which files of the database hold a text. */
function holding(directory: string, text: string): readonly string[] {
  const folder = join(directory, ".svc");
  return readdirSync(folder)
    .filter((file) => file.startsWith("data.db") && readFileSync(join(folder, file)).includes(text))
    .sort();
}

test.each([true, false])("erased images are in no file of the database (in a WAL: %s)", (isKilled) => {
  const { directory, erase } = project();
  write(directory, isKilled);
  for (const text of [short, end]) expect(holding(directory, text)).toEqual([isKilled ? "data.db-wal" : "data.db"]);
  const erased = erase("notes", "1");
  expect(erased).toMatchObject({ status: 0, stdout: "erased 4 entries of notes\n" });
  expect(erased.stderr).toMatch(/^note: it is overwritten in the database's file\. Copies/);
  for (const text of [short, end]) expect(holding(directory, text)).toEqual([]);
  expect(holding(directory, "now")).toEqual(["data.db"]);
  expect(existsSync(join(directory, ".svc/data.db-wal"))).toBe(false);
  // Nothing is left to erase.
  expect(erase("notes", "1")).toMatchObject({ status: 1, stdout: "" });
});

test("a running server tells them no more, and its WAL goes when it stops", async () => {
  const { directory, erase } = project();
  const { url, end: endServer } = await spawnServer(directory);
  write(directory, false);
  const history = async () => {
    const { data } = (await (await fetch(`${url}/api/notes/_svc/history?where[id]=1`)).json()) as {
      data: { op: string; row: { body: string } }[];
    };
    return data.map(({ op, row }) => [op, row.body]);
  };
  expect(await history()).toHaveLength(4);
  const erased = erase("notes", "1");
  expect(erased).toMatchObject({ status: 0, stdout: "erased 4 entries of notes\n" });
  expect(erased.stderr).toContain("stop that one, and its -wal file goes with it");
  // As it said: the server alone may empty its WAL.
  expect(holding(directory, short)).toEqual(["data.db-wal"]);
  expect(await history()).toEqual([["insert", "now"]]);
  expect(await endServer("SIGTERM")).toBe(0);
  for (const text of [short, end]) expect(holding(directory, text)).toEqual([]);
});

test.skipIf(sqldMissing !== null)("on a libSQL server entries go, and nothing more is claimed", async () => {
  const { url, stop } = await borrowSqld();
  onTestFinished(stop);
  const { erase } = project(`${config}\n[database]\nurl = ${JSON.stringify(url)}\n`);
  const database = openRemoteLibsql({ url, authToken: null, fetch });
  onTestFinished(() => database.close());
  await database.batch([
    statement("INSERT INTO notes VALUES (1, 'formerly')"),
    statement("UPDATE notes SET body = 'now'"),
  ]);
  const erased = erase("notes", "1");
  expect(erased).toMatchObject({ status: 0, stdout: "erased 2 entries of notes\n" });
  expect(erased.stderr).toContain("is up to that server");
  const [entries] = await database.query([statement("SELECT seq, op, old FROM _changes")]);
  expect(entries!.rows).toEqual([[2, "insert", null]]);
});

test("what cannot be erased is refused, and wrong arguments are told", () => {
  const { directory, svc, erase } = project();
  write(directory, false);
  const refused = (table: string, key: string, why: string) => {
    const outcome = erase(table, key);
    expect(outcome).toMatchObject({ status: 1, stdout: "" });
    expect(outcome.stderr).toBe(`svc history erase: ${why}\n`);
  };
  refused("plain", "1", "plain keeps no history");
  refused("nothing", "1", "there is no table nothing");
  refused("notes", "one", "the key: id: expected an integer");
  refused("notes", "7", "the log has nothing of that row but that it is there, if it is");
  expect(svc("history", "erase", "--table", "notes").status).toBe(2);
  expect(svc("history", "erase", "--key", "1").status).toBe(2);
  expect(holding(directory, short)).toEqual(["data.db"]);
});
