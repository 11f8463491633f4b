import { join } from "node:path";
import { filesOfDatabase } from "./database-file.js";
import { type FileLock, lockFile } from "./file-lock.js";

const lockName = "lock.db";

/** Whether a file is a directory's lock file, or one that SQLite keeps next to it. */
export function isLockFile(name: string): boolean {
  return filesOfDatabase(lockName).includes(name);
}

/** Null if another process holds the lock, or no lock file can be made. */
export function lockDirectory(directory: string): FileLock | null {
  try {
    return lockFile(join(directory, lockName));
  } catch {
    return null;
  }
}
