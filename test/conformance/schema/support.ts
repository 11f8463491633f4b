import { copyFileSync, existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openLibsql } from "../../../src/node/database/libsql.js";
import type { Database, ResultValue } from "../../../src/platform/database.js";
import { type ApplyOptions, type ApplyOutcome, applyChange } from "../../../src/schema/apply.js";

export function emptyDatabase(): Database {
  return openLibsql({ path: ":memory:", synchronous: "normal" });
}

/** Foreign keys stay on while it migrates, deferred at most, as on D1. */
export function databaseWithForeignKeysOn(): Database {
  const database = emptyDatabase();
  const deferred = { sql: "PRAGMA defer_foreign_keys = ON", params: [] };
  return {
    query: (statements) => database.query(statements),
    batch: (statements) => database.batch(statements),
    migrate: async (statements) => {
      await database.batch([deferred, ...statements]);
    },
    foreignKeysStayOn: database.foreignKeysStayOn,
    answerBytesMax: database.answerBytesMax,
    imageBytesMax: database.imageBytesMax,
    statementsMax: database.statementsMax,
    close: () => database.close(),
  };
}

/** A copy of the sample database, so that no test writes to the original. */
export function chinook(): Database {
  const path = join(mkdtempSync(join(tmpdir(), "svc-")), "chinook.sqlite");
  copyFileSync(chinookPath(), path);
  return openLibsql({ path, synchronous: "normal" });
}

function chinookPath(): string {
  const root = resolve(import.meta.dirname, "../../..");
  const folders = [join(root, "test/data"), process.env.SVC_TEST_DATA, join(root, "../shared/data")];
  const paths = folders.flatMap((folder) => (folder === undefined ? [] : [join(folder, "chinook.sqlite")]));
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`chinook.sqlite is in none of ${paths.join(", ")}`);
  return found;
}

export async function run(database: Database, ...sql: string[]): Promise<void> {
  for (const each of sql) await database.batch([{ sql: each, params: [] }]);
}

export async function rows(database: Database, sql: string): Promise<readonly (readonly ResultValue[])[]> {
  const [result] = await database.query([{ sql, params: [] }]);
  return result!.rows;
}

export async function value(database: Database, sql: string): Promise<ResultValue> {
  return (await rows(database, sql))[0]![0]!;
}

export function apply(database: Database, text: string, options: Partial<ApplyOptions> = {}): Promise<ApplyOutcome> {
  return applyChange(database, text, { allowDestructive: false, now: 1_700_000_000_000, ...options });
}

/** Applies what must succeed. */
export async function applied(database: Database, text: string, options: Partial<ApplyOptions> = {}) {
  const outcome = await apply(database, text, options);
  if (outcome.outcome !== "applied") throw new Error(`not applied: ${JSON.stringify(outcome, null, 2)}`);
  return outcome;
}

/** Nothing may be wrong with the file, nor any foreign key lead nowhere. */
export async function soundness(database: Database): Promise<unknown> {
  const [integrity, foreignKeys] = await database.query([
    { sql: "PRAGMA integrity_check", params: [] },
    { sql: "PRAGMA foreign_key_check", params: [] },
  ]);
  return { integrity: integrity!.rows, foreignKeys: foreignKeys!.rows };
}

export const sound = { integrity: [["ok"]], foreignKeys: [] };
