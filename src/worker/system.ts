import { waitUntil } from "cloudflare:workers";
import { type LogSettings, type Message, messageLine } from "../log/message-line.js";
import type { Clock, Log, MailTransport, Platform, Random } from "../platform/platform.js";
import { msToTick } from "../platform/tick.js";

/** The clock of the isolate. workerd's clocks advance only at I/O, not during computation. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  cpu: () => performance.now(),
};

/** Random bytes from the runtime's Web Crypto. */
export const systemRandom: Random = { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) };

/** The runtime's own `fetch`, called as a plain function. */
export const systemFetch: Platform["fetch"] = (input, init) => fetch(input, init);

/**
 * Prints to the console what `[log]` of svc.toml asks for (docs/reference/log.md). Each line of the request log is
 * printed by itself, as viewers of a Worker's log expect.
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
 * `Platform.defer` for a Worker: the work begins at the next full second of the clock (`msToTick`). The runtime keeps
 * the current event (such as a request) alive for it, but ends it about half a minute after the response. Failures are
 * logged.
 */
export function deferToEvent(log: Log): Platform["defer"] {
  return (work) => {
    const tick = new Promise<void>((resolve) => setTimeout(resolve, msToTick(systemClock.now())));
    waitUntil(tick.then(work).catch((error: unknown) => log.error("deferred work failed", error)));
  };
}

/**
 * Prints mails to a Worker's log, for `mail.transport = "log"`, to try things out. Anyone who can read the log can
 * follow the links in the mails.
 */
export const consoleMail: MailTransport = {
  send: async ({ to, subject, text }) => console.log(`mail to ${to}: ${subject}\n\n${text}`),
};
