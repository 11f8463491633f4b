import { readdirSync, readFileSync } from "node:fs";

/** What Linux counts of a process, in clock ticks. */
interface Counted {
  readonly parent: number;
  /** Its own time and that of the children that it has waited for, and of theirs. */
  readonly ticks: number;
}

/** USER_HZ, which is 100 on every machine that Node runs on. */
const ticksPerSecond = 100;

/**
 * Seconds of the processor, user's and system's, of this process, of every process below it that still runs, and of every
 * one that has ended and that its parent waited for. Not of one whose parent ended before it, and not of what began before
 * this process. Null where there is no /proc.
 */
export function cpuSeconds(): number | null {
  const processes = readProcesses();
  if (!processes.has(process.pid)) return null;
  const isBelow = (id: number): boolean => {
    const one = processes.get(id);
    return one !== undefined && (id === process.pid || isBelow(one.parent));
  };
  const ticks = [...processes].filter(([id]) => isBelow(id)).map(([, one]) => one.ticks);
  return ticks.reduce((a, b) => a + b, 0) / ticksPerSecond;
}

function readProcesses(): ReadonlyMap<number, Counted> {
  const processes = new Map<number, Counted>();
  for (const name of entriesOf("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const fields = statOf(name);
    if (fields === null) continue;
    const [, parent] = fields;
    // utime, stime, cutime and cstime of proc_pid_stat(5).
    const ticks = fields.slice(11, 15).map(Number);
    processes.set(Number(name), { parent: Number(parent), ticks: ticks.reduce((a, b) => a + b, 0) });
  }
  return processes;
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/**
 * What stands in /proc/ID/stat behind the name, which may hold spaces: first the state. Null where there is no such process, or
 * thread (`ID/task/ID`).
 */
export function statOf(id: string): string[] | null {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}
