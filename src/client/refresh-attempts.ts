import { SvcError } from "./error.js";
import type { Surroundings } from "./surroundings.js";
import type { Answer, Call, Send } from "./transport.js";

/** Parts of the grace window at which a refresh is sent again, and whether it is although another one is under way. */
const plan: readonly (readonly [part: number, beside: boolean])[] = [
  [0.05, false],
  [0.2, false],
  [0.5, true],
  [0.85, true],
];
const windowMsMax = 10_000;
/** For all of them together. */
const deadlineMs = 15_000;

/**
 * A refresh, which gives the same successor to whoever repeats it inside the grace window (specification 5.5): it is sent
 * again until the window is nearly over, so that neither an answer that was lost nor a line that is slow or down for a
 * moment costs the session. A success counts, whichever attempt it is for; what is under way besides is called off, so
 * that its cookies come after nobody else's.
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
            // The server, or something before it, has an opinion: only what is under way may still go well.
            isOver ||= !error.isTransient;
            settle();
          }),
        );
      };
      for (const [part, beside] of plan.slice(0, planned))
        cancels.push(
          after(Math.min(graceMs, windowMsMax) * part * (0.9 + random() / 5), () => {
            planned--;
            if (!isOver && (beside || open === 0)) launch();
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
