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

export const textEntries = [configFile, schemaFile] as const;
export const databaseEntry = "data.db";

/** What an archive may hold, in the order in which it is written, and of how many bytes. The database has no limit. */
const bytesMax: ReadonlyMap<string, number> = new Map([
  [configFile, 4_194_304],
  [schemaFile, 4_194_304],
  [databaseEntry, Number.POSITIVE_INFINITY],
]);

/** Writers of tar fill up their last record, of 10 KiB or some more, with zeros. */
const tailBytesMax = 1_048_576;

/** svc.toml may hold a secret, too. Once the stream has ended, the file is complete on disk. */
const newFile = { flags: "wx", mode: privateFile, flush: true };

/**
 * Packs those of the three entries that are files in `from` into a new .tar.gz at `to`. Throws RefusedError for what
 * `readArchive` would not take.
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
  // tar-stream writes one entry after the other.
  const packed = headers.map((header) => pipeline(createReadStream(at(header.name)), archive.entry(header)));
  archive.finalize();
  const written = pipeline(archive, gzip, createWriteStream(to, newFile));
  // Without what tar itself adds to the files.
  const done = () => Math.min(gzip.bytesWritten, bytes);
  await withProgress("archive", bytes, done, Promise.all([...packed, written]));
}

/**
 * Unpacks a project's archive into an empty directory. Throws RefusedError for anything but plain files of the three
 * names, each once and none of the texts missing, and for an archive that is damaged or ends early or late.
 */
export async function readArchive(file: string, into: string): Promise<void> {
  // Of this one handle: what is told as its size is what is read.
  const handle = await open(file);
  const { size } = await handle.stat();
  const source = handle.createReadStream();
  const unpacked = extract();
  const outcomes = Promise.allSettled([
    takeEntries(unpacked, into),
    pipeline(source, createGunzip(), endingAfter(unpacked), unpacked),
  ]);
  // A refusal of an entry ends the feeding too, and says more than "premature close".
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
    // Told before the disk is full, which everything else on it would suffer from.
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

/** Passes on what `unpacked` is fed with, and fails long after its last entry: megabytes may unpack to a day of zeros. */
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

/** Null for an entry that may be in an archive after those that were `found` before it. */
function entryProblem(
  { name, type, size }: Pick<Header, "name" | "type" | "size">,
  found: readonly string[] = [],
): string | null {
  // Names are compared, never resolved: no spelling of another place gets this far.
  const max = bytesMax.get(name);
  const shown = JSON.stringify(name);
  if (max === undefined) return `${shown} is none of ${configFile}, ${schemaFile} and ${databaseEntry}`;
  if (type !== "file") return `${shown} is a ${type ?? "thing of an unknown kind"}, not a file`;
  if (found.includes(name)) return `${shown} is in it twice`;
  return size > max ? `${shown} has ${size} bytes, and ${max} at most are read` : null;
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
