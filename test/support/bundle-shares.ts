import { existsSync, readdirSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";

/** The size of one part of a bundle, in bytes: minified, and that gzipped by itself. */
export interface Share {
  /** A package (`hono`), a folder of the project (`src/auth`), `binaries`, `other` or `total`. */
  readonly name: string;
  readonly bytes: number;
  readonly gzipped: number;
}

/**
 * What a built Worker consists of, the largest part first and the total last. Parts that are gzipped by themselves add up to
 * more than the total does.
 *
 * @param directory where `npm run build` has left the modules, their source maps and the binaries: `dist/worker/modules`. Throws
 *   where there is none.
 */
export function bundleShares(directory: string, isMeant = (_module: string) => true): readonly Share[] {
  const read = (name: string) => readFileSync(join(directory, name));
  const named = (suffix: string) => readdirSync(directory).filter((name) => name.endsWith(suffix));
  const binaries = Buffer.concat(named(".wasm").map(read));
  const texts = new Map<string, string>();
  const modules = named(".js").filter(isMeant);
  for (const name of modules) {
    // A module that only passes exports on has no source.
    if (!existsSync(join(directory, `${name}.map`))) {
      texts.set(other, (texts.get(other) ?? "") + read(name).toString());
      continue;
    }
    const map = JSON.parse(read(`${name}.map`).toString()) as SourceMapPayload;
    const partOfSource = new Map(map.sources.map((source) => [source, partOf(resolve(directory, source))]));
    addTexts(texts, read(name).toString(), new SourceMap(map), partOfSource);
  }
  const parts = [...texts].map(([name, text]) => share(name, Buffer.from(text)));
  return [
    ...[...parts, share("binaries", binaries)].sort((a, b) => b.bytes - a.bytes),
    share("total", Buffer.concat([...modules.map(read), binaries])),
  ];
}

function share(name: string, content: Buffer): Share {
  return { name, bytes: content.length, gzipped: gzipSync(content).length };
}

/** The package or the folder that a file belongs to, by its absolute path. */
function partOf(path: string): string {
  // The build's copy of the package, with its binaries taken out.
  if (path.endsWith("/wasm/hash-wasm.js")) return "hash-wasm";
  const [, dependency] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  const [, own] = /.*\/dist\/([^/]+)/.exec(path) ?? [];
  return dependency ?? (own ? `src/${own.replace(/\.js$/, ".ts")}` : other);
}

/** What has no source is the bundler's own. */
const other = "other";

/** Adds the characters of a module to the texts of the parts that they come from. */
function addTexts(
  texts: Map<string, string>,
  code: string,
  map: SourceMap,
  partOfSource: ReadonlyMap<string | undefined, string>,
): void {
  for (const [i, line] of code.split(/(?<=\n)/).entries())
    for (let column = 0; column < line.length; column++) {
      const { originalSource } = map.findEntry(i, column) as { readonly originalSource?: string };
      const part = partOfSource.get(originalSource) ?? other;
      texts.set(part, (texts.get(part) ?? "") + line[column]);
    }
}
