/**
 * Makes a queue: each piece of work that is passed to the returned function begins when the previous one has ended,
 * whether that succeeded or failed.
 */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
}
