import type { SessionStorage, Surroundings } from "./surroundings.js";

/** Told whether somebody else has just been alone. */
type Act<T> = (hasWaited: boolean) => Promise<T>;

/** Longer than anything that is done alone. */
const leaseMs = 20_000;
const lookMs = 50;

/**
 * Runs `act` while no other tab runs one of the same name: by Web Locks, or else by a lease in the storage that the tabs
 * share, which is over by itself when its tab dies. Where neither can be had in time, `act` is run all the same: it looks
 * at what others have done before it keeps anything.
 */
export function exclusive<T>(
  name: string,
  storage: SessionStorage,
  surroundings: Surroundings,
  act: Act<T>,
): Promise<T> {
  // Only what is shared between tabs is locked between tabs.
  const isShared = storage.subscribe !== undefined;
  return isShared && surroundings.locks !== null
    ? withLock(name, surroundings, act)
    : withLease(name, storage, surroundings, act);
}

async function withLock<T>(name: string, { locks, after }: Surroundings, act: Act<T>): Promise<T> {
  const controller = new AbortController();
  // A tab that was put to sleep may keep the lock.
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
    // Not in time, or not on this page.
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
    // A storage that does not work is shared with nobody.
  }
  try {
    return await act(looks > 0);
  } finally {
    try {
      if (holder(await storage.get(name)) === owner) await storage.remove(name);
    } catch {
      // It ends by itself.
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
  // One from the far future is of a clock that was wrong.
  if (held !== null && until > now && until <= now + leaseMs) return false;
  await storage.set(name, `${now + leaseMs} ${owner}`);
  // Whoever wrote at the same moment is seen now; the last one has it.
  await pause(lookMs * surroundings.random(), surroundings);
  const kept = await storage.get(name);
  // A storage that keeps nothing is shared with nobody.
  return kept === null || holder(kept) === owner;
}

const holder = (lease: string | null): string | undefined => lease?.split(" ")[1];

export function pause(ms: number, { after }: Surroundings): Promise<void> {
  return new Promise((resolve) => after(ms, resolve));
}
