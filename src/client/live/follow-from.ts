import type { Sessions } from "../session.js";
import type { FollowedTables, Follower, LiveState } from "./changes.js";
import { eachSession } from "./each-session.js";
import { follow, type Line, type StreamListener } from "./follow.js";
import { MemberNames } from "./members.js";

/**
 * Follows tables by a stream of their own, from a checkpoint that the caller has kept together with the rows. Returns a
 * function that ends this. It ends by itself if one of the tables is refused.
 */
export function followFrom(
  line: Line & { readonly sessions: Sessions },
  tables: FollowedTables,
  from: string,
  follower: Follower,
): () => void {
  const names = new MemberNames(tables);
  let checkpoint: string | null = from;
  /** Whether the caller has the rows of the checkpoint. */
  let isHeld = true;
  const followed = { members: () => names.members, holds: () => isHeld, listen: () => () => {} };
  return eachSession(line.sessions, async (_user, ended) => {
    for (let isOver = false; !isOver && !ended.aborted; ) {
      isOver = true;
      const over = new AbortController();
      const signal = AbortSignal.any([ended, over.signal]);
      const refuse = (state: LiveState) => {
        over.abort();
        follower(state, null);
      };
      const listener: StreamListener = {
        told: (state, step, at) => {
          if (signal.aborted) return;
          checkpoint = at;
          const [error] = Object.values(step?.refused ?? {});
          if (error !== undefined) return refuse({ status: "refused", error });
          if (step === null) return follower(state, null);
          const isReset = step.fresh.length > 0;
          if (isReset && step.fresh.length < names.all.length && isHeld) {
            // Some of the tables alone begin. The caller is told all rows together.
            checkpoint = null;
            isHeld = false;
            isOver = false;
            return over.abort();
          }
          isHeld = true;
          const changes = step.changes.flatMap((change) => names.named(change));
          follower(state, { changes, isReset, checkpoint, ...(step.clients && { clients: step.clients }) });
        },
        refused: (_, error) => refuse({ status: error.status === 401 ? "signed_out" : "refused", error }),
      };
      await follow(line, followed, checkpoint, listener, signal);
    }
  });
}
