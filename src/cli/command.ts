import { type ParseArgsConfig, parseArgs } from "node:util";
import { isRefusal, type Refusal } from "../http/refusal.js";

/** One command of `svc`: its help, the options that it takes, and what it does. */
export interface Command {
  /** The name of the command as it is typed, such as `schema apply`. */
  readonly name: string;
  /** The command's positional arguments and options, as shown in the help. */
  readonly usage: string;
  readonly summary: string;
  readonly options: NonNullable<ParseArgsConfig["options"]>;
  /** The lines that `--help` prints below the command's summary, mostly one for each option. */
  readonly help: readonly string[];
  /** Names of the command's required positional arguments. */
  readonly positionals: readonly string[];
  /** The name of one more positional argument of the command, which may be left out. */
  readonly optional?: string;
  run(invocation: Invocation): Promise<ExitCode>;
}

/**
 * The exit code of a command: 0 success, 1 a refusal, 2 wrong arguments or configuration
 * (`docs/reference/command-line.md#exit-codes`).
 */
export type ExitCode = 0 | 1 | 2;

/** The arguments and the environment of one run of a command. */
export interface Invocation {
  readonly directory: string;
  readonly positionals: readonly string[];
  readonly json: boolean;
  text(option: string): string | undefined;
  texts(option: string): readonly string[];
  flag(option: string): boolean;
  readonly environment: NodeJS.ProcessEnv;
}

/** The error for wrong arguments. The command line prints its message and the command's help, and exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The error by which a command refuses to do something. The command line prints its message and exits with 1. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

/** Returns the outcome of an action. If the outcome is a refusal, throws RefusedError with the refusal's message. */
export function unlessRefused<T extends object>(outcome: T | Refusal): T {
  if (isRefusal(outcome)) throw new RefusedError(outcome.message);
  return outcome;
}

const common = {
  dir: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/**
 * Parses the arguments of a command. Returns null where they contain `--help`. Throws UsageError where they are wrong.
 */
export function readInvocation(
  command: Command,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Invocation | null {
  const { values, positionals } = parse(command, args);
  const given = new Map<string, unknown>(Object.entries(values));
  if (values.help === true) return null;
  const more = positionals.length - command.positionals.length;
  if (more < 0 || more > (command.optional === undefined ? 0 : 1))
    throw new UsageError(
      command.positionals.length === 0
        ? `no argument expected, got ${positionals.join(" ")}`
        : `expected ${command.positionals.join(" ")}`,
    );
  return {
    directory: values.dir ?? ".",
    positionals,
    json: values.json === true,
    text: (option) => given.get(option) as string | undefined,
    texts: (option) => (given.get(option) as string[] | undefined) ?? [],
    flag: (option) => given.get(option) === true,
    environment,
  };
}

function parse(command: Command, args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { ...common, ...command.options }, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
