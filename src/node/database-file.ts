import { resolve } from "node:path";

/**
 * The embedded database of a project in `directory`; null where `database.url` names a server. That the URL makes a path
 * is checked in project/parse-config.ts.
 */
export function databaseFile(
  { database: { url } }: { readonly database: { readonly url: string } },
  directory: string,
): string | null {
  return url.startsWith("file:") ? resolve(directory, decodeURIComponent(url.slice("file:".length))) : null;
}

/** The database at `path`, and the files that SQLite keeps beside it. */
export function filesOfDatabase(path: string): readonly string[] {
  return ["", "-wal", "-shm", "-journal"].map((suffix) => path + suffix);
}
