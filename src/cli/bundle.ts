// The last step of `npm run build`: bundles the command line into a few CommonJS files, each with its V8 code cache.
// Loading and compiling hundreds of files would take half of the time of a server's start. Native packages are not
// bundled.
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
    library: built("node/server/create-svc.js"),
    "libsql-file-worker": built("node/database/libsql-file-worker.js"),
    "libsql-long-work-thread": built("node/database/libsql-long-work-thread.js"),
    "schema-plan-thread": built("node/plans/schema-plan-thread.js"),
  },
  platform: "node",
  external: ["@node-rs/argon2", "@node-rs/bcrypt", "libsql", "libsql/promise"],
});
const { output } = await bundle.write({
  dir: directory,
  format: "cjs",
  comments: false,
  // Turns each dynamic `import()` into `require`, because code from a code cache cannot use `import()`.
  dynamicImportInCjs: false,
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  // Modules that three or more entry points use go into one common file.
  codeSplitting: { groups: [{ name: "shared", minShareCount: 3 }] },
});
writeFileSync(join(directory, "package.json"), '{ "type": "commonjs" }\n');
// npm makes the command executable when it installs the package, but not again after each build.
chmodSync(join(directory, "main.js"), 0o755);

// Node itself compiles these: `main.js`, which loads the other files from their caches, those that Node loads for
// threads, and what other programs import.
const unloaded = [
  "main.js",
  "library.js",
  "libsql-file-worker.js",
  "libsql-long-work-thread.js",
  "schema-plan-thread.js",
];
const names = output.map(({ fileName }) => fileName).filter((name) => !unloaded.includes(name));
writeCodeCaches(directory, names);
