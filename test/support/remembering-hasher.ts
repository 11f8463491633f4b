import type { PasswordHasher } from "../../src/platform/platform.js";

/** Hashes that were computed once already are not computed again. */
export function remembering(real: PasswordHasher): PasswordHasher {
  const known = new Map<string, Promise<unknown>>();
  const once = <T>(key: readonly string[], compute: () => Promise<T>): Promise<T> => {
    const text = JSON.stringify(key);
    const found = known.get(text) ?? compute();
    known.set(text, found);
    found.catch(() => known.delete(text));
    return found as Promise<T>;
  };
  return {
    hash: (password, turn) => once([password], () => real.hash(password, turn)),
    verify: (password, stored, turn) => once([password, stored], () => real.verify(password, stored, turn)),
    hasRoomFor: (turn) => real.hasRoomFor(turn),
    standing: (stored) => real.standing(stored),
  };
}
