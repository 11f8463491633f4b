import { Refusal } from "./refusal.js";
import { slicedTextOf } from "./respond.js";
import { slicedFrom } from "./sliced-text.js";
import type { UnsentBytes } from "./unsent-bytes.js";

const retryAfterSeconds = "5";
const busy = new Refusal("busy", "too many bytes of answers wait to be sent", {
  headers: { "Retry-After": retryAfterSeconds },
});
const unsendable = new Refusal(
  "outcome_unknown",
  "the write was carried out, but its answer is long and too many bytes of answers wait to be sent",
);

/** The room that one answer takes among the bytes which wait to be sent. */
export class AnswerRoom {
  #release: (() => void) | null = null;

  /** `receivers` are those of `UnsentBytes.take`. They are asked for only where the answer is long. */
  constructor(
    private readonly unsent: UnsentBytes,
    private readonly receivers: () => readonly string[],
  ) {}

  /**
   * Takes room for an answer of about `length` characters before it is made, instead of what was taken before; a refusal
   * where there is none.
   */
  take(length: number): Refusal | null {
    this.giveBack();
    if (length < slicedFrom) return null;
    this.#release = this.unsent.take(length, this.receivers());
    return this.#release === null ? busy : null;
  }

  giveBack(): void {
    this.#release?.();
    this.#release = null;
  }

  /**
   * Gives the room back when the client has taken the answer. A long answer for which no room was taken is that of a
   * write. It is replaced by a refusal where there is no room for it.
   */
  sent(request: Request, response: Response): Response {
    const text = request.method === "HEAD" ? undefined : slicedTextOf(response);
    if (text === undefined) {
      this.giveBack();
      return response;
    }
    const release = this.#release ?? this.unsent.take(text.length, this.receivers());
    if (release === null) return unsendable.toResponse();
    text.whenTaken(release);
    return response;
  }
}
