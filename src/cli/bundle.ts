// The last step of `npm run build`: the command line in few files, as loading hundreds takes half of a server's start. What is
// native, or loaded late, stays where it is installed.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const built = (path: string) => join(import.meta.dirname, "..", path);
const directory = built("svc");

rmSync(directory, { recursive: true, force: true });
const bundle = await rolldown({
  input: {
    main: built("cli/main.js"),
    "libsql-file-worker": built("node/libsql-file-worker.js"),
  },
  platform: "node",
  external: [
    "@node-rs/argon2",
    "@node-rs/bcrypt",
    "libsql",
    "@libsql/client/web",
    "nodemailer",
    "tar-stream",
  ],
});
await bundle.write({
  dir: directory,
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  // What most commands share is one file.
  codeSplitting: { groups: [{ name: "shared", minShareCount: 3 }] },
});
