import { closeSync, fsyncSync, openSync } from "node:fs";

/** What systems answer that cannot do it, such as file systems of a network, and Windows for a directory. */
const unsupported = ["EINVAL", "ENOTSUP", "EOPNOTSUPP", "EISDIR", "EPERM"];

/** Waits until the disk has a file's content, or a directory's names, where the system can do that. */
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
