import { type LogSettings, type Message, messageLine } from "../log/message-line.js";
import type { Clock, Log } from "../platform/platform.js";

/** The longest time that a line of the request log waits for others, in milliseconds. */
const waitMs = 50;
/**
 * From how many characters on the waiting lines are written: more at once would have to wait for the reader of a pipe,
 * which holds 64 KiB.
 */
const lengthMax = 16_384;

/**
 * Writes to standard error. Lines of the request log are written together, because writing each by itself would cost a
 * tenth of the time of reading a row. Messages are written at once, behind the lines before them. What waits when the
 * process ends, also by an uncaught exception, is written then; only a process that is killed loses it.
 */
export class StderrLog implements Log {
  #waiting: string[] = [];
  #length = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly settings: LogSettings,
    private readonly clock: Pick<Clock, "now">,
  ) {}

  warn(message: string): void {
    this.#message({ level: "warn", text: message, cause: null });
  }

  error(message: string, cause: unknown): void {
    this.#message({ level: "error", text: message, cause });
  }

  line(text: string): void {
    this.#waiting.push(text);
    this.#length += text.length;
    if (this.#length > lengthMax) this.#write();
    else if (this.#timer === null) this.#startTimer();
  }

  #message(message: Message): void {
    const line = messageLine(this.settings, this.clock.now(), message);
    if (line === null) return;
    this.#write();
    console.error(line);
  }

  /**
   * Starts the timer that writes waiting lines. It starts itself again until it finds nothing to write, so that a busy
   * server needs few timers.
   */
  #startTimer(): void {
    process.once("exit", this.#write);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      process.off("exit", this.#write);
      if (this.#waiting.length === 0) return;
      this.#write();
      this.#startTimer();
    }, waitMs).unref();
  }

  readonly #write = (): void => {
    if (this.#waiting.length === 0) return;
    const text = this.#waiting.join("\n");
    this.#waiting = [];
    this.#length = 0;
    // By `console.error`, because unlike `process.stderr.write` it does not fail where the reader of a pipe is gone.
    console.error(text);
  };
}
