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

/** Makes files and directories for a command, and records them for removal. */
export interface Made {
  /** Makes a new directory inside of `folder`, readable by its owner alone. It is removed in any case. */
  temporary(folder: string): string;
  /**
   * Makes `folder` and its missing parents. They are removed if the work fails, unless somebody else has put
   * something into them.
   */
  directory(folder: string, mode?: number): void;
  /**
   * Places a finished file at a free path. It is removed if the work fails. Throws EEXIST where the path is taken.
   */
  place(from: string, to: string): void;
  /**
   * Moves a finished file over an existing one, in one step. It is not undone, so it has to be the last step of the
   * work.
   */
  replace(from: string, to: string): void;
  /**
   * Waits for work in another thread. After a signal, the thread has some seconds to finish, so that it closes the
   * files that it has open.
   */
  thread<T>(work: Promise<T>): Promise<T>;
}

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** How long the first Ctrl-C waits for a thread; a second one does not wait. */
const threadWaitMs = 5000;

/**
 * Runs `work`. If it fails or a signal ends the process, removes what it has made, the last first. A file that cannot
 * be removed is reported on standard error, and the original failure or signal still counts.
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
    // `finish` has removed the listeners, so the signal now ends the process as usual, even if other threads are
    // running.
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
        // A rename would overwrite a file that somebody has placed there meanwhile; a link and an exclusive copy do
        // not.
        const isLinked = doneUnless(withoutLinks, () => linkSync(from, to));
        // Removes its incomplete copy if it fails.
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
        // After a signal the work must not continue: this never settles, and `interrupt` ends the process.
        return interrupted ? new Promise(() => {}) : running;
      },
    });
    unlessDone.length = 0;
    return result;
  } finally {
    finish();
  }
}

/** The missing directories of a path, the outermost first. */
function missingOf(folder: string): readonly string[] {
  return existsSync(folder) ? [] : [...missingOf(dirname(folder)), folder];
}

/** Error codes of linking to another file system, or on one without links, such as that of a USB stick. */
const withoutLinks = ["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/**
 * Flushes a directory to the disk, where the file system supports that: some network and user-space file systems do
 * not.
 */
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

/** True if the action succeeds, false if it fails with one of these codes. Throws other errors. */
function doneUnless(codes: readonly string[], action: () => void): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return false;
  }
}
