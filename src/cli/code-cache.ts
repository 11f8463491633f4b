import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

/** Of Node. V8 looks at its own version, its flags and the length of a source: what it takes of another build crashes. */
export const thisBuild = JSON.stringify([process.version, process.arch, process.platform, process.config]);

const checksumBytes = 4;

/** Where the build leaves what V8 has compiled of a file. */
export const codeCacheOf = (path: string): string => `${path}.cache`;

/** A file of CommonJS as the function that Node would make of it, from its code cache where that is whole and of this build. */
export function load(path: string): Script {
  const source = sourceOf(path);
  return compile(basename(path), source, codeCache(path, source));
}

/** Writes the code caches of files, with all their functions and without the path of their directory. */
export function writeCodeCaches(directory: string, names: readonly string[], build = thisBuild): void {
  setFlagsFromString("--no-lazy");
  const compiled = names.map((name) => {
    const path = join(directory, name);
    const source = sourceOf(path);
    return { path, source, script: compile(name, source) };
  });
  // V8 refuses what other flags have made.
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
