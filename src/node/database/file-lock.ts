import { makePrivateFile } from "../private-files.js";
import { isBusy } from "./libsql-errors.js";
import { openNative } from "./open-native.js";

/** A lock that this process holds. */
export interface FileLock {
  readonly path: string;
  release(): void;
}

/**
 * Locks a file for this process, and makes it if it is missing; null if another process holds the lock. The lock is
 * SQLite's exclusive one, because the operating system releases it however the process ends. The file must be used for
 * nothing else. Throws if it cannot be made or opened.
 */
export function lockFile(path: string): FileLock | null {
  makePrivateFile(path);
  const database = openNative(path);
  try {
    database.exec("BEGIN EXCLUSIVE");
    return { path, release: () => database.close() };
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
}
