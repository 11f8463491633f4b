import { spawnSync } from "node:child_process";

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** As it was built. */
export const cli = "dist/svc/main.js";

/** Runs the command line with an environment of nothing but its path and what is given. */
export function svc(args: readonly string[], input = "", environment: Readonly<Record<string, string>> = {}): Outcome {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
    input,
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...environment },
  });
  return { status, stdout, stderr };
}
