/**
 * A value, or a promise of it. Functions return this type where the value is mostly known at once, because wrapping it
 * in a promise would take as long as some of them take to compute it.
 */
export type AtOnce<T> = T | Promise<T>;

/** Passes the value to `then`: at once if it is there, else when its promise resolves. */
export function whenThere<T, U>(value: AtOnce<T>, then: (value: T) => AtOnce<U>): AtOnce<U> {
  return value instanceof Promise ? value.then(then) : then(value);
}
