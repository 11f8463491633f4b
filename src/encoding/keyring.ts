/**
 * A value that belongs to the server's current secret and, while that secret replaces another one, the same for the
 * previous secret (docs/deploy.md#changing-the-secret). Such values are the secrets themselves and what is derived from
 * them, such as keys. New tokens are made with `current`; presented ones are accepted with either (`underEither`).
 */
export interface Keyring<T> {
  readonly current: T;
  /** The value of the previous secret; null where there is none. */
  readonly previous: T | null;
}

/** The keyring of what `derive` makes of the current value and, where there is one, of the previous value. */
export async function mapKeyring<T, U>(
  { current, previous }: Keyring<T>,
  derive: (value: T) => U | Promise<U>,
): Promise<Keyring<U>> {
  return { current: await derive(current), previous: previous === null ? null : await derive(previous) };
}

/** What `take` returns for the current value or, where that is null, for the previous one; null where both are. */
export async function underEither<T, U>(
  { current, previous }: Keyring<T>,
  take: (value: T) => U | null | Promise<U | null>,
): Promise<U | null> {
  return (await take(current)) ?? (previous === null ? null : await take(previous));
}
