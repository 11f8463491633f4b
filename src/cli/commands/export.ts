import { copyFileSync, existsSync, lstatSync, realpathSync, renameSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { databaseFile, filesOfDatabase, lockOfDatabase } from "../../node/database/database-file.js";
import { snapshotDatabase } from "../../node/database/libsql-file.js";
import { syncToDisk } from "../../node/journal/sync-to-disk.js";
import { privateDirectory } from "../../node/private-files.js";
import { readProject } from "../../node/project-directory.js";
import { isWithin } from "../../node/within.js";
import { databaseEntry, textEntries, writeArchive } from "../archive.js";
import { type Command, RefusedError, UsageError } from "../command.js";
import { withProgress } from "../progress.js";
import { leavingNothing, makeDirectory, nearestName, place } from "../unfinished.js";

/** Archives the project as of one moment. The archive is complete or does not exist. */
const exportProject: Command = {
  name: "export",
  usage: "--out FILE.tar.gz [--force]",
  summary: "Writes the project to one archive: both files and a snapshot of the database.",
  options: { out: { type: "string" }, force: { type: "boolean" } },
  help: [
    "--out FILE   the archive. Only you can read it, because it contains every row, addresses, password hashes,",
    "             unsent mails with their links, and svc.toml with its auth.dev_secret. Missing folders are made.",
    "--force      overwrites FILE, except if the project has no database or FILE is one of its files",
    "A server may run and write meanwhile: the snapshot is of one moment and contains all writes acknowledged before it.",
    "The archive never contains provider credentials (.svc/secrets), environment variables or receipts in the journal.",
    "The command needs space beside FILE for a copy of the database, and has to write to the database's directory.",
  ],
  positionals: [],
  run: async (invocation) => {
    const given = invocation.text("out");
    if (!given) throw new UsageError("expected --out FILE.tar.gz");
    const out = resolve(given);
    const force = invocation.flag("force");
    // Before they are copied, so that errors name the project's own files.
    const { directory } = readProject(invocation.directory);
    // In the archive's directory, where room is needed anyway: the system's temporary directory may be in memory.
    const contents = await leavingNothing(nearestName(dirname(out)), async (stage, undo, held) => {
      for (const name of textEntries) copyFileSync(join(directory, name), join(stage, name));
      // The copies are checked and archived, so somebody who saves the project's files meanwhile does not change the
      // result.
      const database = databaseFile(readProject(stage, directory).config, directory);
      if (database === null)
        throw new RefusedError("database.url names a libSQL server: see turso db export, or its GET /dump");
      const problem = unseenProblem(database, directory) ?? outProblem(out, force, directory, database);
      if (problem !== null) throw new RefusedError(problem);
      const snapshot = join(stage, databaseEntry);
      if (existsSync(database)) {
        const bytes = () => statSync(snapshot, { throwIfNoEntry: false })?.size ?? 0;
        const taken = held(snapshotDatabase(database, snapshot));
        await withProgress("snapshot", statSync(database).size, bytes, taken);
      }
      const archive = join(stage, "archive");
      await writeArchive(stage, archive);
      makeDirectory(dirname(out), undo, privateDirectory);
      if (force) renameSync(archive, out);
      else place(archive, out, undo);
      syncToDisk(dirname(out));
      return existsSync(snapshot)
        ? `${databaseEntry} (${statSync(snapshot).size} bytes), ${statSync(out).size} bytes packed`
        : `${statSync(out).size} bytes; there is no database yet`;
    });
    console.log(`exported ${out}: ${textEntries.join(", ")}, ${contents}`);
    return 0;
  },
};

/**
 * Why the database at `path` may be missing by mistake: something else is at the path, or a volume may not be mounted.
 * An archive that was made then would look complete without the database. Null if the database is there, or has simply
 * not been made yet.
 */
function unseenProblem(path: string, directory: string): string | null {
  if (existsSync(path)) return statSync(path).isFile() ? null : `${path} is not a file, so it is no database`;
  const above = nearestName(path);
  if (!existsSync(above)) return `${above} is a link to nowhere: is its volume mounted?`;
  // The first start of a server makes a missing directory inside the project.
  if (above === dirname(path) || isWithin(directory, path)) return null;
  return `there is no directory ${dirname(path)}, which database.url leads to: is its volume mounted?`;
}

/** Why the archive must not be written to `out`. */
function outProblem(out: string, force: boolean, directory: string, database: string): string | null {
  // SQLite keeps the files of a database next to the target of a symbolic link.
  const real = existsSync(database) ? realpathSync(database) : database;
  const texts = textEntries.map((name) => join(directory, name));
  const own = [...texts, ...filesOfDatabase(database), ...filesOfDatabase(real), lockOfDatabase(real)];
  const taken = own.find((path) => identity(path) === identity(out));
  if (taken !== undefined) return `${out} is a file of the project itself: ${taken}`;
  const present = lstatSync(out, { throwIfNoEntry: false });
  if (present && !present.isFile()) return `${out} exists and is not a file`;
  if (present && !force) return `${out} exists: see --force`;
  const isLoss = present && !existsSync(database);
  return isLoss ? `${out} exists and may hold a database, and the project has none: name another` : null;
}

/**
 * The same for all paths to one file: its device and inode. If no file exists yet, those of the directory, and the
 * file's name.
 */
function identity(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? join(identity(dirname(path)), basename(path)) : `${found.dev}:${found.ino}`;
}

/** `svc export` */
export const commands: readonly Command[] = [exportProject];
