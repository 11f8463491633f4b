import type { Change, Clients } from "./changes.js";
import type { HeldList } from "./held-list.js";
import type { RowStore, SavedStep, StoredState } from "./store.js";
import type { Told } from "./tabs.js";

const nothing: StoredState = { checkpoint: null, current: [], clients: {} };

/**
 * Keeps steps on the device, one after the other, for a user who is signed in. If the device fails, it is emptied, and
 * nothing more is kept until somebody signs in or out: the rows are then those of the server alone.
 */
export class Saving {
  #user: string | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #isBroken = false;

  constructor(private readonly store: RowStore) {}

  /** From now on it is for this user. Resolves to what is kept for them; what is kept for others is removed. */
  open(user: string | null): Promise<StoredState> {
    this.#user = user;
    this.#isBroken = false;
    return this.#next(() => this.store.open(user), nothing);
  }

  /** Reads what is kept for the user of now. `isOf` says whether this is still the user. */
  reader(): { isOf(): boolean; rows(name: string): Promise<readonly Change[] | null> } {
    const user = this.#user;
    return {
      isOf: () => this.#user === user,
      rows: (name) => this.#next(async () => (user === null ? null : this.store.rows(user, name)), null),
    };
  }

  /** Begins to keep the steps of a tab that follows the server. It does not know what another tab has kept before. */
  begin(lists: ReadonlyMap<string, HeldList>, clients: () => Clients): (told: Told) => void {
    const user = this.#user;
    if (user === null) return () => {};
    const saved = new Set<string>();
    /** Those for which there is no room. */
    const left = new Set<string>();
    return ({ step, checkpoint }) => {
      if (step === null) return;
      const isKept = ([name, list]: readonly [string, HeldList]) => list.isKept && list.isCurrent && !left.has(name);
      const current = checkpoint === null ? [] : [...lists].filter(isKept).map(([name]) => name);
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
      const kept: SavedStep = { checkpoint, current, clients: clients(), lists: told, removed };
      void this.#next(async () => {
        if (this.#user !== user) return;
        const found = await this.store.save(user, kept);
        for (const name of current) {
          if (found.includes(name)) continue;
          if (told[name]?.isWhole) left.add(name);
          saved.delete(name);
        }
      }, undefined);
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
