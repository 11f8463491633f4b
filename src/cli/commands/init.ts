import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { isSea } from "node:sea";
import { configFile, schemaFile } from "../../project/file-names.js";
import { type Command, RefusedError, UsageError } from "../command.js";
import {
  configTemplate,
  demoConfig,
  demoPage,
  demoSeeds,
  schemaTemplate,
  testsTemplate,
  wranglerTemplate,
} from "../project-template.js";
import { withScripts } from "../with-scripts.js";

const testsFile = "rules.test.yaml";

const init: Command = {
  name: "init",
  usage: "[DIR] [--demo | --worker]",
  summary: "Writes a small commented project to DIR: svc.toml, svc.schema.yaml, tests of its rules, and .gitignore.",
  options: { demo: { type: "boolean" }, worker: { type: "boolean" } },
  help: [
    "DIR (default: here) is created if it does not exist. Nothing is overwritten: a .gitignore gets the lines that it",
    "lacks, and a package.json the scripts that it lacks.",
    "You can serve the project at once. Its secret is for development and works only on this machine.",
    "--demo        also writes seeds for `svc seed`, and a page that shows them",
    "--worker      also writes wrangler.toml and a package.json, for Cloudflare Workers",
    "--dir BASE    the directory that DIR is relative to (default: here)",
  ],
  positionals: [],
  optional: "DIR",
  run: async ({ directory, positionals, flag }) => {
    const target = resolve(directory, positionals[0] ?? ".");
    const purpose: Purpose = { isWorker: flag("worker"), isDemo: flag("demo") };
    if (purpose.isDemo && purpose.isWorker) throw new UsageError("--demo and --worker do not go together");
    if (purpose.isWorker && isSea())
      throw new RefusedError("a Worker's project needs the package svc-server: npm i svc-server");
    const files = projectFiles(target, purpose);
    const taken = Object.keys(files).filter((file) => existsSync(join(target, file)));
    if (taken.length > 0)
      throw new RefusedError(`${target} holds ${taken.join(", ")} already, and nothing is overwritten`);
    // Read before anything is written: a package.json that is not JSON refuses all.
    const edits = editsOf(target, purpose.isWorker);
    mkdirSync(target, { recursive: true });
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(target, file)), { recursive: true });
      writeFileSync(join(target, file), text, { flag: "wx" });
    }
    for (const [file, text] of Object.entries(edits)) writeFileSync(join(target, file), text);
    const written = [...Object.keys(files), ...Object.keys(edits)];
    console.log(nextSteps(relative(process.cwd(), target), written, purpose));
    return 0;
  },
};

/** `svc init` */
export const commands: readonly Command[] = [init];

/** For what the project is, besides a server under Node. */
interface Purpose {
  readonly isWorker: boolean;
  readonly isDemo: boolean;
}

function projectFiles(target: string, { isWorker, isDemo }: Purpose): Readonly<Record<string, string>> {
  return {
    [configFile]: configTemplate(randomBytes(32).toString("base64")) + (isDemo ? demoConfig : ""),
    [schemaFile]: schemaTemplate,
    [testsFile]: testsTemplate,
    ...(isDemo && { "seeds/demo.yaml": demoSeeds, "public/index.html": demoPage }),
    ...(isWorker && { "wrangler.toml": wranglerTemplate(workerName(target)) }),
  };
}

/** The name of the directory, as Cloudflare takes one: at most 63 small letters, digits and dashes. */
function workerName(target: string): string {
  const name = basename(target)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-");
  return name.replace(/^-+|-+$/g, "").slice(0, 63) || "svc";
}

/** The files of the owner that get lines which they lack, by their new text. Throws RefusedError if one cannot be read. */
function editsOf(target: string, isWorker: boolean): Readonly<Record<string, string>> {
  const read = (file: string) => (existsSync(join(target, file)) ? readFileSync(join(target, file), "utf8") : null);
  const edits: Record<string, string> = {};
  const edit = (file: string, change: (text: string | null) => string | null) => {
    const text = read(file);
    const changed = change(text);
    if (changed !== null && changed !== text) edits[file] = changed;
  };
  edit(".gitignore", (text) => withIgnored(text, isWorker));
  edit("package.json", (text) => withScripts(text, isWorker));
  return edits;
}

function withIgnored(text: string | null, isWorker: boolean): string {
  const lines = [".svc", "node_modules", ...(isWorker ? [".wrangler", ".dev.vars"] : [])];
  const there = new Set((text ?? "").split("\n").map((line) => line.trim().replace(/^\/|\/$/g, "")));
  const missing = lines.filter((line) => !there.has(line)).map((line) => `${line}\n`);
  const before = text === null || text === "" || text.endsWith("\n") ? (text ?? "") : `${text}\n`;
  return before + missing.join("");
}

/** How a user calls this command: as a single executable by its own path, else as npm has installed it. */
const svc = isSea() ? relative(process.cwd(), process.execPath) : "npx svc";

function nextSteps(shown: string, written: readonly string[], { isWorker, isDemo }: Purpose): string {
  const at = shown === "" ? "" : ` --dir ${shown}`;
  const worker = [
    "",
    "For Cloudflare Workers, install wrangler (`npm i`) and svc-server here, and then:",
    "",
    `  ${svc} worker dev${at}    serves it in a local workerd`,
    "",
    "Before `npx wrangler deploy`, put the id that `npx wrangler d1 create` prints into wrangler.toml.",
  ];
  return [
    `wrote ${written.join(", ")}${shown === "" ? "" : ` into ${shown}`}`,
    "",
    ...(isDemo ? [`  ${svc} seed${at}             writes the rows of seeds/demo.yaml, which the page shows`] : []),
    `  ${svc} serve --watch${at}    serves it on http://127.0.0.1:8787, and takes changes over`,
    `  ${svc} check${at}            says what is wrong after a change`,
    `  ${svc} test${at}             tries what ${testsFile} says that users may do`,
    "",
    "It prints a link that makes an administrator, who may create products. The same without a browser:",
    "",
    `  echo 'a password' | ${svc} admin create-user --email you@example.com --role admin --password-stdin${at}`,
    ...(isWorker ? worker : []),
  ].join("\n");
}
