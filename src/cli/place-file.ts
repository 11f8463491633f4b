import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";

/**
 * Moves a finished file to where nothing is yet; throws EEXIST where something is. A rename would overwrite what came
 * there meanwhile, a link does not.
 */
export function placeNew(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!linksAreImpossible(error as NodeJS.ErrnoException)) throw error;
    copyNew(from, to);
  }
  syncPath(dirname(to));
}

/** Moves a finished file over what is there, in one step. */
export function placeOver(from: string, to: string): void {
  renameSync(from, to);
  syncPath(dirname(to));
}

/** Another file system, or one without links, such as a memory stick's. */
function linksAreImpossible({ code }: NodeJS.ErrnoException): boolean {
  return ["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(code ?? "");
}

function copyNew(from: string, to: string): void {
  closeSync(openSync(to, "wx", 0o600));
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    syncPath(to);
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}

function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
