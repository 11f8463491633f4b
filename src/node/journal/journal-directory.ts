import type { Dirent } from "node:fs";
import { readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { isLockFile } from "../database/directory-lock.js";

/**
 * The names of the journals of receipts in a directory. A journal is a subdirectory whose name has 16 hexadecimal
 * digits and that holds nothing but segments and lock files; others are not the server's and are left alone. Empty if
 * the directory is missing.
 */
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

/** The files that hold a journal's receipts, oldest first. */
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

/**
 * Removes the directory of a journal whose segments have been stored and deleted. A directory that holds anything else
 * stays.
 */
export async function removeJournal(path: string): Promise<void> {
  for (const { name } of await entriesIn(path)) if (isLockFile(name)) await rm(join(path, name), { force: true });
  try {
    await rmdir(path);
  } catch (error) {
    // The directory may be gone, or not empty: another process that looks for receipts to recover has made a lock file
    // in it, and removes the directory itself.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "ENOENT") throw error;
  }
}

function emptyIfMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === "ENOENT") return [];
  throw error;
}
