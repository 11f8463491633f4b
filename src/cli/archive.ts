import { createReadStream, createWriteStream, existsSync, openSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { extract, type Header, pack } from "tar-stream";
import { databaseProblem } from "../node/database/libsql-file.js";
import { privateFile } from "../node/private-files.js";
import { configFile, schemaFile } from "../project/file-names.js";
import { RefusedError } from "./command.js";
import { withProgress } from "./progress.js";

/** The project's own two files in an archive. */
export const textEntries = [configFile, schemaFile] as const;
/** The project's database in an archive. */
export const databaseEntry = "data.db";
/** Everything that an archive may hold, in the order in which it is written. */
const entryNames: readonly string[] = [...textEntries, databaseEntry];

const textBytesMax = 4_194_304;
/**
 * How many bytes may follow the last entry. Programs that write tar files pad the last record, of 10 KiB or somewhat
 * more, with zeros.
 */
const tailBytesMax = 1_048_576;

/**
 * Opens a new file that only its owner may read. It is made at once, and not with the first write, when its directory
 * might be gone or about to be removed.
 */
const newFile = (to: string) => createWriteStream(to, { fd: openSync(to, "wx", privateFile), flush: true });

/**
 * Packs the project's files in `from` into a new .tar.gz, `to`. Throws RefusedError if one of the two texts is larger
 * than 4 MiB or the database is not sound, because `readArchive` would refuse that.
 */
export async function writeArchive(from: string, to: string): Promise<void> {
  const at = (name: string) => join(from, name);
  const headers = entryNames
    .filter((name) => existsSync(at(name)))
    .map((name) => ({ name, type: "file" as const, size: statSync(at(name)).size, mode: privateFile }));
  for (const header of headers) refuse("import would not take the archive", entryProblem(header));
  await refuseUnsound(from);
  const archive = pack();
  const gzip = createGzip();
  const written = pipeline(archive, gzip, newFile(to));
  // tar-stream writes the entries one after the other.
  const packed = headers.map((header) => pipeline(createReadStream(at(header.name)), archive.entry(header)));
  archive.finalize();
  const bytes = headers.reduce((sum, { size }) => sum + size, 0);
  await withProgress("archive", bytes, () => gzip.bytesWritten, Promise.all([...packed, written]));
}

/**
 * Unpacks an archive into an empty directory. Throws RefusedError unless the archive is whole, has at most 1 MiB after
 * its end, and holds both texts, perhaps a sound database, and nothing else.
 */
export async function readArchive(file: string, into: string): Promise<void> {
  const { size } = statSync(file);
  const source = createReadStream(file);
  const entries = extract();
  const endless = `it goes on for ${tailBytesMax} bytes after its end`;
  let bytesLeft = tailBytesMax;
  // A few compressed megabytes can unpack to zeros for a whole day.
  const gunzip = createGunzip().on("data", (chunk: Buffer) => {
    bytesLeft -= chunk.length;
    if (bytesLeft < 0) gunzip.destroy(new RefusedError(`${file}: ${endless}`));
  });
  const fed = pipeline(source, gunzip, entries);
  // If an entry is refused, the pipeline fails too, with "premature close". The refusal says more.
  fed.catch(() => {});
  async function take() {
    for await (const entry of entries) {
      refuse(file, entryProblem(entry.header, into));
      bytesLeft = entry.header.size + tailBytesMax;
      await pipeline(entry, newFile(join(into, entry.header.name)));
    }
    await fed;
  }
  await withProgress("unpack", size, () => source.bytesRead, take()).catch((error) => {
    // Anything but a refusal or an error of the operating system (such as a full disk) comes from gunzip or tar: the
    // archive is damaged.
    if (error instanceof RefusedError || typeof error.syscall === "string") throw error;
    throw new RefusedError(`${file} is no .tar.gz, or is damaged or cut off: ${error.message}`);
  });
  refuse(file, size - gunzip.bytesWritten > tailBytesMax ? endless : null);
  const missing = textEntries.find((name) => !existsSync(join(into, name)));
  if (missing) throw new RefusedError(`${file} holds no ${missing}, and so no project`);
  await refuseUnsound(into);
}

function refuse(what: string, problem: string | null): void {
  if (problem !== null) throw new RefusedError(`${what}: ${problem}`);
}

/**
 * What is wrong with an entry, as a message. With `into`, the directory to unpack into, it is also checked whether the
 * entry is there already and whether the disk has room.
 */
function entryProblem({ name, type, size }: Pick<Header, "name" | "type" | "size">, into?: string) {
  // Names are compared as text and never resolved as paths, so no entry can lead to another place.
  const shown = JSON.stringify(name);
  if (!entryNames.includes(name)) return `${shown} is none of ${entryNames.join(", ")}`;
  if (type !== "file") return `${shown} is a ${type ?? "thing of an unknown kind"}, not a file`;
  if (name !== databaseEntry && size > textBytesMax)
    return `${shown} has ${size} bytes, and ${textBytesMax} at most are read`;
  if (into === undefined) return null;
  if (existsSync(join(into, name))) return `${shown} is in it twice`;
  // A full disk would also disturb every other program that uses it.
  const { bavail, bsize } = statfsSync(into);
  const free = bavail * bsize;
  return size > free ? `it has a file of ${size} bytes, and ${free} are free in ${dirname(into)}` : null;
}

async function refuseUnsound(directory: string): Promise<void> {
  const path = join(directory, databaseEntry);
  if (!existsSync(path)) return;
  // For SQLite an empty file is a valid, empty database.
  const problem = statSync(path).size === 0 ? "it is empty" : await databaseProblem(path);
  refuse(`${databaseEntry} is no sound SQLite database`, problem);
}
