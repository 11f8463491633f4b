import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { constants, Script } from "node:vm";

export interface LoadedModule<Exports> {
  readonly exports: Exports;
  /** Writes what has been compiled of it until now for the next `loadModule`. */
  writeCache(): void;
}

/**
 * A CommonJS module of one file, with what V8 has compiled of it once (v8.dev/blog/code-caching-for-devs): to compile it is a
 * fifth of a start. Another release of Node compiles it anew. `path` is absolute, the text ASCII.
 */
export function loadModule<Exports>(path: string): LoadedModule<Exports> {
  const cachePath = `${path}.cache`;
  // On one line with what is there, so that stacks tell its lines.
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(path, "latin1")}\n})`;
  const script = new Script(source, {
    filename: path,
    cachedData: readIfThere(cachePath),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(path), module, path, dirname(path));
  return {
    exports: module.exports as Exports,
    writeCache: () => writeFileSync(cachePath, script.createCachedData()),
  };
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
