import { type ParseArgsConfig, parseArgs } from "node:util";
import { isRefusal, type Refusal } from "../http/refusal.js";

/** One command of `svc`. */
export interface Command {
  /** As it is typed, such as `schema apply`. */
  readonly name: string;
  /** The positional arguments and options, as shown in the help. */
  readonly usage: string;
  readonly summary: string;
  readonly options: NonNullable<ParseArgsConfig["options"]>;
  /** Printed by `--help` below the summary, mostly one line for each option. */
  readonly help: readonly string[];
  /** The required positional arguments. */
  readonly positionals: readonly string[];
  /** One more positional argument, which may be left out. */
  readonly optional?: string;
  /** Any number of further positional arguments. */
  readonly others?: string;
  run(invocation: Invocation): Promise<ExitCode>;
}

/**
 * 0 success, 1 a refusal, 2 wrong arguments or configuration, 3 a plan that waits for a person
 * (`docs/reference/command-line.md#exit-codes`).
 */
export type ExitCode = 0 | 1 | 2 | 3;

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

/** Wrong arguments. The command line prints the message and the command's help, and exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A command refuses to do something. The command line prints the message and exits with 1. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

/** Throws RefusedError with a refusal's message. */
export function unlessRefused<T extends object>(outcome: T | Refusal): T {
  if (isRefusal(outcome)) throw new RefusedError(outcome.message);
  return outcome;
}

const common = {
  dir: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Null if the arguments contain `--help`. Throws UsageError if they are wrong. */
export function readInvocation(
  command: Command,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Invocation | null {
  const { values, positionals } = parse(command, args);
  const given = new Map<string, unknown>(Object.entries(values));
  if (values.help === true) return null;
  const more = positionals.length - command.positionals.length;
  const moreMax = command.others !== undefined ? Number.POSITIVE_INFINITY : command.optional !== undefined ? 1 : 0;
  if (more < 0 || more > moreMax)
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
