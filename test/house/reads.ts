import { posix } from "node:path";
import type { Declared, Source } from "./source.js";

/** Exports of src that no other file of src imports, each as `PATH NAME`. */
export interface Unread {
  /** Tests import them. */
  readonly readByTestsAlone: readonly string[];
  /** No test imports them, either. Types are left out: they document what a function takes and returns. */
  readonly readByNobody: readonly string[];
}

/**
 * @param tests their paths and what they read are relative to the checkout, those of `sources` to src
 * @param entries files of src that the package exports, whose readers are elsewhere
 */
export function unreadExports(
  sources: readonly Source[],
  tests: readonly Source[],
  entries: readonly string[],
): Unread {
  const readInSource = readersOf(sources);
  const readInTests = readersOf(tests, "src");
  const unread = sources
    .filter(({ path }) => !entries.includes(path))
    .flatMap(({ path, declared }) => declared.filter(isExported).map((one) => ({ ...one, path })))
    .filter(({ path, name }) => !readInSource(path, name));
  const label = ({ path, name }: { path: string; name: string }) => `${path} ${name}`;
  return {
    readByTestsAlone: unread.filter(({ path, name }) => readInTests(path, name)).map(label),
    readByNobody: unread.filter(({ path, name, kind }) => kind !== "type" && !readInTests(path, name)).map(label),
  };
}

/** Whether one of these files reads a name of a file. */
function readersOf(sources: readonly Source[], root = ""): (path: string, name: string) => boolean {
  const read = new Set(
    sources.flatMap(({ reads }) => reads.map(({ path, name }) => `${posix.relative(root, path)} ${name}`)),
  );
  return (path, name) => read.has(`${path} ${name}`) || read.has(`${path} *`);
}

const isExported = ({ exported }: Declared) => exported;
