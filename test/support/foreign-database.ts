import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLibsql } from "../../src/node/database/libsql.js";

/**
 * A database file of a program that has functions and collations of its own: `LENGTH` in capitals becomes a function, and
 * NOCASE a collation, that only that program has. SQLite itself would not create such tables.
 */
export async function foreignDatabase(...sql: string[]): Promise<string> {
  const path = join(mkdtempSync(join(tmpdir(), "svc-")), "foreign.sqlite");
  const database = openLibsql({ path, synchronous: "normal" });
  const run = (text: string) => database.batch([{ sql: text, params: [] }]);
  for (const each of sql) await run(each);
  await run("PRAGMA writable_schema = ON");
  await run("UPDATE sqlite_master SET sql = replace(replace(sql, 'LENGTH', 'their_length'), 'NOCASE', 'unicase')");
  await database.close();
  return path;
}
