import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync, constants as zlib } from "node:zlib";
import { type OutputChunk, rolldown } from "rolldown";

/** Style sheets in the order in which they apply. */
const styles = ["tokens", "base", "shell", "parts", "grid", "screens"];

async function scripts(source: string): Promise<readonly OutputChunk[]> {
  const bundle = await rolldown({
    input: { console: join(source, "app", "main.tsx") },
    platform: "browser",
    tsconfig: join(source, "tsconfig.json"),
    resolve: { extensionAlias: { ".js": [".ts", ".tsx", ".js"] } },
  });
  const { output } = await bundle.generate({
    format: "esm",
    minify: true,
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: "[name]-[hash].js",
    // What every screen needs is one file, instead of many small ones.
    codeSplitting: {
      groups: [{ name: "base", test: /console\/(app|callers|parts|server|texts)|preact|src\/client/ }],
    },
  });
  return output.filter((file) => file.type === "chunk");
}

/** The style sheets as one, without comments and indentation. */
function styleSheet(source: string): { readonly name: string; readonly text: string } {
  const whole = styles.map((name) => readFileSync(join(source, "style", `${name}.css`), "utf8")).join("\n");
  const text = whole
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .replaceAll(/\n(?=[{}])|(?<=[{};,])\n| (?=\{)|(?<=\{) /g, "")
    .trim();
  return { name: `console-${hashOf(text)}.css`, text };
}

/** What an entry has to load before it runs: its imports, and theirs. */
function loadedFirst(entry: OutputChunk, chunks: readonly OutputChunk[]): readonly OutputChunk[] {
  const found = new Set([entry]);
  for (const chunk of found)
    for (const name of chunk.imports) {
      const imported = chunks.find(({ fileName }) => fileName === name);
      if (imported) found.add(imported);
    }
  return [...found];
}

function page(source: string, entry: OutputChunk, first: readonly OutputChunk[], css: string): string {
  const preloads = first
    .filter((chunk) => chunk !== entry)
    .map(({ fileName }) => `<link rel="modulepreload" href="/console/assets/${fileName}">`);
  return readFileSync(join(source, "index.html"), "utf8")
    .replace("<!-- preloads -->", preloads.join(""))
    .replace("console.css", `/console/assets/${css}`)
    .replace("console.js", `/console/assets/${entry.fileName}`);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 8);
}

/** Writes a file with its compressed forms, and returns its gzipped size in bytes. */
function write(path: string, text: string): number {
  const bytes = Buffer.from(text);
  const gzipped = gzipSync(bytes, { level: 9 });
  const params = { [zlib.BROTLI_PARAM_QUALITY]: 9 };
  writeFileSync(path, bytes);
  writeFileSync(`${path}.gz`, gzipped);
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
  return gzipped.length;
}

/** The sizes of the page in bytes, gzipped. */
export interface ConsoleSizes {
  /** What is loaded before the first screen is. */
  readonly first: number;
  /** All there is, with what is loaded by what somebody does. */
  readonly all: number;
}

/**
 * Makes the console's page from its folder of sources: `index.html`, and `assets` whose names hold a hash of what is in them.
 * Beside each file lie the same bytes as .br and .gz, which the server sends as they are.
 */
export async function bundleConsole(source: string, target: string): Promise<ConsoleSizes> {
  const assets = join(target, "assets");
  rmSync(assets, { recursive: true, force: true });
  mkdirSync(assets, { recursive: true });
  const chunks = await scripts(source);
  const entry = chunks.find(({ isEntry }) => isEntry)!;
  const first = loadedFirst(entry, chunks);
  const css = styleSheet(source);
  const sizes = new Map(chunks.map((chunk) => [chunk, write(join(assets, chunk.fileName), chunk.code)]));
  const html = page(source, entry, first, css.name);
  const around = write(join(assets, css.name), css.text) + write(join(target, "index.html"), html);
  const sum = (some: readonly OutputChunk[]) =>
    some.reduce((bytes, chunk) => bytes + sizes.get(chunk)!, around);
  return { first: sum(first), all: sum(chunks) };
}
