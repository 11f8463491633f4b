#!/usr/bin/env node
import { UnavailableError } from "../platform/database.js";
import { ProblemsError } from "../project/problem.js";
import { type Command, type ExitCode, RefusedError, readInvocation, UsageError } from "./command.js";
import {
  createServiceKey,
  createUser,
  listServiceKeys,
  listUsers,
  revokeServiceKey,
  setUser,
} from "./commands/admin.js";
import {
  listAuthProviders,
  removeAuthProvider,
  sealedAuthProvider,
  setAuthProvider,
} from "./commands/auth-provider.js";
import { check } from "./commands/check.js";
import { schemaApply, schemaPlan, schemaPull } from "./commands/schema.js";
import { serveCommand } from "./commands/serve.js";
import { usageExport, usageRecover } from "./commands/usage.js";
import { workerBootstrap, workerBuild } from "./commands/worker.js";

const commands: readonly Command[] = [
  serveCommand,
  check,
  schemaPlan,
  schemaApply,
  schemaPull,
  createUser,
  listUsers,
  createServiceKey,
  listServiceKeys,
  revokeServiceKey,
  setUser,
  setAuthProvider,
  listAuthProviders,
  removeAuthProvider,
  sealedAuthProvider,
  usageExport,
  usageRecover,
  workerBuild,
  workerBootstrap,
];

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<ExitCode> {
  const command = commands.find(({ name }) => name.split(" ").every((word, i) => args[i] === word));
  if (command === undefined) return withoutCommand(args);
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

function withoutCommand(args: readonly string[]): ExitCode {
  const wantsHelp = args.length === 0 || args.includes("--help") || args.includes("-h") || args[0] === "help";
  if (wantsHelp) {
    console.log(
      overview(commands.filter(({ name }) => args[0] === undefined || name.startsWith(`${args[0]} `))),
    );
    return 0;
  }
  const group = commands.filter(({ name }) => name.startsWith(`${args[0]} `));
  console.error(`svc: unknown command: ${args.slice(0, 2).join(" ")}\n\n${overview(group)}`);
  return 2;
}

function overview(some: readonly Command[]): string {
  const shown = some.length === 0 ? commands : some;
  const lines = shown.map(
    ({ name, usage, summary }) => `  svc ${`${name} ${usage}`.trim()}\n      ${summary}`,
  );
  return [
    "svc: a backend in a box",
    "",
    ...lines,
    "",
    "Every command takes --dir DIR, where svc.toml and svc.schema.yaml are (default: here), and --help.",
  ].join("\n");
}

function helpOf({ name, usage, summary, help }: Command): string {
  const common = ["--dir DIR    the project's directory (default: here)"];
  return [
    `svc ${`${name} ${usage}`.trim()}`,
    "",
    summary,
    "",
    ...[...help, ...common].map((line) => `  ${line}`),
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

/** Of Node: a port in use, a file that cannot be read. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}
