import { unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";

/** How often the files are looked at. Looking finds changes behind symbolic links and on any file system. */
const everyMs = 250;
/** After the last change of a file, so that two files that are written one after the other are one change. */
const quietMs = 200;

/** Calls `act` after files of a directory have changed, by their names. Returns a function that ends this. */
export function watchFiles(directory: string, names: readonly string[], act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(act, quietMs);
  };
  const paths = names.map((name) => join(directory, name));
  for (const path of paths) watchFile(path, { interval: everyMs, persistent: false }, changed);
  return () => {
    clearTimeout(timer);
    for (const path of paths) unwatchFile(path, changed);
  };
}
