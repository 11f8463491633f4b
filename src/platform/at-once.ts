/**
 * A value, or a promise of it, for functions that mostly know it at once: a promise would take as long as some of them
 * take to compute the value.
 */
export type AtOnce<T> = T | Promise<T>;

/** Passes the value to `then`: at once if it is there, else when its promise resolves. */
export function whenThere<T, U>(value: AtOnce<T>, then: (value: T) => AtOnce<U>): AtOnce<U> {
  return value instanceof Promise ? value.then(then) : then(value);
}
