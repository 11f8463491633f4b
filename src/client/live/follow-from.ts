import type { Sessions } from "../session.js";
import type { FollowedTables, Follower } from "./changes.js";
import { eachSession } from "./each-session.js";
import { follow, type Line } from "./follow.js";

/**
 * Follows tables by a stream of their own, from a checkpoint that the caller has kept together with the rows. Returns a
 * function that ends this. It ends by itself if one of the tables is refused.
 */
export function followFrom(
  line: Line & { readonly sessions: Sessions },
  tables: FollowedTables,
  checkpoint: string,
  follower: Follower,
): () => void {
  const followed = { members: () => tables, listen: () => () => {} };
  const from = { checkpoint, known: Object.keys(tables) };
  return eachSession(line.sessions, (_user, ended) => {
    const over = new AbortController();
    const signal = AbortSignal.any([ended, over.signal]);
    return follow(
      line,
      followed,
      from,
      (state, step) => {
        if (signal.aborted) return;
        const [error] = Object.values(step?.refused ?? {});
        if (error !== undefined) {
          over.abort();
          return follower({ status: "refused", error }, null);
        }
        if (step === null) return follower(state, null);
        const { fresh, refused: _, ...told } = step;
        follower(state, { ...told, isReset: fresh.length > 0 });
      },
      signal,
    );
  });
}
