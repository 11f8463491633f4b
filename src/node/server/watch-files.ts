import { watch } from "node:fs";

/** After the last change of a file, so that two files that are written one after the other are one change. */
const quietMs = 200;

/**
 * Calls `act` after files of a directory have changed, by their names. It watches the directory, because editors replace
 * a file rather than write into it. Returns a function that ends this.
 */
export function watchFiles(directory: string, names: readonly string[], act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(directory, (_, name) => {
    // Some systems do not tell the name.
    if (name !== null && !names.includes(name)) return;
    clearTimeout(timer);
    timer = setTimeout(act, quietMs);
  });
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}
