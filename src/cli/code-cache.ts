import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

/**
 * The version and build of the running Node; a code cache is used only by the build that made it. V8 itself checks only
 * its own version, its flags and the length of the source; a cache of another build that passes these checks can crash
 * the process.
 */
export const thisBuild = JSON.stringify([process.version, process.arch, process.platform, process.config]);

const checksumBytes = 4;

/** The file of the code cache of a JavaScript file. */
export const codeCacheOf = (path: string): string => `${path}.cache`;

/**
 * Compiles a CommonJS file into the function that Node would wrap it in. Uses its code cache if that is undamaged and
 * made by this build of Node.
 */
export function load(path: string): Script {
  const source = sourceOf(path);
  return compile(basename(path), source, codeCache(path, source));
}

/**
 * Writes the code caches of the files `names` in `directory`. A cache contains all functions of its file, but not the
 * directory's path, so it stays valid where the package is installed.
 */
export function writeCodeCaches(directory: string, names: readonly string[], build = thisBuild): void {
  setFlagsFromString("--no-lazy");
  const compiled = names.map((name) => {
    const path = join(directory, name);
    const source = sourceOf(path);
    return { path, source, script: compile(name, source) };
  });
  // `--no-lazy`, by which all functions are compiled at once, is reset before the caches are made: V8 refuses a cache
  // that was made under other flags than it runs with.
  setFlagsFromString("--lazy");
  for (const { path, source, script } of compiled) {
    const data = script.createCachedData();
    const sum = Buffer.alloc(checksumBytes);
    sum.writeUInt32LE(checksum(build, source, data));
    writeFileSync(codeCacheOf(path), Buffer.concat([data, sum]));
  }
}

function sourceOf(path: string): string {
  return `(function (exports, require, module, __filename, __dirname) {${readFileSync(path, "utf8")}\n})`;
}

function compile(filename: string, source: string, cachedData?: Buffer): Script {
  return new Script(source, { filename, cachedData });
}

function codeCache(path: string, source: string): Buffer | undefined {
  try {
    const file = readFileSync(codeCacheOf(path));
    const data = file.subarray(0, -checksumBytes);
    return file.readUInt32LE(data.length) === checksum(thisBuild, source, data) ? data : undefined;
  } catch {
    return undefined;
  }
}

function checksum(build: string, source: string, data: Buffer): number {
  return crc32(data, crc32(source, crc32(build)));
}
