import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { expect, it, onTestFinished } from "vitest";
import { svc } from "./svc.js";

const schema = `
shelves:
  columns: { id: { type: integer, primary_key: true }, name: { type: text, unique: true } }
things:
  history: 30d
  columns:
    id: { type: integer, primary_key: true }
    shelf: { type: integer, references: { table: shelves } }
    parent: { type: integer, references: { table: things } }
    owner: { type: text, references: { table: $users } }
    data: { type: json }
    at: { type: text, managed: created_at }
    n: { type: integer, check: "n < 10" }
`;
const one = `
users:
  ada: { password: correct horse 7, role: admin }
  ben: { email: ben@shop.example, email_verified: false, disabled: true }
`;
const two = `
rows:
  things:
    - { id: 2, shelf: 1, parent: 1, owner: ada, data: { a: [1] }, at: 2020-01-01T00:00:00.000Z }
    - { id: 1, parent: 2, n: 9007199254740993 }
  shelves:
    - { id: 1, name: upper }
`.replace("n: 9007199254740993", "n: 3");

function project(seeds: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-seed-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  writeFileSync(join(directory, "svc.toml"), "");
  mkdirSync(join(directory, "seeds"));
  for (const [name, text] of Object.entries(seeds)) writeFileSync(join(directory, "seeds", name), text);
  return directory;
}

function rowsOf(directory: string, sql: string): unknown[] {
  const database = new Libsql(join(directory, ".svc/data.db"));
  onTestFinished(() => void database.close());
  return database.prepare(sql).all();
}

const things = "SELECT id, shelf, parent, owner, data, at, n FROM things ORDER BY id";

it("writes users and rows of all files, whatever their order, and nothing twice", () => {
  const directory = project({ "1.yaml": two, "2.yaml": one });
  const first = svc(["seed", "--dir", directory]);
  expect(first).toMatchObject({ status: 0, stdout: expect.stringContaining("wrote 2 users and 3 rows") });
  const seeded = [
    { id: 1, shelf: null, parent: 2, owner: null, data: null, at: expect.any(String), n: 3 },
    { id: 2, shelf: 1, parent: 1, owner: "ada", data: '{"a":[1]}', at: "2020-01-01T00:00:00.000Z", n: null },
  ];
  expect(rowsOf(directory, things)).toEqual(seeded);
  expect(rowsOf(directory, "SELECT id, email, role, disabled, email_verified FROM _users ORDER BY id")).toEqual([
    { id: "ada", email: "ada@example.com", role: "admin", disabled: 0, email_verified: 1 },
    { id: "ben", email: "ben@shop.example", role: "user", disabled: 1, email_verified: 0 },
  ]);
  const again = svc(["seed", "--dir", directory]);
  expect(again.status).toBe(1);
  expect(again.stderr).toContain("seeds/2.yaml:3: ada: there is such a user already");
  writeFileSync(join(directory, "seeds/2.yaml"), "");
  expect(svc(["seed", "--dir", directory]).stderr).toContain("seeds/1.yaml:4: things has rows already");
  expect(rowsOf(directory, things)).toEqual(seeded);
});

it("changes rows that are there with --force, and leaves their users", () => {
  const directory = project({ "1.yaml": two, "2.yaml": one });
  expect(svc(["seed", "--dir", directory]).status).toBe(0);
  writeFileSync(join(directory, "seeds/1.yaml"), two.replace("n: 3", "n: 4").replace("shelf: 1, ", ""));
  writeFileSync(join(directory, "seeds/2.yaml"), one.replace("role: admin", "role: user"));
  const forced = svc(["seed", "--dir", directory, "--force"]);
  expect(forced).toMatchObject({ status: 0, stdout: expect.stringContaining("wrote 0 users and 3 rows") });
  writeFileSync(join(directory, "seeds/2.yaml"), "users:\n  eve: { email: Ada@example.com }\n");
  const taken = svc(["seed", "--dir", directory, "--force"]);
  expect(taken).toMatchObject({ status: 1, stderr: expect.stringContaining("2.yaml:2: eve: the address is that of") });
  expect(rowsOf(directory, things)).toMatchObject([
    { id: 1, n: 4 },
    { id: 2, shelf: 1 },
  ]);
  expect(rowsOf(directory, "SELECT role FROM _users WHERE id = 'ada'")).toEqual([{ role: "admin" }]);
});

it.each([
  ["a check that does not hold", two.replace("n: 3", "n: 10"), "seeds/1.yaml:5: things: a value breaks a check"],
  [
    "a reference to nothing",
    two.replace("shelf: 1", "shelf: 7"),
    "seeds/1.yaml:4: things: a column refers to a row that is not there",
  ],
  ["a value of another type", two.replace("n: 3", "n: x"), "seeds/1.yaml:5: things: n: expected"],
  [
    "a row twice",
    `${two}    - { id: 1, name: lower }\n`,
    "seeds/1.yaml:8: shelves: a row with the same key or unique values exists: id",
  ],
])("writes nothing, and names the row, for %s", (_, text, message) => {
  const directory = project({ "1.yaml": text, "2.yaml": one });
  const { status, stderr } = svc(["seed", "--dir", directory]);
  expect(stderr).toContain(message);
  expect(status).toBe(1);
  expect(rowsOf(directory, "SELECT id FROM _users UNION ALL SELECT id FROM things")).toEqual([]);
});

it("hashes more passwords than may wait at once", () => {
  const users = Array.from({ length: 80 }, (_, i) => `  u${i}: { password: correct horse ${i} }`);
  const directory = project({ "1.yaml": `users:\n${users.join("\n")}\nrows:\n` });
  expect(svc(["seed", "--dir", directory])).toMatchObject({ status: 0, stdout: expect.stringContaining("80 users") });
});

it("says what is wrong with files by their lines, with exit code 2", () => {
  expect(svc(["seed", "--dir", project({})])).toMatchObject({ status: 2 });
  const wrong = (text: string) => {
    const { status, stderr } = svc(["seed", "--dir", project({ "1.yaml": text })]);
    expect(status).toBe(2);
    return stderr;
  };
  expect(wrong("cases:\n  - { as: anonymous, do: { list: things }, sees: [] }\n")).toContain(
    "1.yaml:2: cases are for svc test",
  );
  expect(wrong("rows:\n  thigns:\n    - { id: 1 }\n")).toContain("1.yaml:3: there is no table thigns");
  expect(wrong("users:\n  ada: { password: short }\n")).toContain("1.yaml:2: ada: password: ");
  expect(wrong("users:\n  ada: { passwort: x }\n")).toContain(
    "users.ada.passwort: unknown key; did you mean password?",
  );
  expect(wrong("rows: [\n")).toContain("1.yaml:");
});
