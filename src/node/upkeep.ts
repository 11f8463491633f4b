import type { Log } from "../platform/platform.js";

export interface UpkeepWork {
  resumeMail(): Promise<void>;
  deliverMail(): Promise<void>;
  purge(): Promise<void>;
  collectUsage(): Promise<void>;
  finish(): Promise<void>;
}

const deliverEveryMs = 5_000;
const purgeEveryMs = 60_000;
const collectEveryMs = 15_000;

export interface RunningUpkeep {
  /** Waits for what is being done, no longer than that: a mail whose delivery nobody noted would be sent again. */
  stop(waitMsMax: number): Promise<void>;
}

/** Does at start, and then now and then, what no request does. It does not keep the process alive. */
export function startUpkeep(work: UpkeepWork, log: Log): RunningUpkeep {
  const running = new Set<Promise<void>>();
  const lastFailures = new Map<() => Promise<void>, string>();
  const run = (task: () => Promise<void>): void => {
    const done = task().then(
      () => {
        lastFailures.delete(task);
      },
      (error: unknown) => {
        // A storage that is away for an hour is one line, not seven hundred.
        if (String(error) !== lastFailures.get(task)) log.error("background work failed", error);
        lastFailures.set(task, String(error));
      },
    );
    running.add(done);
    void done.then(() => running.delete(done));
  };
  const timers = [
    setInterval(() => run(work.deliverMail), deliverEveryMs),
    setInterval(() => run(work.purge), purgeEveryMs),
    setInterval(() => run(work.collectUsage), collectEveryMs),
  ];
  for (const timer of timers) timer.unref();
  run(work.resumeMail);
  run(work.purge);
  return {
    stop: async (waitMsMax) => {
      for (const timer of timers) clearInterval(timer);
      let deadline: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        deadline = setTimeout(resolve, waitMsMax);
      });
      await Promise.race([Promise.all([work.finish(), ...running]), late]);
      clearTimeout(deadline);
    },
  };
}
