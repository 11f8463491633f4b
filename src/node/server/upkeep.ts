import type { Upkeep } from "../../assemble/upkeep.js";
import type { Log } from "../../platform/platform.js";

/** The background work that timers start. */
export type UpkeepWork = Omit<Upkeep, "due">;

const deliverEveryMs = 5_000;
const purgeEveryMs = 60_000;
const collectEveryMs = 15_000;

/** Background work that has been started. */
export interface RunningUpkeep {
  /**
   * Starts no more work, and waits up to `waitMsMax` ms for what is running. If the delivery of a mail is not recorded,
   * the mail is sent again.
   */
  stop(waitMsMax: number): Promise<void>;
}

/**
 * Takes up the waiting mails and purges at the start, and then delivers mails, purges and collects usage by timers. The
 * timers do not keep the process alive. `work` returns the work of the app that serves at that time.
 */
export function startUpkeep(work: () => UpkeepWork, log: Log): RunningUpkeep {
  const running = new Set<Promise<void>>();
  const lastFailures = new Map<keyof UpkeepWork, string>();
  const run = (task: keyof UpkeepWork): void => {
    const done = work()
      [task]()
      .then(
        () => {
          lastFailures.delete(task);
        },
        (error: unknown) => {
          // A failure that repeats is logged once: otherwise a database that is unreachable for an hour would fill 700
          // lines of the log.
          if (String(error) !== lastFailures.get(task)) log.error("background work failed", error);
          lastFailures.set(task, String(error));
        },
      );
    running.add(done);
    void done.then(() => running.delete(done));
  };
  const timers = [
    setInterval(() => run("deliverMail"), deliverEveryMs),
    setInterval(() => run("purge"), purgeEveryMs),
    setInterval(() => run("collectUsage"), collectEveryMs),
  ];
  for (const timer of timers) timer.unref();
  run("resumeMail");
  run("purge");
  return {
    stop: async (waitMsMax) => {
      for (const timer of timers) clearInterval(timer);
      let deadline: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        deadline = setTimeout(resolve, waitMsMax);
      });
      await Promise.race([Promise.all([work().finish(), ...running]), late]);
      clearTimeout(deadline);
    },
  };
}
