import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openLibsql } from "../../src/node/database/libsql.js";
import type { Database } from "../../src/platform/database.js";
import { release } from "../../src/platform/release.js";
import { systemMigrations } from "../../src/schema/system/migrations.js";
import { thaw } from "../support/frozen.js";
import { spawnServer } from "../support/spawned-server.js";
import { svc } from "./svc.js";

const release010 = readFileSync("test/frozen/release-0.1.0.sql", "utf8");

/** The example project, on a database that release 0.1.0 made of another one. */
async function oldProject(frozen = release010): Promise<{ directory: string; file: string }> {
  const directory = mkdtempSync(join(tmpdir(), "svc-upgrade-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  cpSync("svc.schema.yaml", join(directory, "svc.schema.yaml"));
  // Conditions and rules of the example would not fit the tables that are there.
  const settings = readFileSync("svc.toml", "utf8").replace(/^\[(conditions|rules)[\s\S]*/m, "");
  writeFileSync(join(directory, "svc.toml"), settings);
  mkdirSync(join(directory, ".svc"));
  const file = join(directory, ".svc/data.db");
  await within(file, (database) => thaw(database, frozen));
  return { directory, file };
}

async function within<T>(file: string, use: (database: Database) => Promise<T>): Promise<T> {
  const database = openLibsql({ path: file, synchronous: "normal" });
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

const rows = (file: string, sql: string) =>
  within(file, async (database) => (await database.query([{ sql, params: [] }]))[0]!.rows);

const versions = "SELECT version, release FROM _migrations";
const known = systemMigrations.map((_, i) => [i + 1, release]);

describe("a database of an earlier release", () => {
  it("is brought up by a command", async () => {
    const { directory, file } = await oldProject();
    const listed = svc(["admin", "list-users", "--json", "--dir", directory]);
    expect(listed).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(listed.stdout)).toHaveLength(6);
    expect(await rows(file, versions)).toEqual(known);
  });

  it("is brought up by a start, even where the schema has to wait for a person", async () => {
    const { directory, file } = await oldProject();
    const { url, end } = await spawnServer(directory);
    try {
      expect((await fetch(`${url}/health`)).status).toBe(200);
    } finally {
      await end("SIGTERM");
    }
    expect(await rows(file, versions)).toEqual(known);
    expect(await rows(file, "SELECT count(*) FROM notes")).toEqual([[3]]);
  });

  it("is no longer STRICT where the owner's tables are not, so that an older SQLite reads it", async () => {
    const own = /^(CREATE TABLE (?!_)[\s\S]*?\)) STRICT\b/gm;
    const strict = "SELECT name FROM pragma_table_list WHERE strict ORDER BY name";
    for (const [frozen, left] of [
      [release010, /notes.*team_members.*teams/],
      [release010.replace(own, "$1"), /^$/],
    ] as const) {
      const { directory, file } = await oldProject(frozen);
      const everything = "SELECT group_concat(quote(id) || quote(created_at), ' ') FROM _users";
      const before = await rows(file, everything);
      for (let start = 0; start < 2; start++) {
        const { url, end } = await spawnServer(directory);
        const login = { email: "bob@example.com", password: "correct horse battery staple" };
        const answer = await fetch(`${url}/auth/login`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(login),
        });
        expect(answer.status).toBe(200);
        await end("SIGTERM");
      }
      expect((await rows(file, strict)).join(" ")).toMatch(left);
      expect(await rows(file, everything)).toEqual(before);
      expect(await rows(file, "PRAGMA integrity_check")).toEqual([["ok"]]);
      expect(await rows(file, "PRAGMA foreign_key_check")).toEqual([]);
      expect(await rows(file, versions)).toEqual(known);
    }
  });
});

describe("a database of a later release", () => {
  it("is refused by a start and by commands, with both versions named, and stays as it is", async () => {
    const { directory, file } = await oldProject();
    svc(["admin", "list-users", "--dir", directory]);
    await within(file, (database) =>
      database.batch([{ sql: "INSERT INTO _migrations VALUES (1000, '9.0.0', 0)", params: [] }]),
    );
    for (const command of [
      ["serve", "--port", "0"],
      ["admin", "list-users"],
      ["schema", "plan"],
      ["schema", "apply", "--allow-destructive"],
      ["usage", "export"],
    ]) {
      const { status, stdout, stderr } = svc([...command, "--dir", directory]);
      expect({ command, isRefused: status === 1 || status === 2, stdout }).toEqual({
        command,
        isRefused: true,
        stdout: "",
      });
      expect(stderr).toContain("version 1000 of the server's own tables by svc 9.0.0");
      expect(stderr).toContain(`this is svc ${release}, which knows version ${systemMigrations.length}`);
    }
    expect(await rows(file, versions)).toEqual([...known, [1000, "9.0.0"]]);
    expect(await rows(file, "SELECT max(version) FROM _schema")).toEqual([[2]]);
  });
});
