/** Most answers are known at once, and a promise of each would cost as much as finding some of them. */
export type AtOnce<T> = T | Promise<T>;

/** `then` of what is there, now or later. */
export function whenThere<T, U>(value: AtOnce<T>, then: (value: T) => AtOnce<U>): AtOnce<U> {
  return value instanceof Promise ? value.then(then) : then(value);
}
