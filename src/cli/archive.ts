import { createReadStream, createWriteStream, existsSync, statfsSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { type Extract, extract, type Header, pack } from "tar-stream";
import { databaseProblem } from "../node/libsql-file.js";
import { privateFile } from "../node/private-files.js";
import { configFile, schemaFile } from "../project/file-names.js";
import { RefusedError } from "./command.js";
import { withProgress } from "./progress.js";

/** The project's two files, under the names that they have in an archive. */
export const textEntries = [configFile, schemaFile] as const;
/** The name of the database in an archive. */
export const databaseEntry = "data.db";

/**
 * The entries that an archive may hold, in the order in which they are written, with their maximum size in bytes. The
 * database has no limit.
 */
const bytesMax: ReadonlyMap<string, number> = new Map([
  [configFile, 4_194_304],
  [schemaFile, 4_194_304],
  [databaseEntry, Number.POSITIVE_INFINITY],
]);

/** Programs that write tar files pad the last record, of 10 KiB or somewhat more, with zeros. */
const tailBytesMax = 1_048_576;

/**
 * The mode is private because svc.toml may hold a secret too. `flush` makes sure that the file is on the disk when
 * the stream has ended.
 */
const newFile = { flags: "wx", mode: privateFile, flush: true };

/**
 * Packs those of the three entries that exist as files in `from` into a new .tar.gz at `to`. Throws RefusedError for
 * what `readArchive` would refuse.
 */
export async function writeArchive(from: string, to: string): Promise<void> {
  const at = (name: string) => join(from, name);
  const headers = [...bytesMax.keys()]
    .filter((name) => existsSync(at(name)))
    .map((name) => ({ name, type: "file", size: statSync(at(name)).size, mode: privateFile }) as const);
  for (const header of headers) refuse("import would not take the archive", entryProblem(header));
  const bytes = headers.reduce((sum, { size }) => sum + size, 0);
  const archive = pack();
  const gzip = createGzip();
  // All entries are begun at once; tar-stream writes one after the other.
  const packed = headers.map((header) => pipeline(createReadStream(at(header.name)), archive.entry(header)));
  archive.finalize();
  const written = pipeline(archive, gzip, createWriteStream(to, newFile));
  // Capped, because tar's headers and padding are not part of the total.
  const done = () => Math.min(gzip.bytesWritten, bytes);
  await withProgress("archive", bytes, done, Promise.all([...packed, written]));
}

/**
 * Unpacks a project's archive into an empty directory. Throws RefusedError unless its entries are plain files of the
 * three names, each at most once and both text files present. Also throws it for an archive that is damaged, cut off,
 * or goes on after its end.
 */
export async function readArchive(file: string, into: string): Promise<void> {
  // Size and contents come from the same handle, so both are of the same file even if it is replaced meanwhile.
  const handle = await open(file);
  const { size } = await handle.stat();
  const source = handle.createReadStream();
  const unpacked = extract();
  const outcomes = Promise.allSettled([
    takeEntries(unpacked, into),
    pipeline(source, createGunzip(), endingAfter(unpacked), unpacked),
  ]);
  // A refused entry also makes the pipeline fail, with "premature close". The refusal is the first of the two
  // outcomes, and says more.
  for (const outcome of await withProgress("unpack", size, () => source.bytesRead, outcomes))
    if (outcome.status === "rejected") throw refusal(file, outcome.reason);
  for (const name of textEntries)
    if (!existsSync(join(into, name)))
      throw new RefusedError(`${file} holds no ${name}: it is no project's archive`);
}

async function takeEntries(unpacked: Extract, into: string): Promise<void> {
  const found: string[] = [];
  for await (const entry of unpacked) {
    const { name, size } = entry.header;
    refuse("the archive is refused", entryProblem(entry.header, found));
    // Checked in advance, because a full disk would also disturb every other program that uses it.
    const { bavail, bsize } = statfsSync(into);
    const free = bavail * bsize;
    if (size > free)
      throw new RefusedError(
        `the archive is refused: it has a file of ${size} bytes, and ${free} are free in ${dirname(into)}`,
      );
    found.push(name);
    await pipeline(entry, createWriteStream(join(into, name), newFile));
  }
}

/**
 * Passes data on to `unpacked`, and fails where an archive goes on long after its last entry: a few compressed
 * megabytes can unpack to zeros for a whole day.
 */
function endingAfter(unpacked: Extract) {
  let bytesLeft = tailBytesMax;
  unpacked.on("entry", ({ size }) => {
    bytesLeft = size + tailBytesMax;
  });
  return async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      bytesLeft -= chunk.length;
      if (bytesLeft < 0)
        throw new RefusedError(`the archive is refused: it goes on for ${tailBytesMax} bytes after its end`);
      yield chunk;
    }
  };
}

function refuse(what: string, problem: string | null): void {
  if (problem !== null) throw new RefusedError(`${what}: ${problem}`);
}

/** Why an entry is not allowed after the entries that were `found` before it; null where it is. */
function entryProblem(
  { name, type, size }: Pick<Header, "name" | "type" | "size">,
  found: readonly string[] = [],
): string | null {
  // Names are compared as text and never resolved as paths, so no entry can lead to another place.
  const max = bytesMax.get(name);
  const shown = JSON.stringify(name);
  if (max === undefined) return `${shown} is none of ${configFile}, ${schemaFile} and ${databaseEntry}`;
  if (type !== "file") return `${shown} is a ${type ?? "thing of an unknown kind"}, not a file`;
  if (found.includes(name)) return `${shown} is in it twice`;
  return size > max ? `${shown} has ${size} bytes, and ${max} at most are read` : null;
}

/** Throws RefusedError unless the file at `path` is a sound, non-empty SQLite database. */
export async function refuseUnsound(path: string): Promise<void> {
  // Tested separately, because for SQLite an empty file is a valid, empty database.
  const problem = statSync(path).size === 0 ? "it is empty" : await databaseProblem(path);
  refuse(`${databaseEntry} is no sound SQLite database`, problem);
}

/**
 * Errors that are neither a refusal nor a system error, such as a full disk, come from gunzip or tar, so they are
 * about the archive.
 */
function refusal(file: string, error: NodeJS.ErrnoException): Error {
  if (error instanceof RefusedError || typeof error.syscall === "string") return error;
  return new RefusedError(`${file} is no .tar.gz, or is damaged or cut off: ${error.message}`);
}
