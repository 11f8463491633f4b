import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** What a command has made so far. */
export interface Made {
  /** A fresh directory inside of `folder`, readable by its owner alone; it goes in every case. */
  temporary(folder: string): string;
  /** Makes what is missing of `folder`; goes with the work unless somebody else has put something into it. */
  directory(folder: string, mode?: number): void;
  /** Puts a finished file where nothing is yet; it goes unless the work succeeds. Throws EEXIST where something is. */
  place(from: string, to: string): void;
  /** Moves a finished file over what is there, in one step. It stays, so this is the last that work does. */
  replace(from: string, to: string): void;
  /** Waits for another thread, which a signal lets come to its end for a while: what it has open, it closes. */
  thread<T>(work: Promise<T>): Promise<T>;
}

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** For whoever waits after Ctrl-C; a second one does not. */
const threadWaitMs = 5000;

/**
 * Does `work`, and removes what it made when it fails or a signal ends it, the last first. What cannot be removed is told
 * on standard error, and hides neither the failure nor the signal.
 */
export async function leavingNothing<T>(work: (made: Made) => Promise<T>): Promise<T> {
  const temporary: (() => void)[] = [];
  const unlessDone: (() => void)[] = [];
  const threads = new Set<Promise<unknown>>();
  let interrupted = false;
  const removeAll = () => [...temporary, ...unlessDone.toReversed()].forEach(attempt);
  const stopListening = () => endingSignals.forEach((signal) => void process.off(signal, interrupt));
  const end = (signal: NodeJS.Signals) => {
    removeAll();
    stopListening();
    // No listener is left, so this ends the process as if there had been none, whatever other threads do.
    process.kill(process.pid, signal);
  };
  const interrupt = (signal: NodeJS.Signals) => {
    if (interrupted || threads.size === 0) return end(signal);
    interrupted = true;
    setTimeout(end, threadWaitMs, signal);
    void Promise.allSettled(threads).then(() => end(signal));
  };
  for (const signal of endingSignals) process.on(signal, interrupt);
  try {
    const result = await work({
      temporary: (folder) => {
        const path = mkdtempSync(join(folder, ".svc-unfinished-"));
        temporary.push(() => rmSync(path, { recursive: true, force: true }));
        return path;
      },
      directory: (folder, mode) => {
        for (const missing of missingOf(folder)) {
          mkdirSync(missing, { mode });
          unlessDone.push(() => removeIfEmpty(missing));
        }
      },
      place: (from, to) => {
        const how = linkOrCopy(from, to);
        unlessDone.push(() => rmSync(to, { force: true }));
        if (how === "copied") syncPath(to);
        syncDirectory(dirname(to));
      },
      replace: (from, to) => {
        renameSync(from, to);
        syncDirectory(dirname(to));
      },
      thread: async (running) => {
        threads.add(running);
        try {
          return await running;
        } finally {
          threads.delete(running);
          // The work does not go on: `interrupt` ends it.
          if (interrupted) await new Promise(() => {});
        }
      },
    });
    unlessDone.length = 0;
    return result;
  } finally {
    removeAll();
    stopListening();
  }
}

function attempt(removal: () => void): void {
  try {
    removal();
  } catch (error) {
    console.error(`could not be removed: ${(error as Error).message}`);
  }
}

/** The outermost first. */
function missingOf(folder: string): readonly string[] {
  return existsSync(folder) ? [] : [...missingOf(dirname(folder)), folder];
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!hasCode(error, ["ENOTEMPTY", "EEXIST", "ENOENT"])) throw error;
  }
}

/** A rename would overwrite what came there meanwhile; neither of these does. */
function linkOrCopy(from: string, to: string): "linked" | "copied" {
  try {
    linkSync(from, to);
    return "linked";
  } catch (error) {
    // Another file system, or one without links, such as a memory stick's.
    if (!hasCode(error, ["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"])) throw error;
    // Removes what it made where it fails.
    copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    return "copied";
  }
}

/** As far as the file system can: some on a network, or of a process of their own, know nothing like it. */
function syncDirectory(path: string): void {
  try {
    syncPath(path);
  } catch (error) {
    if (!hasCode(error, ["EINVAL", "ENOTSUP", "EOPNOTSUPP", "EISDIR"])) throw error;
  }
}

function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? "");
}
