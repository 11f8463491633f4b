import { copyFileSync, lstatSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { databaseFile, filesOfDatabase } from "../../node/database-file.js";
import { snapshotDatabase } from "../../node/libsql-file.js";
import { privateFile } from "../../node/private-files.js";
import { readProject } from "../../node/project-directory.js";
import { isWithin } from "../../node/within.js";
import { configFile, schemaFile } from "../../project/file-names.js";
import { databaseEntry, refuseUnsound, writeArchive } from "../archive.js";
import { type Command, RefusedError, UsageError } from "../command.js";
import { startProgress } from "../progress.js";
import { leavingNothing, type Made } from "../unfinished.js";

/** Interface, section 10. */
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
    if (given === undefined || given === "") throw new UsageError("expected --out FILE.tar.gz");
    const out = resolve(given);
    const force = invocation.flag("force");
    // What is wrong is told of the files in their own place.
    const { directory } = readProject(invocation.directory);
    const exported = await leavingNothing(async (made) => {
      // Beside the archive, which has to have room anyway: the system's temporary directory may be memory.
      const stage = made.temporary(dirname(out));
      const texts = stageTexts(directory, stage);
      // What is archived is what is checked, even if somebody saves the files meanwhile.
      const from = databaseFile(readProject(stage, directory).config, directory);
      if (from === null) throw new RefusedError(remoteDatabase);
      refuseOwn(out, directory, from);
      const hasDatabase = isThere(from, directory);
      refuseTaken(out, { force, hasDatabase });
      const database = hasDatabase ? await stageDatabase(from, stage, made) : null;
      const archive = join(stage, "archive");
      await writeArchive(database === null ? texts : [...texts, database], archive);
      const bytes = {
        archive: statSync(archive).size,
        database: database === null ? null : statSync(database).size,
      };
      if (force) made.replace(archive, out);
      else made.place(archive, out);
      return bytes;
    });
    console.log(summary(out, exported));
    return 0;
  },
};

/** Nothing overrides this: an archive in their place would be the end of the project. */
function refuseOwn(out: string, directory: string, database: string): void {
  const texts = [configFile, schemaFile].map((name) => join(directory, name));
  // SQLite keeps its files beside the one that a link leads to.
  const own = [...texts, ...filesOfDatabase(database), ...filesOfDatabase(realPath(database))];
  for (const path of own)
    if (isSameFile(out, path)) throw new RefusedError(`${out} is a file of the project itself: ${path}`);
}

/** By whatever names. Of files that are not there yet the directories are compared. */
function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return a !== undefined && b !== undefined
    ? a.dev === b.dev && a.ino === b.ino
    : realPath(one) === realPath(other);
}

/** Links are followed as far as there is something. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(realPath(dirname(path)), basename(path));
  }
}

/**
 * Whether there is a database at `path`. Throws for one that cannot be seen, such as on a volume that is not mounted, as
 * the archive without it would look like a good one.
 */
function isThere(path: string, directory: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile()) return true;
  if (found !== undefined) throw new RefusedError(`${path} is not a file, so it is no database`);
  const above = nearestName(path);
  if (statSync(above, { throwIfNoEntry: false }) === undefined)
    throw new RefusedError(`${above} is a link to nowhere: is its volume mounted?`);
  // A directory inside of the project is made by the first start, so it may be missing.
  if (above !== dirname(path) && !isWithin(directory, path))
    throw new RefusedError(
      `there is no directory ${dirname(path)}, which database.url leads to: is its volume mounted?`,
    );
  return false;
}

/** Of the path and the directories above it, the first that is there, if only as a link. */
function nearestName(path: string): string {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined ? nearestName(dirname(path)) : path;
}

function refuseTaken(
  out: string,
  { force, hasDatabase }: { readonly force: boolean; readonly hasDatabase: boolean },
): void {
  const present = lstatSync(out, { throwIfNoEntry: false });
  if (present === undefined) return;
  if (!present.isFile()) throw new RefusedError(`${out} exists and is not a file`);
  if (!force) throw new RefusedError(`${out} exists: see --force`);
  if (!hasDatabase)
    throw new RefusedError(
      `${out} exists and may hold a database, and the project has none: --out names another`,
    );
}

function stageTexts(directory: string, stage: string): string[] {
  return [configFile, schemaFile].map((name) => {
    const path = join(stage, name);
    copyFileSync(join(directory, name), path);
    return path;
  });
}

/** A snapshot that `svc import` would take. */
async function stageDatabase(from: string, stage: string, made: Made): Promise<string> {
  const to = join(stage, databaseEntry);
  writeFileSync(to, "", { mode: privateFile });
  await showingGrowth(to, statSync(from).size, made.thread(snapshotDatabase(from, to)));
  await refuseUnsound(to);
  return to;
}

const remoteDatabase = [
  "database.url names a libSQL server, whose snapshot is taken where it runs:",
  "  Turso               turso db export NAME --output-file data.db",
  "  a server of yours   GET /dump (SQL), or its own backups",
  "The files svc.toml and svc.schema.yaml are the rest of the project.",
].join("\n");

async function showingGrowth(path: string, bytesTotal: number, work: Promise<void>): Promise<void> {
  const progress = startProgress("snapshot", bytesTotal);
  const timer = setInterval(() => progress.at(statSync(path).size), 100);
  try {
    await work;
    progress.at(statSync(path).size);
  } finally {
    clearInterval(timer);
    progress.end();
  }
}

function summary(out: string, bytes: { archive: number; database: number | null }): string {
  const head = `exported ${out}: ${configFile}, ${schemaFile}`;
  return bytes.database === null
    ? `${head}, ${bytes.archive} bytes; there is no database yet`
    : `${head}, ${databaseEntry} (${bytes.database} bytes), ${bytes.archive} bytes packed`;
}

export const commands: readonly Command[] = [exportProject];
