import { bringUpProjectDatabase, openToErase } from "../../node/project-database.js";
import { readProject } from "../../node/project-directory.js";
import type { Database } from "../../platform/database.js";
import { loadSchemaInForce } from "../../schema/in-force.js";
import { eraseHistory } from "../../tables/history/erase.js";
import { type Command, RefusedError, UsageError, unlessRefused } from "../command.js";

const erase: Command = {
  name: "history erase",
  usage: "--table T --key K",
  summary: "Erases the past values of a row from the change log, and overwrites them in the database file.",
  options: { table: { type: "string" }, key: { type: "string" } },
  help: [
    "--table T    a table with history",
    "--key K      the key of the row: its value, or a JSON object with all columns of the key",
    "The row itself does not change. Clients that keep copies of the table's rows fetch them again.",
    "Standard error says what may still contain the erased values, such as backups.",
    "On a libSQL server nothing can be overwritten. The command cannot reach a D1 database.",
  ],
  positionals: [],
  run: async (invocation) => {
    const [table, key] = ["table", "key"].map((option) => {
      const value = invocation.text(option);
      if (value === undefined || value === "") throw new UsageError(`expected --${option}`);
      return value;
    }) as [string, string];
    const project = readProject(invocation.directory);
    const { database, close } = await openToErase(project, invocation.environment);
    let left: keyof typeof remnants;
    let entries: number;
    try {
      await bringUpProjectDatabase(project, database);
      entries = await eraseIn(database, table, key);
    } finally {
      left = await close();
    }
    console.log(`erased ${entries} ${entries === 1 ? "entry" : "entries"} of ${table}`);
    console.error(`note: ${remnants[left]}`);
    return 0;
  },
};

async function eraseIn(database: Database, table: string, key: string): Promise<number> {
  const inForce = await loadSchemaInForce(database);
  if (inForce === null) throw new RefusedError("no schema was applied to the database yet");
  return unlessRefused(await eraseHistory(database, inForce, table, key)).entries;
}

const elsewhere =
  "Copies of the database, such as backups, still hold it, and so may space in the file that was free before: VACUUM rewrites the file.";

/**
 * What `svc history erase` prints about where the erased values may still be read. `free`: the database's file is
 * overwritten already; `log`: another program has the database open; `server`: the database is on a libSQL server.
 */
const remnants = {
  free: `it is overwritten in the database's file. ${elsewhere}`,
  log: `it is overwritten in the database's file as soon as the server or the other program that has the database open lets go of it: stop that one, and its -wal file goes with it. ${elsewhere}`,
  server:
    "the libSQL server does not list it any more; whether its disks, replicas and backups still hold it is up to that server.",
} as const;

/** `svc history erase` */
export const commands: readonly Command[] = [erase];
