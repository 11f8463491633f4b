// The last step of `npm run build`: the command line in few files, as loading hundreds takes half of a server's start. What is
// native, or loaded late, stays where it is installed.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type InputOptions, rolldown } from "rolldown";
import { warmUp } from "./warm-up.js";

const built = (path: string) => join(import.meta.dirname, "..", path);
const directory = built("svc");
const commandLinePath = join(directory, "svc.cjs");
const options: InputOptions = {
  platform: "node",
  external: ["libsql", "@libsql/client/web", "nodemailer", "tar-stream"],
};

rmSync(directory, { recursive: true, force: true });
mkdirSync(directory);
const commandLine = await rolldown({ ...options, input: built("cli/main.js") });
const { output } = await commandLine.generate({ format: "cjs", codeSplitting: false, comments: false });
writeFileSync(commandLinePath, ascii(output[0].code));
const others = await rolldown({
  ...options,
  input: {
    main: built("cli/launch.js"),
    "argon2-worker": built("node/argon2-worker.js"),
    "libsql-file-worker": built("node/libsql-file-worker.js"),
  },
});
await others.write({ dir: directory, entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" });
await warmUp(commandLinePath);

/** V8 keeps a text of ASCII in a byte a character, any other in two. */
function ascii(code: string): string {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
