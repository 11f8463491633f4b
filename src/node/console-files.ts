import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConsoleFile, ConsoleFiles, ContentCoding } from "../platform/console-files.js";

const suffixes: Readonly<Record<ContentCoding, string>> = { br: ".br", gzip: ".gz" };

/**
 * Reads the console's files from a directory, where the build has put compressed copies next to them. Files stay in
 * memory, so that later requests do not wait for the disk.
 */
export function consoleFiles(directory: string): ConsoleFiles {
  const kept = new Map<string, ConsoleFile>();
  const fileOf = async (name: string, coding: ContentCoding | null): Promise<ConsoleFile | null> => {
    const known = kept.get(name);
    if (known !== undefined) return known;
    const bytes = await readFile(join(directory, name)).catch(() => null);
    if (bytes === null) return null;
    const file = { bytes: new Uint8Array(bytes), coding };
    kept.set(name, file);
    return file;
  };
  return {
    read: async (path, codings) => {
      for (const coding of codings) {
        const file = await fileOf(path + suffixes[coding], coding);
        if (file !== null) return file;
      }
      return fileOf(path, null);
    },
  };
}
