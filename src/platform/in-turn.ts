/**
 * Makes a queue: a function that is passed pieces of work, and begins each of them when the one before has ended,
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
