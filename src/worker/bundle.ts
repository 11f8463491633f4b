// A step of `npm run build`: `node bundle.js DIRECTORY ENTRY…` bundles a Worker into few modules, next to the WebAssembly
// binaries that they import. wrangler uploads these files as they are, because its own bundler would make them a tenth
// larger.
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type Plugin, rolldown } from "rolldown";

const [directory, ...entries] = process.argv.slice(2).map((path) => resolve(path)) as [string, ...string[]];

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
  input: Object.fromEntries(entries.map((entry) => [basename(entry).replace(/\.[jt]s$/, ""), entry])),
  platform: "browser",
  // workerd provides this module.
  external: ["cloudflare:workers"],
  resolve: {
    // wasm/extract.ts makes this copy, because workerd does not compile WebAssembly at run time.
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
  entryFileNames: "[name].js",
  chunkFileNames: "[name].js",
  // What the entries share with each other and with the modules that are loaded late.
  codeSplitting: { groups: [{ name: "shared", minShareCount: 2 }] },
});
