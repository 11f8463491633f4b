import { closeSync, fsyncSync, openSync } from "node:fs";

/**
 * The codes of the errors of systems that cannot sync (fsync), such as network file systems, and Windows for a
 * directory.
 */
const unsupported = ["EINVAL", "ENOTSUP", "EOPNOTSUPP", "EISDIR", "EPERM"];

/** Waits until a file's content, or the names in a directory, are on the disk (fsync), where the system can do that. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } catch (error) {
    if (!unsupported.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    closeSync(descriptor);
  }
}
