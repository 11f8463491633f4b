import type { ClientParts } from "../client.js";
import { SvcError } from "../error.js";
import type { MutationResult, Pushed } from "../operations.js";
import type { Numbered } from "./kept.js";

/** How many mutations a push sends at most. */
export const mutationsMax = 100;

/** What has come of a push, and how pushing goes on. */
export interface PushOutcome {
  readonly results: readonly MutationResult[];
  /** How many mutations the next push sends at most; absent if that stays as it is. */
  readonly max?: number;
  /**
   * Whether the mutations that are left are numbered anew under another client name. There are three reasons. The
   * server may not know any more what it has acknowledged, as after it was restored from a copy. It may know another
   * mutation by this number, as after this device's storage was copied. Or the mutation was malformed, and its number
   * was not used.
   */
  readonly isRenamed?: boolean;
}

/** Throws if the server could not be reached, or refuses all pushes. */
export async function pushMutations(
  { push, hasKey }: ClientParts,
  user: string,
  client: string,
  sent: readonly Numbered[],
  signal: AbortSignal,
): Promise<PushOutcome> {
  const mutations = sent.map(({ id, operations }) => ({ id, operations }));
  const call = { method: "POST", path: "/api/_svc/push", body: { client, mutations }, signal };
  try {
    const { results } = (await push(hasKey ? call : { ...call, user })).data as Pushed;
    return { results, max: mutationsMax };
  } catch (error) {
    const outcome = error instanceof SvcError ? refusedPush(error, sent) : null;
    if (outcome === null) throw error;
    return outcome;
  }
}

/** Null if the push is not refused because of one of its mutations. */
function refusedPush(
  { status, code, message, columns, expected }: SvcError,
  sent: readonly Numbered[],
): PushOutcome | null {
  if (expected !== null) return { results: [], isRenamed: true };
  if (code === "unexpected_answer" || ![400, 413, 422].includes(status)) return null;
  // One by one, to find out which of them the server refuses.
  if (sent.length > 1) return { results: [], max: 1 };
  const rejected = { id: sent[0]!.id, status: "rejected", error: { code, message, columns } } as const;
  return { results: status === 422 ? [] : [rejected], isRenamed: true };
}
