import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

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
  const { SVC_CACHE_DIR, XDG_CACHE_HOME } = environment;
  return SVC_CACHE_DIR || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "svc");
}

/**
 * Returns the folder with all files of the manifest, each of which was verified by its hash just now. If they are not
 * there, or were changed, they are unpacked. `bytes` gives their contents one after the other. Throws UnpackError where
 * the cache folder belongs to somebody else or cannot be written.
 */
export function unpacked(cache: string, manifest: Manifest, bytes: () => Uint8Array): string {
  const name = `${manifest.release}-${sha256(JSON.stringify(manifest)).slice(0, 32)}`;
  const folder = join(cache, name);
  try {
    makeOwn(cache);
    if (isWhole(folder, manifest)) return folder;
    replace(folder, join(cache, `.${name}-${randomBytes(8).toString("hex")}`), manifest, bytes());
  } catch (error) {
    if (error instanceof UnpackError || (error as NodeJS.ErrnoException).code === undefined) throw error;
    const { message } = error as Error;
    throw new UnpackError(
      `the program has to be unpacked into ${cache} once, and that fails: ${message}. SVC_CACHE_DIR names another folder`,
    );
  }
  if (isWhole(folder, manifest)) return folder;
  throw new UnpackError(`${folder} was changed while it was written`);
}

/** Makes the cache folder, for its user alone. Throws UnpackError if somebody else could put files into it. */
function makeOwn(cache: string): void {
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const found = statSync(cache);
  if (!isOwn(found))
    throw new UnpackError(
      `${cache} belongs to another user, who could change the program: SVC_CACHE_DIR names another folder`,
    );
  if ((found.mode & 0o077) !== 0) chmodSync(cache, 0o700);
}

function isOwn({ uid }: Stats): boolean {
  return uid === process.getuid?.();
}

function isWhole(folder: string, { files }: Manifest): boolean {
  try {
    const found = lstatSync(folder);
    if (!found.isDirectory() || !isOwn(found) || (found.mode & 0o022) !== 0) return false;
    return files.every(({ path, size, hash }) => {
      const file = join(folder, path);
      const there = lstatSync(file);
      return there.isFile() && there.size === size && sha256(readFileSync(file)) === hash;
    });
  } catch {
    return false;
  }
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
    if (["ENOTEMPTY", "EEXIST", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
