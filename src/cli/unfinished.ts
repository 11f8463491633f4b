import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

/** What a command has made so far. */
export interface Made {
  /** A fresh directory inside of `folder`, readable by its owner alone; it goes in every case. */
  temporary(folder: string): string;
  /** Makes what is missing of `folder`; goes with the work unless somebody else has put something into it. */
  directory(folder: string): void;
  /** A file that goes unless the work succeeds. */
  file(path: string): void;
}

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Does `work`, and removes what it made when it fails or a signal ends it, the last first. */
export async function leavingNothing<T>(work: (made: Made) => Promise<T>): Promise<T> {
  const temporary: string[] = [];
  const removals: (() => void)[] = [];
  const removeAll = () => {
    for (const path of temporary) rmSync(path, { recursive: true, force: true });
    for (const remove of removals.toReversed()) remove();
  };
  const interrupted = (signal: NodeJS.Signals) => {
    removeAll();
    // The listener is gone, so this ends the process as if there had been none, whatever other threads do.
    for (const each of endingSignals) process.off(each, interrupted);
    process.kill(process.pid, signal);
  };
  for (const signal of endingSignals) process.on(signal, interrupted);
  try {
    const result = await work({
      temporary: (folder) => {
        const path = mkdtempSync(join(folder, ".svc-unfinished-"));
        temporary.push(path);
        return path;
      },
      directory: (folder) => {
        for (const missing of missingOf(folder)) {
          mkdirSync(missing);
          removals.push(() => removeIfEmpty(missing));
        }
      },
      file: (path) => removals.push(() => rmSync(path, { force: true })),
    });
    removals.length = 0;
    return result;
  } finally {
    removeAll();
    for (const signal of endingSignals) process.off(signal, interrupted);
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
    if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}
