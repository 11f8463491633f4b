import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What the server keeps holds people's data and secrets: it is its owner's alone. */
export const privateFile = 0o600;
export const privateDirectory = 0o700;

/** Makes what is missing of a directory. What is there, its owner has made, and is left as it is. */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: privateDirectory });
}

/**
 * Makes an empty file where none is, for SQLite to make a database of, as it does not let its caller choose a mode; what it
 * keeps beside the database gets the mode of that. A file that is there is not opened: closing it would end SQLite's locks on
 * it.
 */
export function makePrivateFile(path: string): void {
  makePrivateDirectory(dirname(path));
  try {
    writeFileSync(path, "", { flag: "wx", mode: privateFile });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** Where a project keeps what the server makes, unless svc.toml names other places. */
const ownFolder = ".svc";

/**
 * Takes from everybody else what earlier releases, or a shell, let them do in the project's own folder. Files are not opened.
 * Gives the paths that could not be changed.
 */
export function closeOwnFolder(project: string): readonly string[] {
  const folder = join(project, ownFolder);
  // A link leads to a place that the owner has chosen.
  return statusOf(folder)?.isDirectory() ? closeWithin(folder) : [];
}

/** What is inside of a directory before itself: it is not done until all of it is. */
function closeWithin(path: string): readonly string[] {
  const status = statusOf(path);
  if (status === undefined || !(status.isDirectory() || status.isFile())) return [];
  try {
    const inside = status.isDirectory() ? readdirSync(path) : [];
    const failed = inside.flatMap((name) => closeWithin(join(path, name)));
    if ((status.mode & 0o077) !== 0) chmodSync(path, status.mode & 0o700);
    return failed;
  } catch (error) {
    // Somebody has removed it meanwhile.
    return codeOf(error) === "ENOENT" ? [] : [path];
  }
}

function statusOf(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
