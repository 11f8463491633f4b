import type { SessionStorage, Surroundings } from "./surroundings.js";

/** Work that only one tab may do at a time. `hasWaited`: another tab may just have done such work. */
type Act<T> = (hasWaited: boolean) => Promise<T>;

/** How many milliseconds a lease holds, and how long a tab waits for a lock: longer than any work under them. */
const leaseMs = 20_000;
const lookMs = 50;

/**
 * Runs `act` while no other tab runs work of the same `name`. It uses Web Locks, or else a lease: an entry in the
 * storage that the tabs share, which expires if its tab dies. If it gets neither in time, `act` runs all the same, so
 * `act` has to check what other tabs have changed before it stores anything.
 */
export function exclusive<T>(
  name: string,
  storage: SessionStorage,
  surroundings: Surroundings,
  act: Act<T>,
): Promise<T> {
  // Web Locks hold across tabs, which only a storage that tabs share needs.
  const isShared = storage.subscribe !== undefined;
  return isShared && surroundings.locks !== null
    ? withLock(name, surroundings, act)
    : withLease(name, storage, surroundings, act);
}

async function withLock<T>(name: string, { locks, after }: Surroundings, act: Act<T>): Promise<T> {
  const controller = new AbortController();
  // The wait ends after a while, because a tab that the browser has suspended may keep the lock.
  const cancel = after(leaseMs, () => controller.abort());
  let acted: Promise<T> | undefined;
  const begin = (hasWaited: boolean) => {
    cancel();
    acted = act(hasWaited);
    return acted.catch(() => {});
  };
  try {
    await locks!.request(name, { ifAvailable: true }, async (lock) => lock && begin(false));
    if (acted === undefined) await locks!.request(name, { signal: controller.signal }, () => begin(true));
  } catch {
    // The wait was aborted, or this page may not use locks.
    cancel();
  }
  return acted ?? act(true);
}

async function withLease<T>(
  name: string,
  storage: SessionStorage,
  surroundings: Surroundings,
  act: Act<T>,
): Promise<T> {
  const owner = String(surroundings.random());
  let looks = 0;
  try {
    for (; looks * lookMs < 2 * leaseMs; looks++) {
      if (await take(name, owner, storage, surroundings)) break;
      await pause(lookMs, surroundings);
    }
  } catch {
    // Other tabs cannot share a storage that fails, so no lease is needed.
  }
  try {
    return await act(looks > 0);
  } finally {
    try {
      if (holder(await storage.get(name)) === owner) await storage.remove(name);
    } catch {
      // A lease that cannot be removed expires by itself.
    }
  }
}

async function take(
  name: string,
  owner: string,
  storage: SessionStorage,
  surroundings: Surroundings,
): Promise<boolean> {
  const held = await storage.get(name);
  const until = Number(held?.split(" ")[0]);
  const now = surroundings.now();
  // A lease that ends too far in the future was written by a wrong clock, and is ignored.
  if (held !== null && until > now && until <= now + leaseMs) return false;
  await storage.set(name, `${now + leaseMs} ${owner}`);
  // If two tabs write their leases at the same moment, the later write wins. After the pause the other tab finds it.
  await pause(lookMs * surroundings.random(), surroundings);
  const kept = await storage.get(name);
  // Other tabs cannot share a storage that keeps nothing, so no lease is needed.
  return kept === null || holder(kept) === owner;
}

const holder = (lease: string | null): string | undefined => lease?.split(" ")[1];

/** Resolves after `ms` milliseconds. */
export function pause(ms: number, { after }: Surroundings): Promise<void> {
  return new Promise((resolve) => after(ms, resolve));
}
