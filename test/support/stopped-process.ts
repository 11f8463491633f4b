import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { vi } from "vitest";
import { statOf } from "./cpu-time.js";
import { patiently } from "./patience.js";

/** Stops a process, and resolves once every thread of it stands still: from then on it answers nobody. */
export async function stopProcess(id: number): Promise<void> {
  process.kill(id, "SIGSTOP");
  await vi.waitUntil(() => statesOf(id).every((state) => state === "T"), patiently);
}

/** Lets a stopped process go on, and resolves once every thread of it does. */
export async function continueProcess(id: number): Promise<void> {
  process.kill(id, "SIGCONT");
  await vi.waitUntil(() => statesOf(id).every((state) => state !== "T"), patiently);
}

/** Of each thread that still runs, as proc_pid_stat(5) names it; where there is no /proc, of the process. Throws where it has ended. */
function statesOf(id: number): readonly string[] {
  const states = existsSync("/proc/self")
    ? readdirSync(`/proc/${id}/task`).flatMap((thread) => statOf(`${id}/task/${thread}`)?.[0] ?? [])
    : [spawnSync("ps", ["-o", "state=", "-p", String(id)], { encoding: "utf8" }).stdout.charAt(0)];
  const left = states.filter((state) => !/^[ZX]?$/.test(state));
  if (left.length === 0) throw new Error(`the process ${id} has ended`);
  return left;
}
