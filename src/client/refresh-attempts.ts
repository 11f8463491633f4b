import { SvcError } from "./error.js";
import type { Surroundings } from "./surroundings.js";
import type { Answer, Call, Send } from "./transport.js";

/**
 * When a refresh that has not succeeded is sent again. `part`: after which part of the grace window, of which at most
 * 10 seconds are used; `overlaps`: even while an earlier attempt is still running.
 */
const plan: readonly (readonly [part: number, overlaps: boolean])[] = [
  [0.05, false],
  [0.2, false],
  [0.5, true],
  [0.85, true],
];
const windowMsMax = 10_000;
/** For all attempts of one refresh together. */
const deadlineMs = 15_000;

/**
 * Sends a refresh of the session, and sends it again within the grace window. The server answers a repeated refresh
 * with the same new tokens until the window ends (`docs/reference/auth.md#rotation-and-its-grace-window`), so neither a
 * lost answer nor a connection that is slow or down for a moment ends the session. The first success counts. The other
 * attempts are then aborted and waited for, so that their cookies cannot arrive after those of a later refresh. Throws
 * the last SvcError if no attempt succeeds.
 */
export async function refreshed(
  send: Send,
  call: Call,
  graceMs: number,
  { random, after }: Surroundings,
): Promise<Answer> {
  const controller = new AbortController();
  const attempts: Promise<void>[] = [];
  const cancels: (() => void)[] = [];
  try {
    return await new Promise<Answer>((resolve, reject) => {
      let open = 0;
      let isOver = false;
      let planned = graceMs > 0 ? plan.length : 0;
      let failure = new SvcError(0, "timeout", "the server takes too long to answer");
      const settle = () => {
        if (open === 0 && (planned === 0 || isOver)) reject(failure);
      };
      const launch = () => {
        open++;
        attempts.push(
          send({ ...call, signal: controller.signal }).then(resolve, (error: SvcError) => {
            open--;
            failure = error;
            // Refused for good, by the server or by a proxy in front of it. The attempts under way may still succeed.
            isOver ||= !error.isTransient;
            settle();
          }),
        );
      };
      for (const [part, overlaps] of plan.slice(0, planned))
        cancels.push(
          after(Math.min(graceMs, windowMsMax) * part * (0.9 + random() / 5), () => {
            planned--;
            if (!isOver && (overlaps || open === 0)) launch();
            settle();
          }),
        );
      cancels.push(after(deadlineMs, () => reject(failure)));
      launch();
    });
  } finally {
    for (const cancel of cancels) cancel();
    controller.abort();
    await Promise.all(attempts);
  }
}
