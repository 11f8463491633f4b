// A step of `npm run build:worker`: `node bundle.js ENTRY DIRECTORY` bundles a Worker into one module, and copies the
// WebAssembly binaries that it imports beside it. wrangler uploads these files as they are, because wrangler's own
// bundler would make the module a tenth larger.
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type Plugin, rolldown } from "rolldown";

const [entry, directory] = process.argv.slice(2).map((path) => resolve(path)) as [string, string];

rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });

const binaries: Plugin = {
  name: "binaries",
  resolveId: {
    filter: { id: /\.wasm$/ },
    handler(path, importer) {
      copyFileSync(resolve(dirname(importer!), path), join(directory, basename(path)));
      return { id: `./${basename(path)}`, external: true };
    },
  },
};

const bundle = await rolldown({
  input: { index: entry },
  platform: "browser",
  // The module `cloudflare:workers` is not put into the bundle: workerd, the runtime of Workers, provides it.
  external: ["cloudflare:workers"],
  resolve: {
    // hash-wasm is replaced by the copy that wasm/extract.ts makes, because workerd does not compile WebAssembly at run
    // time.
    alias: { "hash-wasm": join(import.meta.dirname, "wasm/hash-wasm.js") },
    extensionAlias: { ".js": [".ts", ".js"] },
  },
  plugins: [binaries],
});
await bundle.write({
  dir: directory,
  minify: true,
  comments: false,
  sourcemap: "hidden",
  codeSplitting: false,
});
