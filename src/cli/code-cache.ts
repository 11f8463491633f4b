import { readFileSync } from "node:fs";
import { Script } from "node:vm";

/** Where the build leaves what V8 has compiled of a file. */
export const codeCacheOf = (path: string): string => `${path}.cache`;

/** A file of CommonJS as the function that Node would make of it. Data of another version of V8 is not used. */
export function compile(path: string, cachedData?: Buffer): Script {
  const parameters = "exports, require, module, __filename, __dirname";
  return new Script(`(function (${parameters}) {${readFileSync(path, "utf8")}\n})`, {
    filename: path,
    cachedData,
  });
}
