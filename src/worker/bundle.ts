// A step of `npm run build:worker`: `node bundle.js ENTRY DIRECTORY` makes a Worker one module with the binaries that it
// imports beside it, which wrangler uploads as they are. What wrangler's own bundler makes is 4 % larger.
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
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

/** A module of one class: whoever calls it all the same is thrown at. */
const unusedClass = "virtual:unused";
const one: Plugin = {
  name: "one",
  resolveId: { filter: { id: /^virtual:unused$/ }, handler: (id) => id },
  load: { filter: { id: /^virtual:unused$/ }, handler: () => "export class Unused {}" },
};

/**
 * Parts of libraries that no path of a Worker comes to, but that a bundler cannot know of: it reads YAML 1.2 and writes
 * none, reads no forms and writes no HTML by Hono, and encrypts no tokens. They would be a twentieth of it.
 */
const unused: Plugin = {
  name: "unused",
  load: {
    filter: {
      id: [
        /\/yaml\/browser\/dist\/(stringify\/|schema\/(json\/|yaml-1\.1\/(?!merge))|doc\/(createNode|applyReviver|anchors)|parse\/cst-visit)/,
        /\/hono\/dist\/(utils\/(mount|body|html)|helper\/route\/index)\.js$/,
        /\/jose\/dist\/webapi\/lib\/jwe_algorithms\.js$/,
      ],
    },
    handler(file) {
      const [, list] = /^export \{([^}]+)\};?\s*$/m.exec(readFileSync(file, "utf8")) ?? [];
      if (list === undefined) throw new Error(`${file} exports in another way than it used to`);
      const names = list.split(",").map((name) => name.trim().split(" as ").at(-1));
      return `import { Unused } from "${unusedClass}";\nexport { ${names.map((name) => `Unused as ${name}`).join(", ")} };`;
    },
  },
};

/** Of statements that are written over several lines, where there are no other texts. */
const indentation: Plugin = {
  name: "indentation",
  transform: {
    filter: { id: /\/dist\/(auth\/store|metering|platform|schema|tables\/sql)\// },
    // Lines stay where they are, which is what the source map is for.
    handler: (code) => ({ code: code.replace(/\n +/g, "\n"), map: null }),
  },
};

const bundle = await rolldown({
  input: { index: entry },
  platform: "browser",
  // The runtime's own.
  external: ["cloudflare:workers"],
  resolve: {
    // workerd compiles no WebAssembly at run time.
    alias: { "hash-wasm": join(import.meta.dirname, "wasm/hash-wasm.js") },
    conditionNames: ["workerd", "worker", "browser"],
    extensionAlias: { ".js": [".ts", ".js"] },
  },
  plugins: [binaries, one, unused, indentation],
  // No module is imported for what it does when it is loaded.
  treeshake: { moduleSideEffects: false, propertyReadSideEffects: false },
});
await bundle.write({
  dir: directory,
  minify: true,
  comments: false,
  sourcemap: "hidden",
  codeSplitting: false,
});
