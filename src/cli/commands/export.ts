import { copyFileSync, existsSync, lstatSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { databaseFile, filesOfDatabase, lockOfDatabase } from "../../node/database-file.js";
import { snapshotDatabase } from "../../node/libsql-file.js";
import { privateFile } from "../../node/private-files.js";
import { readProject } from "../../node/project-directory.js";
import { isWithin } from "../../node/within.js";
import { databaseEntry, refuseUnsound, textEntries, writeArchive } from "../archive.js";
import { type Command, RefusedError, UsageError } from "../command.js";
import { withProgress } from "../progress.js";
import { leavingNothing, type Made } from "../unfinished.js";

/** `svc export`: archives the state of a project at one moment. The archive is complete or does not exist. */
const exportProject: Command = {
  name: "export",
  usage: "--out FILE.tar.gz [--force]",
  summary: "Writes the project into one archive: both files, and a snapshot of the database.",
  options: { out: { type: "string" }, force: { type: "boolean" } },
  help: [
    "--out FILE   the archive, readable by you alone: it holds every row, people's addresses, the hashes of their",
    "             passwords, mails that wait to be sent with the links in them, and svc.toml with its auth.dev_secret",
    "--force      overwrite it, unless there is no database to put into it, or it is a file of the project itself",
    "A server may run and write meanwhile: the snapshot is of one moment, and holds all that was acknowledged before.",
    "Never in it: credentials of sign-in providers (.svc/secrets), variables of the environment, receipts that are",
    "still in the journal. svc import reads it.",
    "There has to be room beside FILE for a copy of the database, whose own directory has to be writable too.",
  ],
  positionals: [],
  run: async (invocation) => {
    const given = invocation.text("out");
    if (!given) throw new UsageError("expected --out FILE.tar.gz");
    const out = resolve(given);
    const force = invocation.flag("force");
    // Read where the project is, so that errors name the original files and not the copies below.
    const { directory } = readProject(invocation.directory);
    const contents = await leavingNothing(async (made) => {
      // The temporary directory is beside the archive, where room is needed anyway: the system's own may be in
      // memory.
      const stage = made.temporary(dirname(out));
      for (const name of textEntries) copyFileSync(join(directory, name), join(stage, name));
      // The copies are checked and archived, so somebody who saves the files meanwhile does not change the result.
      const database = databaseFile(readProject(stage, directory).config, directory);
      if (database === null) throw new RefusedError(remoteDatabase);
      refuseOwn(out, directory, database);
      const hasDatabase = isThere(database, directory);
      refuseTaken(out, force, hasDatabase);
      const snapshot = join(stage, databaseEntry);
      if (hasDatabase) await takeSnapshot(database, snapshot, made);
      const archive = join(stage, "archive");
      await writeArchive(stage, archive);
      const { size } = statSync(archive);
      if (force) made.replace(archive, out);
      else made.place(archive, out);
      return hasDatabase
        ? `${databaseEntry} (${statSync(snapshot).size} bytes), ${size} bytes packed`
        : `${size} bytes; there is no database yet`;
    });
    console.log(`exported ${out}: ${textEntries.join(", ")}, ${contents}`);
    return 0;
  },
};

const remoteDatabase = [
  "database.url names a libSQL server, whose snapshot is taken where it runs:",
  "  Turso               turso db export NAME --output-file data.db",
  "  a server of yours   GET /dump (SQL), or its own backups",
  "The files svc.toml and svc.schema.yaml are the rest of the project.",
].join("\n");

/**
 * Throws RefusedError where `out` is one of the project's own files, even with --force: the archive would destroy the
 * project.
 */
function refuseOwn(out: string, directory: string, database: string): void {
  const texts = textEntries.map((name) => join(directory, name));
  // If the path is a symbolic link, SQLite keeps its files beside the link's target.
  const real = existsSync(database) ? realpathSync(database) : database;
  const own = [...texts, ...filesOfDatabase(database), ...filesOfDatabase(real), lockOfDatabase(real)];
  const taken = identity(out);
  const path = own.find((path) => identity(path) === taken);
  if (path !== undefined) throw new RefusedError(`${out} is a file of the project itself: ${path}`);
}

/**
 * Identifies a file independently of the path that is used: by its inode, or where it does not exist by the inode of
 * its directory and its name.
 */
function identity(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? join(identity(dirname(path)), basename(path)) : `${found.dev}:${found.ino}`;
}

/**
 * Whether there is a database at `path`. Throws RefusedError where that cannot be seen, for example because a volume
 * is not mounted: an archive without the database would otherwise look complete.
 */
function isThere(path: string, directory: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile()) return true;
  if (found !== undefined) throw new RefusedError(`${path} is not a file, so it is no database`);
  const above = nearestName(path);
  if (statSync(above, { throwIfNoEntry: false }) === undefined)
    throw new RefusedError(`${above} is a link to nowhere: is its volume mounted?`);
  // A missing directory inside of the project is normal, because the first start makes it.
  if (above !== dirname(path) && !isWithin(directory, path))
    throw new RefusedError(
      `there is no directory ${dirname(path)}, which database.url leads to: is its volume mounted?`,
    );
  return false;
}

/** The path, or the nearest directory above it that exists. A broken symbolic link counts as existing. */
function nearestName(path: string): string {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined ? nearestName(dirname(path)) : path;
}

function refuseTaken(out: string, force: boolean, hasDatabase: boolean): void {
  const present = lstatSync(out, { throwIfNoEntry: false });
  if (present === undefined) return;
  if (!present.isFile()) throw new RefusedError(`${out} exists and is not a file`);
  if (!force) throw new RefusedError(`${out} exists: see --force`);
  if (!hasDatabase)
    throw new RefusedError(
      `${out} exists and may hold a database, and the project has none: --out names another`,
    );
}

/** Takes a snapshot of the database, and checks it as `svc import` would. */
async function takeSnapshot(from: string, to: string, made: Made): Promise<void> {
  writeFileSync(to, "", { mode: privateFile });
  const snapshot = made.thread(snapshotDatabase(from, to));
  await withProgress("snapshot", statSync(from).size, () => statSync(to).size, snapshot);
  await refuseUnsound(to);
}

/** `svc export`. */
export const commands: readonly Command[] = [exportProject];
