import { join } from "node:path";
import { filesOfDatabase } from "./database-file.js";
import { type FileLock, lockFile } from "./file-lock.js";

const lockName = "lock.db";

/** Whether a file name is that of a directory's lock file, or of a file that SQLite keeps beside it. */
export function isLockFile(name: string): boolean {
  return filesOfDatabase(lockName).includes(name);
}

/**
 * Locks a directory for this process; null where another process holds the lock, or where no lock file can be made.
 */
export function lockDirectory(directory: string): FileLock | null {
  try {
    return lockFile(join(directory, lockName));
  } catch {
    return null;
  }
}
