import { type LogSettings, type Message, messageLine } from "../log/message-line.js";
import type { Clock, Log } from "../platform/platform.js";

/** The longest time that a line of the request log waits for others, in milliseconds. */
const waitMs = 50;
/** So many characters are written at once; more would have to wait for a reader of a pipe, which holds 64 KiB. */
const lengthMax = 16_384;

/**
 * Writes to standard error. Lines of the request log are written together, because writing each by itself would cost a
 * tenth of the time of reading a row. Messages are written at once, behind the lines before them. What waits when the
 * process ends, also by an uncaught exception, is written then; only a process that is killed loses it.
 */
export class StderrLog implements Log {
  #waiting = "";

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
    if (this.#waiting === "") {
      process.once("exit", this.#flush);
      setTimeout(this.#flush, waitMs).unref();
    }
    this.#waiting += this.#waiting === "" ? text : `\n${text}`;
    if (this.#waiting.length > lengthMax) this.#flush();
  }

  #message(message: Message): void {
    const line = messageLine(this.settings, this.clock.now(), message);
    if (line === null) return;
    this.#flush();
    console.error(line);
  }

  readonly #flush = (): void => {
    process.off("exit", this.#flush);
    if (this.#waiting === "") return;
    const text = this.#waiting;
    this.#waiting = "";
    // Unlike `process.stderr.write` this goes on where the reader of a pipe is gone.
    console.error(text);
  };
}
