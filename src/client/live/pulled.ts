import type { Change, Clients } from "./changes.js";
import type { MemberNames } from "./members.js";

/** A page of `POST /api/_svc/pull` (`docs/sync.md`). */
export interface Pulled {
  readonly checkpoint: string;
  /** Whether further pages follow, which together with this one lead to one moment. */
  readonly more: boolean;
  /** Why the server begins again with all rows, with this page first; null if it does not (`docs/sync.md#resets`). */
  readonly reset: string | null;
  /** The members whose rows are told whole (`docs/sync.md#members`); absent if there are none. */
  readonly fresh?: readonly string[];
  /** Why the server does not tell of some of the members; absent if it tells of all. */
  readonly refused?: Readonly<Record<string, { readonly code: string; readonly message: string }>>;
  readonly changes: readonly Change[];
  /** For each client that has pushed lately, its last mutation in this state; absent if the server does not say. */
  readonly clients?: Clients;
}

/** The same page under the names of the caller. */
export function pulledAs(names: MemberNames, { fresh, refused, changes, ...page }: Pulled): Pulled {
  return {
    ...page,
    changes: changes.flatMap((change) => names.named(change)),
    ...(fresh && { fresh: fresh.flatMap((name) => names.aliases(name)) }),
    ...(refused && {
      refused: Object.fromEntries(
        Object.entries(refused).flatMap(([name, error]) => names.aliases(name).map((alias) => [alias, error])),
      ),
    }),
  };
}
