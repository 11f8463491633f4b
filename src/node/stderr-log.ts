import { type LogSettings, type Message, messageLine } from "../log/message-line.js";
import type { Clock, Log } from "../platform/platform.js";

/** The longest time that a line of the request log waits to be written together with others. */
const waitMs = 50;
/**
 * Once the waiting lines have more characters than this, they are written. A pipe holds 64 KiB: to write more at once,
 * the process would have to wait for the pipe's reader.
 */
const lengthMax = 16_384;
/**
 * How many characters may wait in memory for the reader of a pipe. Lines that come while more wait are dropped, because
 * a reader that has stopped would otherwise let the process grow without end.
 */
const unreadMax = 1_048_576;

/**
 * A log on standard error. Lines of the request log are written together, because writing each by itself would cost a
 * tenth of the time of reading a row. Messages are written at once, behind the lines before them. Lines that wait when
 * the process ends, also by an uncaught exception, are written then. They are lost only if the process is killed, or if
 * standard error is a pipe that nobody reads.
 */
export class StderrLog implements Log {
  #waiting: string[] = [];
  #length = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Lines and messages dropped since something was last written. */
  #dropped = 0;

  constructor(
    /** `[log]` of svc.toml, for messages. */
    public settings: LogSettings,
    private readonly clock: Pick<Clock, "now">,
  ) {}

  /** Logs a message that is no warning, for the person who has started the server. */
  note(message: string): void {
    this.#message({ level: "info", text: message, cause: null });
  }

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
    this.#print([line]);
  }

  /** The timer starts itself again until it finds nothing to write, so that a busy server needs few timers. */
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
    const lines = this.#waiting;
    this.#waiting = [];
    this.#length = 0;
    this.#print(lines);
  };

  #print(lines: readonly string[]): void {
    if (process.stderr.writableLength > unreadMax) {
      this.#dropped += lines.length;
      return;
    }
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) this.error(`the log lacks ${dropped} lines here`, "nobody read standard error");
    // Unlike `process.stderr.write`, `console.error` does not fail if the reader of a pipe is gone.
    console.error(lines.join("\n"));
  }
}
