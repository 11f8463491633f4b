import { DeadlineError, type LongWork } from "../platform/database.js";

/**
 * Settles as `work` does, or rejects with DeadlineError once `long.withinMs` milliseconds have passed. Without `long`
 * there is no deadline. The work itself goes on after the deadline: neither D1 nor a libSQL server takes a statement
 * back.
 */
export async function beforeDeadline<T>(work: Promise<T>, long: LongWork | undefined): Promise<T> {
  if (long === undefined) return work;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const end = () => reject(new DeadlineError("the database did not answer before the deadline"));
    timer = setTimeout(end, long.withinMs);
  });
  // A failure of the database's work after the deadline is ignored; otherwise the runtime would report an unhandled
  // rejection.
  work.catch(() => {});
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
