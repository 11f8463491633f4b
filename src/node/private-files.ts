import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The mode of files that the server writes: they contain people's data and secrets, so only the owner has access. */
export const privateFile = 0o600;
/** The mode of directories that the server makes. */
export const privateDirectory = 0o700;

/** Makes a directory and its missing parents. Existing ones keep their mode, which their owner has chosen. */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: privateDirectory });
}

/**
 * Makes an empty file for SQLite to turn into a database, unless there is one. SQLite does not let its caller choose a
 * mode, and gives the files that it keeps next to a database the mode of the database. An existing file is not opened,
 * because closing it would release the locks that SQLite holds on it in this process.
 */
export function makePrivateFile(path: string): void {
  makePrivateDirectory(dirname(path));
  try {
    writeFileSync(path, "", { flag: "wx", mode: privateFile });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** For what the server writes in a project, unless svc.toml names other places. */
const ownFolder = ".svc";

/**
 * Removes everybody else's access to the project's .svc folder, which an earlier release or a shell may have granted.
 * Opens no files, because closing one would release SQLite's locks on it. Returns the paths whose mode could not be
 * changed.
 */
export function closeOwnFolder(project: string): readonly string[] {
  const folder = join(project, ownFolder);
  // A symbolic link `.svc` is not followed: its target is a place that the owner has chosen.
  return statusOf(folder)?.isDirectory() ? closeWithin(folder) : [];
}

/** First what is in a directory, then the directory itself. */
function closeWithin(path: string): readonly string[] {
  const status = statusOf(path);
  if (status === undefined || !(status.isDirectory() || status.isFile())) return [];
  try {
    const inside = status.isDirectory() ? readdirSync(path) : [];
    const failed = inside.flatMap((name) => closeWithin(join(path, name)));
    if ((status.mode & 0o077) !== 0) chmodSync(path, status.mode & 0o700);
    return failed;
  } catch (error) {
    // A missing file was removed in the meantime.
    return codeOf(error) === "ENOENT" ? [] : [path];
  }
}

function statusOf(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
