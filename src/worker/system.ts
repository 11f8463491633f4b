import { waitUntil } from "cloudflare:workers";
import { type LogSettings, type Message, messageLine } from "../log/message-line.js";
import type { Clock, Log, MailTransport, Platform, Random } from "../platform/platform.js";
import { msToTick } from "../platform/tick.js";

/** The clock of the isolate. workerd's clocks advance only at I/O, not during computation. */
export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };

/** Random bytes from Web Crypto. */
export const systemRandom: Random = { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) };

/** The runtime's own `fetch`. */
export const systemFetch: Platform["fetch"] = (input, init) => fetch(input, init);

/**
 * Makes the log of a Worker as `[log]` of svc.toml wants it (docs/reference/log.md), on the console. The request log is
 * written line by line, as viewers of a Worker's log expect.
 */
export function consoleLogOf(settings: LogSettings): Log {
  const write = (message: Message, print: (line: string) => void) => {
    const line = messageLine(settings, systemClock.now(), message);
    if (line !== null) print(line);
  };
  return {
    warn: (text) => write({ level: "warn", text, cause: null }, (line) => console.warn(line)),
    error: (text, cause) => write({ level: "error", text, cause }, (line) => console.error(line)),
    line: (text) => console.log(text),
  };
}

/**
 * Implements `Platform.defer`, and reports to `log` what fails. The current event (such as a request) is kept alive for
 * the work, which begins at the next tick. The runtime ends the event about half a minute after the response.
 */
export function deferToEvent(log: Log): Platform["defer"] {
  return (work) => {
    const tick = new Promise<void>((resolve) => setTimeout(resolve, msToTick(systemClock.now())));
    waitUntil(tick.then(work).catch((error: unknown) => log.error("deferred work failed", error)));
  };
}

/**
 * The mail transport of `mail.transport = "log"` on a Worker, for trying things out: it prints mails to the log. Anyone
 * who can read the log can follow the links in the mails.
 */
export const consoleMail: MailTransport = {
  send: async ({ to, subject, text }) => console.log(`mail to ${to}: ${subject}\n\n${text}`),
};
