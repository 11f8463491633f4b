import type { Change } from "./changes.js";
import type { HeldList } from "./held-list.js";
import type { RowStore, SavedStep, StoredState } from "./store.js";
import type { Told } from "./tabs.js";

const nothing: StoredState = { checkpoint: null, current: [], clients: {} };

/**
 * Keeps steps on the device, one after the other. What cannot be kept, such as where there is no room, is not kept any
 * more: the rows are then those of the server alone.
 */
export class Saving {
  #user: string | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #isBroken = false;

  constructor(private readonly store: RowStore) {}

  /** From now on it is for this user. Resolves to what is kept for them; what is kept for others is removed. */
  open(user: string | null): Promise<StoredState> {
    this.#user = user;
    return this.#next(() => this.store.open(user), nothing);
  }

  /** Reads what is kept for the user of now. `isOf` says whether this is still the user. */
  reader(): { isOf(): boolean; rows(name: string): Promise<readonly Change[] | null> } {
    const user = this.#user;
    return {
      isOf: () => this.#user === user,
      rows: (name) => this.#next(() => this.store.rows(user, name), null),
    };
  }

  /** Begins to keep the steps of a tab that follows the server. It does not know what another tab has kept before. */
  begin(lists: ReadonlyMap<string, HeldList>): (told: Told) => void {
    const user = this.#user;
    const saved = new Set<string>();
    return ({ step, checkpoint }) => {
      if (step === null || checkpoint === null) return;
      const current = [...lists].filter(([, { isKept, isCurrent }]) => isKept && isCurrent).map(([name]) => name);
      const changed = new Map<string, Change[]>();
      for (const change of step.changes) {
        const changes = changed.get(change.table) ?? [];
        changes.push(change);
        changed.set(change.table, changes);
      }
      const told: Record<string, SavedStep["lists"][string]> = {};
      for (const name of current) {
        const isWhole = !saved.has(name) || step.fresh.includes(name);
        if (isWhole) told[name] = { isWhole, changes: [...lists.get(name)!.rows] };
        else if (changed.has(name)) told[name] = { isWhole, changes: changed.get(name)! };
        saved.add(name);
      }
      const removed = Object.keys(step.refused);
      if (Object.keys(told).length + removed.length === 0) return;
      const { clients = {} } = step;
      const kept: SavedStep = { checkpoint, current, clients, lists: told, removed };
      void this.#next(() => (this.#user === user ? this.store.save(user, kept) : Promise.resolve()), undefined);
    };
  }

  /** Does one thing after the other. `otherwise` is what the outcome is where the device keeps nothing. */
  #next<T>(act: () => Promise<T>, otherwise: T): Promise<T> {
    const done = this.#last.then(async () => {
      if (this.#isBroken) return otherwise;
      try {
        return await act();
      } catch {
        this.#isBroken = true;
        await this.store.clear().catch(() => {});
        return otherwise;
      }
    });
    this.#last = done;
    return done;
  }
}
