import { resolve } from "node:path";

/**
 * The path of the embedded database; null if `database.url` names a server. `parseConfig` has checked that a `file:`
 * URL can be decoded to a path.
 */
export function databaseFile(
  { database: { url } }: { readonly database: { readonly url: string } },
  directory: string,
): string | null {
  return url.startsWith("file:") ? resolve(directory, decodeURIComponent(url.slice("file:".length))) : null;
}

/** The database file and the files that SQLite keeps next to it, whether or not they exist. */
export function filesOfDatabase(path: string): readonly string[] {
  return ["", "-wal", "-shm", "-journal"].map((suffix) => path + suffix);
}

/** The file that a server keeps locked while it has the database open (see `file-lock.ts`). */
export function lockOfDatabase(path: string): string {
  return `${path}-lock`;
}
