import { join } from "node:path";
import Libsql from "libsql";
import { filesOfDatabase } from "./database-file.js";
import { makePrivateFile } from "./private-files.js";

const lockFile = "lock.db";

/** Whether a file name is the lock's, or that of a file that SQLite keeps beside it. */
export function isLockFile(name: string): boolean {
  return filesOfDatabase(lockFile).includes(name);
}

/** A lock that this process holds: the path of its file, and how to release it. */
export interface DirectoryLock {
  readonly path: string;
  release(): void;
}

/**
 * Locks a directory for this process; null where another process holds the lock, or where no lock file can be made.
 * It is SQLite's exclusive lock on a file in the directory, because the operating system releases such a lock however
 * the process ends.
 */
export function lockDirectory(directory: string): DirectoryLock | null {
  const path = join(directory, lockFile);
  let database: Libsql.Database | null = null;
  try {
    makePrivateFile(path);
    const opened = new Libsql(path);
    database = opened;
    opened.exec("BEGIN EXCLUSIVE");
    return { path, release: () => opened.close() };
  } catch {
    database?.close();
    return null;
  }
}
