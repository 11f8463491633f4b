import { spawnSync } from "node:child_process";

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line as it was built, with an environment of nothing but its path. */
export function svc(args: readonly string[], input = ""): Outcome {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["dist/cli/main.js", ...args], {
    input,
    encoding: "utf8",
    env: { PATH: process.env.PATH },
  });
  return { status, stdout, stderr };
}
