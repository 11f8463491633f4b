/**
 * A value for the server's current secret and, while the secret is being changed, one for the previous secret
 * (docs/deploy.md#changing-the-secret). The values are the secrets, or what is derived from them, such as keys. New
 * tokens are made with `current`; presented ones are accepted with either (`underEither`).
 */
export interface Keyring<T> {
  readonly current: T;
  /** Null unless the secret is being changed. */
  readonly previous: T | null;
}

/** Applies `derive` to the current and the previous value. */
export async function mapKeyring<T, U>(
  { current, previous }: Keyring<T>,
  derive: (value: T) => U | Promise<U>,
): Promise<Keyring<U>> {
  return { current: await derive(current), previous: previous === null ? null : await derive(previous) };
}

/** Calls `take` with the current value and, if that returns null, with the previous one. */
export async function underEither<T, U>(
  { current, previous }: Keyring<T>,
  take: (value: T) => U | null | Promise<U | null>,
): Promise<U | null> {
  return (await take(current)) ?? (previous === null ? null : await take(previous));
}
