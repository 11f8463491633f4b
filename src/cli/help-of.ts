import type { Command } from "./command.js";

/** What `--help` prints of a command; docs/reference/command-line.md holds it too. */
export function helpOf({ name, usage, summary, help }: Command): string {
  return [
    `svc ${`${name} ${usage}`.trim()}`,
    "",
    summary,
    "",
    ...[...help, "--dir DIR    the project's directory (default: here)"].map((line) => `  ${line}`),
  ].join("\n");
}
