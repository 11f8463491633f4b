/**
 * A value, or a promise of it. Most values of this type are known synchronously, and wrapping each in a promise would
 * cost as much as computing some of them.
 */
export type AtOnce<T> = T | Promise<T>;

/** Passes the value to `then`: at once if it is there, else when its promise resolves. */
export function whenThere<T, U>(value: AtOnce<T>, then: (value: T) => AtOnce<U>): AtOnce<U> {
  return value instanceof Promise ? value.then(then) : then(value);
}
