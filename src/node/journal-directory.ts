import type { Dirent } from "node:fs";
import { readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { isLockFile } from "./directory-lock.js";

/** Journals by their names, in which nothing is but what a journal has. Anything else is somebody's, and is left alone. */
export async function journalsIn(directory: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await entriesIn(directory)) {
    if (!entry.isDirectory() || !/^[0-9a-f]{16}$/.test(entry.name)) continue;
    const inside = await entriesIn(join(directory, entry.name));
    if (inside.every((each) => each.isFile() && (isLockFile(each.name) || isSegment(each.name))))
      found.push(entry.name);
  }
  return found;
}

export async function segmentsIn(directory: string): Promise<readonly string[]> {
  const entries = await entriesIn(directory);
  return entries.flatMap((entry) => (entry.isFile() && isSegment(entry.name) ? [entry.name] : [])).sort();
}

function isSegment(name: string): boolean {
  return /^\d{8}\.log$/.test(name);
}

function entriesIn(directory: string): Promise<readonly Dirent[]> {
  return readdir(directory, { withFileTypes: true }).catch(emptyIfMissing);
}

/** Of a journal whose segments are stored and gone. Whatever else lies in it keeps it. */
export async function removeJournal(path: string): Promise<void> {
  for (const { name } of await entriesIn(path))
    if (isLockFile(name)) await rm(join(path, name), { force: true });
  try {
    await rmdir(path);
  } catch (error) {
    // Another process has just made a lock in it, to see what was left behind, and removes it in its turn, or has done so.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "ENOENT") throw error;
  }
}

function emptyIfMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === "ENOENT") return [];
  throw error;
}
