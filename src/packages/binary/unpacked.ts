import { createHash, randomBytes } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";

/** The files that the binary contains, in the order in which their bytes follow each other. */
export interface Manifest {
  readonly release: string;
  readonly files: readonly PackedFile[];
}

/** `path` is relative to the folder that files are unpacked into. `hash` is the SHA-256 in hex. */
export interface PackedFile {
  readonly path: string;
  readonly size: number;
  readonly hash: string;
}

/** Why nothing can be unpacked, for a person. */
export class UnpackError extends Error {
  override readonly name = "UnpackError";
}

/**
 * The folder that files are unpacked into: `SVC_CACHE_DIR`, or `svc` in the user's cache folder (XDG Base Directory
 * Specification).
 */
export function cacheFolder(environment: NodeJS.ProcessEnv): string {
  const { SVC_CACHE_DIR, XDG_CACHE_HOME = "" } = environment;
  if (SVC_CACHE_DIR) return resolve(SVC_CACHE_DIR);
  const folder = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), ".cache");
  if (isAbsolute(folder)) return join(folder, "svc");
  throw new UnpackError("HOME is not set, so there is no folder to unpack the program into: SVC_CACHE_DIR names one");
}

/**
 * Returns the folder with all files of the manifest, each of which was verified by its hash just now. If they are not
 * there, or were changed, they are unpacked. `bytes` gives their contents one after the other. Throws UnpackError where
 * the cache folder belongs to somebody else or cannot be written.
 */
export function unpacked(given: string, manifest: Manifest, bytes: () => Uint8Array): string {
  const name = `${manifest.release}-${sha256(JSON.stringify(manifest)).slice(0, 32)}`;
  try {
    const cache = ownFolder(given);
    const folder = join(cache, name);
    if (isWhole(folder, manifest)) return folder;
    replace(folder, join(cache, `.${name}-${randomBytes(8).toString("hex")}`), manifest, bytes());
    if (isWhole(folder, manifest)) return folder;
    throw new UnpackError(`${folder} was changed while it was written`);
  } catch (error) {
    if (error instanceof UnpackError || (error as NodeJS.ErrnoException).code === undefined) throw error;
    const { message } = error as Error;
    throw new UnpackError(
      `the program has to be unpacked into ${given} once, and that fails: ${message}. SVC_CACHE_DIR names another folder`,
    );
  }
}

/**
 * Makes the cache folder, for its user alone, and returns its real path, on which no symbolic link is any more. Throws
 * UnpackError if somebody else could put files into it.
 */
function ownFolder(given: string): string {
  mkdirSync(given, { recursive: true, mode: 0o700 });
  const cache = realpathSync(given);
  if (isOurs(lstatSync(cache))) return cache;
  throw new UnpackError(
    `other users can write to ${cache}, and so could change the program: SVC_CACHE_DIR names another folder`,
  );
}

/** Whether an entry is a folder into which nobody else can write. */
function isOurs(found: Stats): boolean {
  return found.isDirectory() && isOwn(found) && (found.mode & 0o022) === 0;
}

function isOwn({ uid }: Stats): boolean {
  return uid === process.getuid?.();
}

function isWhole(folder: string, { files }: Manifest): boolean {
  try {
    const folders = new Set(files.flatMap(({ path }) => foldersOf(path)));
    if (![...folders].every((path) => isOurs(lstatSync(join(folder, path))))) return false;
    return files.every(({ path, size, hash }) => {
      const file = join(folder, path);
      const there = lstatSync(file);
      return there.isFile() && there.size === size && sha256(readFileSync(file)) === hash;
    });
  } catch {
    return false;
  }
}

/** The folders that a path is in, from the outermost on, which is `.`. */
function foldersOf(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === "." ? ["."] : [...foldersOf(parent), parent];
}

/**
 * Writes all files into `temporary`, and puts that in the place of `folder`. A folder that another start has put there
 * meanwhile stays.
 */
function replace(folder: string, temporary: string, manifest: Manifest, bytes: Uint8Array): void {
  const aside = `${temporary}-old`;
  try {
    let at = 0;
    for (const { path, size } of manifest.files) {
      const file = join(temporary, path);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, bytes.subarray(at, at + size), { mode: 0o600, flag: "wx" });
      at += size;
    }
    if (tryRename(temporary, folder) || isWhole(folder, manifest)) return;
    tryRename(folder, aside);
    tryRename(temporary, folder);
  } finally {
    for (const left of [temporary, aside]) rmSync(left, { recursive: true, force: true });
  }
}

/** False where there is something in the place already, or nothing to rename any more. */
function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST", "ENOTDIR", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return false;
    throw error;
  }
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
