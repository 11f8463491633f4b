import type { Command } from "./command.js";

/** What `--help` prints for a command. docs/reference/command-line.md contains the same text. */
export function helpOf({ name, usage, summary, help }: Command): string {
  const dir = help.some((line) => line.startsWith("--dir "))
    ? []
    : ["--dir DIR    the project's directory (default: here)"];
  return [`svc ${`${name} ${usage}`.trim()}`, "", summary, "", ...[...help, ...dir].map((line) => `  ${line}`)].join(
    "\n",
  );
}
