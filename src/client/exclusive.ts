import type { SessionStorage, Surroundings } from "./surroundings.js";

const leaseMs = 15_000;
const lookMs = 50;

/**
 * Runs `act` while no other tab runs one of the same name: by Web Locks, or else by a lease in the storage that the tabs
 * share, which is over by itself when its tab dies. A lease can be held twice in rare races; the server's grace window
 * then gives both the same successor.
 */
export async function exclusive<T>(
  name: string,
  storage: SessionStorage,
  surroundings: Surroundings,
  act: () => Promise<T>,
): Promise<T> {
  if (surroundings.locks !== null) return surroundings.locks.request(name, act);
  const owner = String(surroundings.random());
  try {
    while (!(await take(name, owner, storage, surroundings))) await pause(lookMs, surroundings);
  } catch {
    // A storage that does not work is shared with nobody.
  }
  try {
    return await act();
  } finally {
    try {
      if (holder(await storage.get(name)) === owner) await storage.remove(name);
    } catch {}
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
  return holder(await storage.get(name)) === owner;
}

const holder = (lease: string | null): string | undefined => lease?.split(" ")[1];

function pause(ms: number, { after }: Surroundings): Promise<void> {
  return new Promise((resolve) => after(ms, resolve));
}
