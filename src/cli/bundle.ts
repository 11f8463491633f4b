// The last step of `npm run build`: the command line in few files of CommonJS, each with its code cache, as loading hundreds and
// compiling them takes half of a server's start. What is native, or loaded late, stays where it is installed.
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { writeCodeCaches } from "./code-cache.js";

const built = (path: string) => join(import.meta.dirname, "..", path);
const directory = built("svc");

rmSync(directory, { recursive: true, force: true });
const bundle = await rolldown({
  input: {
    main: built("cli/start.js"),
    svc: built("cli/main.js"),
    "libsql-file-worker": built("node/libsql-file-worker.js"),
  },
  platform: "node",
  external: ["@node-rs/argon2", "@node-rs/bcrypt", "libsql", "nodemailer", "tar-stream"],
});
const { output } = await bundle.write({
  dir: directory,
  format: "cjs",
  // `require` instead: an `import` behind a code cache finds nothing to load it with.
  dynamicImportInCjs: false,
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  // What most commands share is one file.
  codeSplitting: { groups: [{ name: "shared", minShareCount: 3 }] },
});
writeFileSync(join(directory, "package.json"), '{ "type": "commonjs" }\n');
// npm does so where it installs, which is once for many builds.
chmodSync(join(directory, "main.js"), 0o755);

// A thread loads its file by itself.
const unloaded = ["main.js", "libsql-file-worker.js"];
const names = output.map(({ fileName }) => fileName).filter((name) => !unloaded.includes(name));
writeCodeCaches(directory, names);
