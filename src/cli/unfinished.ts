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
import { setTimeout } from "node:timers/promises";

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
  let thread: Promise<unknown> | null = null;
  let interrupted = false;
  const finish = () => {
    for (const remove of [...temporary, ...unlessDone.toReversed()])
      try {
        remove();
      } catch (error) {
        console.error(`could not be removed: ${(error as Error).message}`);
      }
    for (const signal of endingSignals) process.off(signal, interrupt);
  };
  const interrupt = async (signal: NodeJS.Signals) => {
    if (!interrupted) {
      interrupted = true;
      await Promise.race([Promise.allSettled([thread]), setTimeout(threadWaitMs)]);
    }
    finish();
    // No listener is left, so this ends the process as if there had been none, whatever other threads do.
    process.kill(process.pid, signal);
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
          unlessDone.push(() => doneUnless(["ENOTEMPTY", "EEXIST", "ENOENT"], () => rmdirSync(missing)));
        }
      },
      place: (from, to) => {
        // A rename would overwrite what came there meanwhile; neither of these does.
        const isLinked = doneUnless(withoutLinks, () => linkSync(from, to));
        // Removes what it made where it fails.
        if (!isLinked) copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
        unlessDone.push(() => rmSync(to, { force: true }));
        if (!isLinked) sync(to);
        syncDirectory(dirname(to));
      },
      replace: (from, to) => {
        renameSync(from, to);
        syncDirectory(dirname(to));
      },
      thread: async (running) => {
        thread = running;
        await Promise.allSettled([running]);
        // The work does not go on: `interrupt` ends it.
        return interrupted ? new Promise(() => {}) : running;
      },
    });
    unlessDone.length = 0;
    return result;
  } finally {
    finish();
  }
}

/** The outermost first. */
function missingOf(folder: string): readonly string[] {
  return existsSync(folder) ? [] : [...missingOf(dirname(folder)), folder];
}

/** Another file system, or one without links, such as a memory stick's. */
const withoutLinks = ["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/** As far as the file system can: some on a network, or of a process of their own, know nothing like it. */
function syncDirectory(path: string): void {
  doneUnless(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "EISDIR"], () => sync(path));
}

function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** True once it is done, and false where it fails with one of these codes. */
function doneUnless(codes: readonly string[], action: () => void): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return false;
  }
}
