import { closeSync, fsyncSync, openSync } from "node:fs";

/** The errors of systems that cannot sync, such as network file systems, and Windows for a directory. */
const unsupported = ["EINVAL", "ENOTSUP", "EOPNOTSUPP", "EISDIR", "EPERM"];

/** Waits until a file's content, or the names in a directory, are on the disk, if the system can do that. */
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
