import { createReadStream, createWriteStream, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { extract, type Header, type Pack, pack } from "tar-stream";
import { schemaFile } from "../project/schema.js";
import { RefusedError } from "./command.js";
import { startProgress } from "./progress.js";

/** The project's archive holds these and nothing else, in this order. */
export const configEntry = "svc.toml";
export const schemaEntry = schemaFile;
export const databaseEntry = "data.db";

/** The database has its rows and no limit. */
const textBytesMax = 4_194_304;

/** Writes the files at `paths`, by their base names, into a new .tar.gz at `to`, complete on disk when it returns. */
export async function writeArchive(paths: readonly string[], to: string): Promise<void> {
  const files = paths.map((path) => ({ path, bytes: statSync(path).size }));
  const progress = startProgress(
    "archive",
    files.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  const archive = pack();
  const written = createWriteStream(to, { flags: "wx", mode: 0o600, flush: true });
  await Promise.all([
    pipeline(archive, createGzip(), written),
    packFiles(archive, files, counting(progress.at)),
  ]);
  progress.end();
}

async function packFiles(
  archive: Pack,
  files: readonly { readonly path: string; readonly bytes: number }[],
  counter: () => Transform,
): Promise<void> {
  for (const { path, bytes } of files) {
    const header = { name: basename(path), size: bytes, mode: 0o600, mtime: statSync(path).mtime };
    await pipeline(createReadStream(path), counter(), archive.entry(header));
  }
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
 * anything but plain files of the three names, each once, and for an archive that is damaged or ends early.
 */
export async function readArchive(file: string, into: string): Promise<ReadonlySet<string>> {
  // Of this one handle: what is told as its size is what is read.
  const handle = await open(file);
  const progress = startProgress("unpack", (await handle.stat()).size);
  const unpacked = extract();
  const [taken, fed] = await Promise.allSettled([
    takeEntries(unpacked, into),
    pipeline(handle.createReadStream(), counting(progress.at)(), createGunzip(), unpacked),
  ]);
  progress.end();
  // A refusal of an entry ends the feeding too, and says more than "premature close".
  if (taken.status === "rejected") throw refusal(file, taken.reason);
  if (fed.status === "rejected") throw refusal(file, fed.reason);
  for (const name of [configEntry, schemaEntry])
    if (!taken.value.has(name))
      throw new RefusedError(`${file} holds no ${name}: it is no project's archive`);
  return taken.value;
}

async function takeEntries(unpacked: ReturnType<typeof extract>, into: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const entry of unpacked) {
    const problem = entryProblem(entry.header, found);
    if (problem !== null) throw new RefusedError(`the archive is refused: ${problem}`);
    const { name } = entry.header;
    found.add(name);
    const mode = name === databaseEntry ? 0o600 : 0o666;
    await pipeline(entry, createWriteStream(join(into, name), { flags: "wx", mode, flush: true }));
  }
  return found;
}

/** Null for an entry that may be unpacked after those that were found before it. */
export function entryProblem({ name, type, size }: Header, found: ReadonlySet<string>): string | null {
  // Names are compared, never resolved: no spelling of another place gets this far.
  const shown = JSON.stringify(name);
  if (![configEntry, schemaEntry, databaseEntry].includes(name))
    return `${shown} is none of ${configEntry}, ${schemaEntry} and ${databaseEntry}`;
  if (type !== "file") return `${shown} is a ${type ?? "thing of an unknown kind"}, not a file`;
  if (found.has(name)) return `${shown} is in it twice`;
  if (name !== databaseEntry && size > textBytesMax)
    return `${shown} has ${size} bytes, and ${textBytesMax} at most are read`;
  return null;
}

/** What is neither a refusal nor an error of the system, such as a full disk, is of gunzip or tar, about the archive. */
function refusal(file: string, error: NodeJS.ErrnoException): Error {
  if (error instanceof RefusedError || typeof error.syscall === "string") return error;
  return new RefusedError(`${file} is no .tar.gz, or is damaged or cut off: ${error.message}`);
}
