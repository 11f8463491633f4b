import { join } from "node:path";
import Libsql from "libsql";
import { filesOfDatabase } from "./database-file.js";
import { makePrivateFile } from "./private-files.js";

const lockFile = "lock.db";

/** Whether it is a lock, or what SQLite keeps beside it. */
export function isLockFile(name: string): boolean {
  return filesOfDatabase(lockFile).includes(name);
}

export interface DirectoryLock {
  readonly path: string;
  release(): void;
}

/**
 * Null where another process holds it. SQLite's locks are those of the operating system, which end with the process however
 * that ends.
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
