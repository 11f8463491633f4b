import { DeadlineError, type LongWork } from "../platform/database.js";

/**
 * Settles as `work` does, or rejects with DeadlineError after `long.withinMs` milliseconds. The work itself goes on:
 * neither D1 nor a libSQL server takes a statement back.
 */
export async function beforeDeadline<T>(work: Promise<T>, long: LongWork | undefined): Promise<T> {
  if (long === undefined) return work;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const end = () => reject(new DeadlineError("the database did not answer before the deadline"));
    timer = setTimeout(end, long.withinMs);
  });
  // Otherwise the runtime would report a failure after the deadline as an unhandled rejection.
  work.catch(() => {});
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
