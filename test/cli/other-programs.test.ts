import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { expect, it, onTestFinished } from "vitest";
import { type OtherProgram, otherPrograms } from "../support/other-programs.js";
import { projectDirectory, svc } from "../support/project-directory.js";
import { spawnServer } from "../support/spawned-server.js";

/** A file that another program made. */
const made = [
  "CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, body VARCHAR(200), size REAL, data BLOB, version INTEGER)",
  "CREATE TABLE labels (note INTEGER REFERENCES notes (id) ON DELETE CASCADE, name TEXT, said, PRIMARY KEY (note, name))",
  "INSERT INTO notes VALUES (1, 'first', 'of all', 0.5, x'00ff', 3)",
  "INSERT INTO labels VALUES (1, 'old', 'anything')",
];

/** What a program writes: the notes from `n` on, and their labels. The word `w<n>` is in all of them. */
const written = (n: number) => `
INSERT INTO notes (id, title, body, size, data) VALUES (${n}, 'red w${n}', 'écru', 0.1, x'00ff'), (${n + 1}, 'blue w${n}', NULL, 1e300, NULL);
INSERT INTO notes (id, title, version) VALUES (${n + 2}, 'gone w${n}', 7), (${n + 3}, 'kept w${n}', 7);
UPDATE notes SET title = 'green w${n}', size = 9e999 WHERE id = ${n};
UPDATE notes SET id = ${n + 4} WHERE id = ${n + 1};
INSERT OR REPLACE INTO notes (id, title, version) VALUES (${n + 3}, 'replaced w${n}', 9);
INSERT INTO labels VALUES (${n}, 'a', 5), (${n}, 'b', 'five w${n}'), (${n + 2}, 'c', x'00');
UPDATE labels SET said = 5.5 WHERE note = ${n} AND name = 'a';
BEGIN;
DELETE FROM notes WHERE id = ${n + 3};
ROLLBACK;
DELETE FROM notes WHERE id = ${n + 2};
SELECT group_concat(title, ', ') FROM (SELECT title FROM notes WHERE id >= ${n} ORDER BY id);
`;

type Row = Readonly<Record<string, unknown>>;
type Get = <T>(path: string) => Promise<T>;

interface Entry {
  readonly op: string;
  readonly at: string;
  readonly by: unknown;
  readonly changed: readonly string[] | null;
  readonly row: Row | null;
}

/** The file, pulled and served with search, history and versions. */
async function served(): Promise<{ file: string; get: Get }> {
  const directory = projectDirectory("");
  const file = join(directory, "old.sqlite");
  const old = new Libsql(file);
  for (const sql of made) old.exec(sql);
  old.close();
  svc(directory, ["schema", "pull", "--from", file, "--force"]);
  const path = join(directory, "svc.schema.yaml");
  const schema = readFileSync(path, "utf8")
    .replace("\nnotes:\n", "\nnotes:\n  search: [title, body]\n")
    .replace("\nlabels:\n", "\nlabels:\n  search: [said]\n")
    .replace(/(version: +\{ type: integer)/, "$1, managed: version");
  writeFileSync(path, `$history: forever\n${schema}`);
  appendFileSync(join(directory, "svc.toml"), 'database = { url = "file:old.sqlite" }\n');
  svc(directory, ["schema", "apply"]);
  const printed = svc(directory, ["admin", "create-service-key", "--name", "t", "--scope", "project:backend"]);
  const headers = { Authorization: `Bearer ${printed.trim().split("\n").at(-1)}` };
  const server = await spawnServer(directory, "ignore");
  onTestFinished(async () => void (await server.end("SIGTERM")));
  const get: Get = async (at) => {
    const answer = await fetch(server.url + at, { headers });
    const body = (await answer.json()) as { data: never };
    expect(answer.status, `${at} ${JSON.stringify(body)}`).toBe(200);
    return body.data;
  };
  return { file, get };
}

async function expectAsWrittenByTheServer({ run }: OtherProgram, n: number, file: string, get: Get): Promise<void> {
  const before = Date.now();
  const read = run(file, written(n)).trim().split("\n").at(-1);
  expect(read).toBe(`green w${n}, replaced w${n}, blue w${n}`);
  const rows = await get<Row[]>(`/api/notes?filter[id][gte]=${n}&filter[id][lt]=${n + 100}`);
  expect(rows).toMatchObject([
    { id: n, title: `green w${n}`, body: "écru", size: null, data: "AP8=" },
    { id: n + 3, title: `replaced w${n}`, body: null, size: null, data: null, version: 9 },
    { id: n + 4, title: `blue w${n}`, body: null, size: 1e300, data: null },
  ]);
  expect(rows.every(({ version }) => Number.isSafeInteger(version))).toBe(true);

  const found = async (table: string, words: string) =>
    (await get<Row[]>(`/api/${table}?search=${words}`)).map(({ id, name }) => id ?? name);
  expect(await found("notes", `w${n}`)).toEqual([n, n + 3, n + 4]);
  expect(await found("notes", `ecru w${n}`)).toEqual([n]);
  for (const gone of ["red", "gone", "kept"]) expect(await found("notes", `${gone} w${n}`), gone).toEqual([]);
  expect(await found("labels", `w${n}`)).toEqual(["b"]);

  const history = async (where: string) => (await get<Entry[]>(where)).reverse();
  const note = await history(`/api/notes/_svc/history?where[id]=${n}`);
  expect(note[0]).toMatchObject({
    op: "insert",
    by: null,
    row: { title: `red w${n}`, body: "écru", size: 0.1, data: "AP8=" },
  });
  const last = note.at(-1)!;
  expect(last).toMatchObject({ op: "update", by: null, row: { title: `green w${n}`, size: null } });
  expect(last.row!.version).toBe(rows[0]!.version);
  const isVersioned = note.filter(({ changed }) => changed?.includes("version"));
  expect(new Set(isVersioned.map(({ row }) => row!.version)).size).toBe(isVersioned.length);
  const a = await history(`/api/labels/_svc/history?where[note]=${n}&where[name]=a`);
  expect(a).toMatchObject([
    { op: "insert", row: { said: 5 } },
    { op: "update", changed: ["said"], row: { said: 5.5 } },
  ]);
  const c = await history(`/api/labels/_svc/history?where[note]=${n + 2}&where[name]=c`);
  expect(c.map(({ op }) => op)).toEqual(["insert", "delete"]);
  const times = [...note, ...a, ...c].map(({ at }) => Date.parse(at));
  expect(Math.min(...times)).toBeGreaterThanOrEqual(before);
  expect(Math.max(...times)).toBeLessThanOrEqual(Date.now());
  const state = (at: number) => get(`/api/notes/_svc/state?at=${new Date(at).toISOString()}&where[id]=${n}`);
  expect(await state(before - 1)).toEqual([]);
  expect(await state(Date.parse(last.at))).toMatchObject([{ id: n, title: `green w${n}` }]);

  expect(run(file, "PRAGMA integrity_check;\n").trim()).toMatch(/ok$/);
  for (const words of ["_search_notes_words", "_search_labels_words"])
    run(file, `INSERT INTO ${words} (${words}) VALUES ('integrity-check');\n`);
}

it("what other programs write to a served file is as if the server had written it", async () => {
  const { file, get } = await served();
  const programs = otherPrograms();
  for (const [i, program] of programs.entries()) await expectAsWrittenByTheServer(program, (i + 1) * 100, file, get);
  console.log(`read and wrote: ${programs.map(({ name, version }) => `${name} (SQLite ${version})`).join(", ")}`);
});
