import { copyFileSync, existsSync, lstatSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { snapshotDatabase } from "../../node/libsql-file.js";
import { readProject } from "../../node/project-directory.js";
import { configEntry, databaseEntry, schemaEntry, writeArchive } from "../archive.js";
import { type Command, RefusedError, UsageError } from "../command.js";
import { databaseFile } from "../database-file.js";
import { placeNew, placeOver } from "../place-file.js";
import { startProgress } from "../progress.js";
import { leavingNothing } from "../unfinished.js";

/** Interface, section 10. */
const exportProject: Command = {
  name: "export",
  usage: "--out FILE.tar.gz [--force]",
  summary: "Writes the project into one archive: both files, and a snapshot of the database.",
  options: { out: { type: "string" }, force: { type: "boolean" } },
  help: [
    "--out FILE   the archive, readable by you alone: it holds every row, and the hashes of passwords",
    "--force      overwrite it",
    "A server may run and write meanwhile: the snapshot is of one moment, and holds all that was acknowledged before.",
    "Never in it: credentials of sign-in providers (.svc/secrets), variables of the environment, receipts that are",
    "still in the journal. There has to be room beside FILE for a copy of the database. svc import reads it.",
  ],
  positionals: [],
  run: async (invocation) => {
    const given = invocation.text("out");
    if (given === undefined || given === "") throw new UsageError("expected --out FILE.tar.gz");
    const out = resolve(given);
    const force = invocation.flag("force");
    // What is wrong is told of the files in their own place.
    const { directory } = readProject(invocation.directory);
    refuseTaken(out, force);
    const exported = await leavingNothing(async (made) => {
      // Beside the archive, which has to have room anyway: the system's temporary directory may be memory.
      const stage = made.temporary(dirname(out));
      const texts = stageTexts(directory, stage);
      const database = await stageDatabase(directory, stage);
      const archive = join(stage, "archive");
      await writeArchive(database === null ? texts : [...texts, database], archive);
      const bytes = {
        archive: statSync(archive).size,
        database: database === null ? null : statSync(database).size,
      };
      if (force) placeOver(archive, out);
      else placeNew(archive, out);
      return bytes;
    });
    console.log(summary(out, exported));
    return 0;
  },
};

function refuseTaken(out: string, force: boolean): void {
  const present = lstatSync(out, { throwIfNoEntry: false });
  if (present === undefined) return;
  if (!present.isFile()) throw new RefusedError(`${out} exists and is not a file`);
  if (!force) throw new RefusedError(`${out} exists: see --force`);
}

function stageTexts(directory: string, stage: string): string[] {
  return [configEntry, schemaEntry].map((name) => {
    const path = join(stage, name);
    copyFileSync(join(directory, name), path);
    return path;
  });
}

/** Null where there is no database yet: opening it would make it. */
async function stageDatabase(directory: string, stage: string): Promise<string | null> {
  // What is archived is what is checked, even if somebody saves the files meanwhile.
  const from = databaseFile(readProject(stage).config, directory);
  if (from === null) throw new RefusedError(remoteDatabase);
  if (!existsSync(from)) return null;
  const to = join(stage, databaseEntry);
  writeFileSync(to, "", { mode: 0o600 });
  await showingGrowth(to, statSync(from).size, snapshotDatabase(from, to));
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
  const head = `exported ${out}: ${configEntry}, ${schemaEntry}`;
  return bytes.database === null
    ? `${head}, ${bytes.archive} bytes; there is no database yet`
    : `${head}, ${databaseEntry} (${bytes.database} bytes), ${bytes.archive} bytes packed`;
}

export const commands: readonly Command[] = [exportProject];
