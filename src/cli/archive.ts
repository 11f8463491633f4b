import { createReadStream, createWriteStream, statfsSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { type Extract, extract, type Header, type Pack, pack } from "tar-stream";
import { databaseProblem } from "../node/libsql-file.js";
import { privateFile } from "../node/private-files.js";
import { configFile, schemaFile } from "../project/file-names.js";
import { RefusedError } from "./command.js";
import { startProgress } from "./progress.js";

/** Beside both texts; a project's archive holds these three and nothing else, the database last. */
export const databaseEntry = "data.db";

/** The database has its rows and no limit. */
const textBytesMax = 4_194_304;

/** Writers of tar fill up their last record, of 10 KiB or some more, with zeros. */
const tailBytesMax = 1_048_576;

/**
 * Writes the files at `paths`, by their base names, into a new .tar.gz at `to`, complete on disk when it returns. Throws
 * RefusedError for what `readArchive` would not take.
 */
export async function writeArchive(paths: readonly string[], to: string): Promise<void> {
  const files = paths.map((path) => ({ path, header: headerOf(path) }));
  for (const { header } of files)
    refuse("import would not take the archive", entryProblem(header, new Set()));
  const progress = startProgress(
    "archive",
    files.reduce((sum, { header }) => sum + header.size, 0),
  );
  const archive = pack();
  const written = createWriteStream(to, { flags: "wx", mode: privateFile, flush: true });
  try {
    await Promise.all([
      pipeline(archive, createGzip(), written),
      packFiles(archive, files, counting(progress.at)),
    ]);
  } finally {
    progress.end();
  }
}

function headerOf(path: string) {
  const { size, mtime } = statSync(path);
  return { name: basename(path), type: "file", size, mode: privateFile, mtime } as const;
}

async function packFiles(
  archive: Pack,
  files: readonly { readonly path: string; readonly header: ReturnType<typeof headerOf> }[],
  counter: () => Transform,
): Promise<void> {
  for (const { path, header } of files)
    await pipeline(createReadStream(path), counter(), archive.entry(header));
  archive.finalize();
}

/** Tells after each chunk how many bytes have passed through all of the transforms that it made. */
function counting(passed: (bytes: number) => void): () => Transform {
  let bytes = 0;
  return () =>
    new Transform({
      transform(chunk: Buffer, _, done) {
        bytes += chunk.length;
        passed(bytes);
        done(null, chunk);
      },
    });
}

/**
 * Unpacks a project's archive into an empty directory, and gives the entries that it had. Throws RefusedError for
 * anything but plain files of the three names, each once, and for an archive that is damaged or ends early or late.
 */
export async function readArchive(file: string, into: string): Promise<ReadonlySet<string>> {
  // Of this one handle: what is told as its size is what is read.
  const handle = await open(file);
  const progress = startProgress("unpack", (await handle.stat()).size);
  const unpacked = extract();
  const ending = endingAfter(unpacked);
  const [taken, fed] = await Promise.allSettled([
    takeEntries(unpacked, into),
    pipeline(handle.createReadStream(), counting(progress.at)(), createGunzip(), ending, unpacked),
  ]);
  progress.end();
  // A refusal of an entry ends the feeding too, and says more than "premature close".
  if (taken.status === "rejected") throw refusal(file, taken.reason);
  if (fed.status === "rejected") throw refusal(file, fed.reason);
  for (const name of [configFile, schemaFile])
    if (!taken.value.has(name))
      throw new RefusedError(`${file} holds no ${name}: it is no project's archive`);
  return taken.value;
}

/** Passes on what `unpacked` is fed with, and fails long after its last entry: megabytes may unpack to a day of zeros. */
function endingAfter(unpacked: Extract): Transform {
  let bytes = 0;
  let bytesMax = tailBytesMax;
  unpacked.on("entry", ({ size }) => {
    bytesMax = bytes + size + tailBytesMax;
  });
  return new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      if (bytes <= bytesMax) done(null, chunk);
      else
        done(new RefusedError(`the archive is refused: it goes on for ${tailBytesMax} bytes after its end`));
    },
  });
}

async function takeEntries(unpacked: Extract, into: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const entry of unpacked) {
    const { name, size } = entry.header;
    refuse("the archive is refused", entryProblem(entry.header, found) ?? roomProblem(size, into));
    found.add(name);
    // svc.toml may hold a secret, too.
    const options = { flags: "wx", mode: privateFile, flush: true };
    await pipeline(entry, createWriteStream(join(into, name), options));
  }
  return found;
}

function refuse(what: string, problem: string | null): void {
  if (problem !== null) throw new RefusedError(`${what}: ${problem}`);
}

/** Null for an entry that may be in an archive after those that were found before it. */
function entryProblem(
  { name, type, size }: Pick<Header, "name" | "type" | "size">,
  found: ReadonlySet<string>,
): string | null {
  // Names are compared, never resolved: no spelling of another place gets this far.
  const shown = JSON.stringify(name);
  if (![configFile, schemaFile, databaseEntry].includes(name))
    return `${shown} is none of ${configFile}, ${schemaFile} and ${databaseEntry}`;
  if (type !== "file") return `${shown} is a ${type ?? "thing of an unknown kind"}, not a file`;
  if (found.has(name)) return `${shown} is in it twice`;
  if (name !== databaseEntry && size > textBytesMax)
    return `${shown} has ${size} bytes, and ${textBytesMax} at most are read`;
  return null;
}

/** Told before the disk is full, which everything else on it would suffer from. */
function roomProblem(size: number, into: string): string | null {
  const { bavail, bsize } = statfsSync(into);
  const free = bavail * bsize;
  return size > free ? `it has a file of ${size} bytes, and ${free} are free in ${dirname(into)}` : null;
}

/** Throws RefusedError unless the file at `path` can be an archive's database. */
export async function refuseUnsound(path: string): Promise<void> {
  // SQLite takes an empty file for an empty database.
  const problem = statSync(path).size === 0 ? "it is empty" : await databaseProblem(path);
  refuse(`${databaseEntry} is no sound SQLite database`, problem);
}

/** What is neither a refusal nor an error of the system, such as a full disk, is of gunzip or tar, about the archive. */
function refusal(file: string, error: NodeJS.ErrnoException): Error {
  if (error instanceof RefusedError || typeof error.syscall === "string") return error;
  return new RefusedError(`${file} is no .tar.gz, or is damaged or cut off: ${error.message}`);
}
