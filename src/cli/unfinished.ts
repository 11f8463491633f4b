import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { syncToDisk } from "../node/journal/sync-to-disk.js";
import { privateDirectory } from "../node/private-files.js";

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/**
 * How long the process waits at most, after the first signal to end it, for a thread to close its files. After a second
 * signal it does not wait.
 */
const threadWaitMs = 5000;

/**
 * Runs `work` with a new directory inside `folder`, which only its owner may read, and which is removed in any case. If
 * the work fails or a signal ends the process, the functions in `undo` are run too, the last one first; what could not
 * be removed is printed. `work` passes the promise of what another thread does to `held` and awaits the promise that
 * this returns. A signal then waits until the thread is done, and `work` does not go on after it.
 */
export async function leavingNothing<T>(
  folder: string,
  work: (stage: string, undo: (() => void)[], held: (thread: Promise<void>) => Promise<void>) => Promise<T>,
): Promise<T> {
  const stage = fs.mkdtempSync(join(folder, ".svc-unfinished-"));
  const undo: (() => void)[] = [() => fs.rmSync(stage, { recursive: true, force: true })];
  let thread: Promise<void> | null = null;
  let signals = 0;
  const finish = () => {
    for (const remove of undo.toReversed())
      try {
        remove();
      } catch (error) {
        console.error(`could not be removed: ${(error as Error).message}`);
      }
    for (const signal of endingSignals) process.off(signal, interrupt);
  };
  const interrupt = async (signal: NodeJS.Signals) => {
    if (++signals === 1) await Promise.race([Promise.allSettled([thread]), setTimeout(threadWaitMs)]);
    finish();
    // The listeners are removed by now, so the signal ends the process as usual, even if other threads are running.
    process.kill(process.pid, signal);
  };
  for (const signal of endingSignals) process.on(signal, interrupt);
  try {
    const result = await work(stage, undo, (running) => {
      thread = running;
      return running.finally(() => (signals > 0 ? new Promise(() => {}) : undefined));
    });
    undo.length = 1;
    return result;
  } finally {
    finish();
  }
}

/**
 * `path` if something exists there, else the nearest directory above that exists. A broken symbolic link counts as
 * existing.
 */
export function nearestName(path: string): string {
  return fs.lstatSync(path, { throwIfNoEntry: false }) ? path : nearestName(dirname(path));
}

/**
 * Makes a directory and its missing parents. The functions in `undo` remove no directory into which somebody has put
 * something.
 */
export function makeDirectory(path: string, undo: (() => void)[], mode?: number): void {
  if (fs.existsSync(path)) return;
  makeDirectory(dirname(path), undo, mode);
  fs.mkdirSync(path, { mode });
  undo.push(() => fs.rmdirSync(path));
}

/**
 * Puts the finished file `from` also at `to`, written through to the disk. Throws EEXIST if something is at `to`
 * already.
 */
export function place(from: string, to: string, undo: (() => void)[]): void {
  makeDirectory(dirname(to), undo, privateDirectory);
  // Renaming would overwrite what somebody has put at `to` meanwhile.
  try {
    fs.linkSync(from, to);
  } catch {
    // No link can be made on another file system, or on one without links, such as that of a USB stick.
    fs.copyFileSync(from, to, fs.constants.COPYFILE_EXCL);
  }
  undo.push(() => fs.rmSync(to, { force: true }));
  syncToDisk(to);
  syncToDisk(dirname(to));
}
