import { isAbsolute, relative, sep } from "node:path";

/** Whether `path` is `directory` itself or inside it. Compares absolute paths only: symbolic links are not followed. */
export function isWithin(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
