import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { closeOwnFolder, makePrivateDirectory, privateFile } from "./private-files.js";

/** The sealed credentials of a project's sign-in providers, one file each (`docs/guides/sign-in-providers.md`). */
export interface CredentialFiles {
  /** Null if none are installed. */
  read(provider: string): Promise<string | null>;
  write(provider: string, sealed: string): Promise<void>;
  /** Returns whether there were any. */
  remove(provider: string): Promise<boolean>;
  /** The names of the sign-in providers that have credentials. */
  list(): Promise<readonly string[]>;
}

const folder = join(".svc", "secrets", "auth-providers");
const suffix = ".json.sealed";

/**
 * The files in .svc/secrets of the project, which only their owner can read. `provider` becomes part of a file name, so
 * callers pass only names of known providers.
 */
export function credentialFiles(directory: string): CredentialFiles {
  const place = join(directory, folder);
  const fileOf = (provider: string) => join(place, provider + suffix);
  return {
    read: (provider) => orNull(readFile(fileOf(provider), "utf8")),
    write: async (provider, sealed) => {
      makePrivateDirectory(place);
      closeOwnFolder(directory);
      // Renamed after writing, so that a server that reads meanwhile sees the old text or the new one, never half of
      // it.
      const written = `${fileOf(provider)}.${process.pid}.new`;
      await writeFile(written, `${sealed}\n`, { mode: privateFile });
      await rename(written, fileOf(provider));
    },
    remove: async (provider) => (await orNull(rm(fileOf(provider)).then(() => true))) ?? false,
    list: async () => {
      const names = (await orNull(readdir(place))) ?? [];
      return names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length));
    },
  };
}

async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
