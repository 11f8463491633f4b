import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync, constants as zlib } from "node:zlib";
import { type OutputChunk, rolldown } from "rolldown";

/** The style sheets in the order in which they override each other. */
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
    // One file for the modules that every screen needs, instead of many small requests.
    codeSplitting: {
      groups: [{ name: "base", test: /console\/(app|callers|parts|server|texts)|preact|src\/client/ }],
    },
  });
  return output.filter((file) => file.type === "chunk");
}

/** All style sheets joined into one, without comments and indentation. */
function styleSheet(source: string): { readonly name: string; readonly text: string } {
  const whole = styles.map((name) => readFileSync(join(source, "style", `${name}.css`), "utf8")).join("\n");
  const text = whole
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .replaceAll(/\n(?=[{}])|(?<=[{};,])\n| (?=\{)|(?<=\{) /g, "")
    .trim();
  return { name: `console-${hashOf(text)}.css`, text };
}

/** The entry chunk and all chunks that it imports statically, directly or through others. */
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

/** Writes a file and its .gz and .br forms. Returns its gzipped size in bytes. */
function write(path: string, text: string): number {
  const bytes = Buffer.from(text);
  const gzipped = gzipSync(bytes, { level: 9 });
  const params = { [zlib.BROTLI_PARAM_QUALITY]: 9 };
  writeFileSync(path, bytes);
  writeFileSync(`${path}.gz`, gzipped);
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
  return gzipped.length;
}

/** The gzipped size of the page in bytes. */
export interface ConsoleSizes {
  /** What is loaded before the first screen: the page, its styles and the code that every screen needs. */
  readonly first: number;
  /** Everything, with the code of screens and other parts that is loaded only when they are opened. */
  readonly all: number;
}

/**
 * Bundles the console's page into `target`: `index.html`, and the folder `assets`, whose file names hold a hash of the
 * content. Each file also has .br and .gz forms, which the server sends without compressing anything itself.
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
  const sum = (some: readonly OutputChunk[]) => some.reduce((bytes, chunk) => bytes + sizes.get(chunk)!, around);
  return { first: sum(first), all: sum(chunks) };
}
