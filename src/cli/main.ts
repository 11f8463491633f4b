import { UnavailableError } from "../platform/database.js";
import { release } from "../platform/release.js";
import { didYouMean } from "../problems/did-you-mean.js";
import { ProblemsError } from "../problems/problem.js";
import { type Command, type ExitCode, RefusedError, readInvocation, UsageError } from "./command.js";
import { helpOf } from "./help-of.js";

/**
 * By the first word of a command. Only the module of the command that was typed is loaded; the list of all commands
 * needs them all.
 */
const groups: Readonly<Record<string, () => Promise<{ readonly commands: readonly Command[] }>>> = {
  init: () => import("./commands/init.js"),
  serve: () => import("./commands/serve.js"),
  check: () => import("./commands/check.js"),
  health: () => import("./commands/health.js"),
  schema: () => import("./commands/schema.js"),
  op: () => import("./commands/op.js"),
  test: () => import("./commands/test.js"),
  seed: () => import("./commands/seed.js"),
  explain: () => import("./commands/explain.js"),
  history: () => import("./commands/history.js"),
  admin: () => import("./commands/admin.js"),
  auth: () => import("./commands/auth-provider.js"),
  usage: () => import("./commands/usage.js"),
  worker: () => import("./commands/worker.js"),
  gen: () => import("./commands/gen.js"),
  export: () => import("./commands/export.js"),
  import: () => import("./commands/import.js"),
};

// Node exits with this code if nothing is left to do although the command has not finished.
process.exitCode = 1;
main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});

async function main(args: readonly string[]): Promise<ExitCode> {
  const [word = ""] = args;
  if (!Object.hasOwn(groups, word)) return withoutCommand(args);
  const { commands } = await groups[word]!();
  const command = commands.find(({ name }) => name.split(" ").every((part, i) => args[i] === part));
  if (command === undefined) return withinGroup(commands, args);
  try {
    const rest = args.slice(command.name.split(" ").length);
    const invocation = readInvocation(command, rest, process.env);
    if (invocation !== null) return await command.run(invocation);
    console.log(helpOf(command));
    return 0;
  } catch (error) {
    return failed(command, error);
  }
}

/** Handles `svc`, `svc help`, `svc --version` and unknown first words. */
async function withoutCommand([word]: readonly string[]): Promise<ExitCode> {
  if (word === "--version") {
    console.log(release);
    return 0;
  }
  if (word !== undefined && !["help", "--help", "-h"].includes(word)) {
    const meant = didYouMean(word, Object.keys(groups));
    console.error(`svc: unknown command: ${word}${meant}\nsvc --help lists them all`);
    return 2;
  }
  const all = await Promise.all(Object.values(groups).map((load) => load()));
  console.log(overview(all.flatMap(({ commands }) => commands)));
  return 0;
}

function withinGroup(commands: readonly Command[], args: readonly string[]): ExitCode {
  const firstOption = args.findIndex((arg) => arg.startsWith("-"));
  const words = firstOption === -1 ? args : args.slice(0, firstOption);
  if (args.includes("--help") || args.includes("-h")) {
    console.log(overview(commands));
    return 0;
  }
  const written = words.join(" ");
  const names = commands.map(({ name }) => name);
  const problem = names.some((name) => name.startsWith(`${written} `))
    ? `${written} needs one of these`
    : `unknown command: ${written}${didYouMean(written, names)}`;
  console.error(`svc: ${problem}\n\n${overview(commands)}`);
  return 2;
}

function overview(commands: readonly Command[]): string {
  const lines = commands.map(({ name, usage, summary }) => `  svc ${`${name} ${usage}`.trim()}\n      ${summary}`);
  return [
    "svc: a backend in a box",
    "",
    ...lines,
    "",
    "Every command takes --dir DIR, where svc.toml and svc.schema.yaml are (default: here), and --help.",
    "svc --version prints the version.",
  ].join("\n");
}

function failed(command: Command, error: unknown): ExitCode {
  if (error instanceof UsageError) {
    console.error(`svc ${command.name}: ${error.message}\n\n${helpOf(command)}`);
    return 2;
  }
  if (error instanceof ProblemsError) {
    console.error(error.message);
    return 2;
  }
  if (error instanceof RefusedError || error instanceof UnavailableError) {
    console.error(`svc ${command.name}: ${error.message}`);
    return 1;
  }
  if (isSystemError(error)) {
    const hint = error.code === "EADDRINUSE" ? "; --port or PORT chooses another, 0 a free one" : "";
    console.error(`svc ${command.name}: ${error.message}${hint}`);
    return 1;
  }
  throw error;
}

/** Such as a port in use or a file that cannot be read. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}
