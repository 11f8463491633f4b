/**
 * A value for the server's current secret and, while the secret is being changed, one for the previous secret, too
 * (docs/deploy.md#changing-the-secret). The values are the secrets themselves, or what is derived from them, such as
 * keys. New tokens are made with `current`; presented ones are accepted with either (`underEither`).
 */
export interface Keyring<T> {
  readonly current: T;
  /** The value of the previous secret; null where there is none. */
  readonly previous: T | null;
}

/** Makes a keyring of what `derive` returns for the current value and, where there is one, for the previous value. */
export async function mapKeyring<T, U>(
  { current, previous }: Keyring<T>,
  derive: (value: T) => U | Promise<U>,
): Promise<Keyring<U>> {
  return { current: await derive(current), previous: previous === null ? null : await derive(previous) };
}

/**
 * Calls `take` with the current value and, where that returns null, with the previous one. Null where both return null.
 */
export async function underEither<T, U>(
  { current, previous }: Keyring<T>,
  take: (value: T) => U | null | Promise<U | null>,
): Promise<U | null> {
  return (await take(current)) ?? (previous === null ? null : await take(previous));
}
