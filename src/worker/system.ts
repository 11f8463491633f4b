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

/** Writes to the Worker's log. The request log goes there line by line, as its viewers expect. */
export const consoleLog: Log = {
  warn: (message) => console.warn(message),
  error: (message, cause) => console.error(`${message}:`, cause),
  line: (text) => console.log(text),
};

/** A log of the Worker that writes messages as JSON where `[log]` of svc.toml asks for that; else `consoleLog`. */
export function consoleLogOf(settings: LogSettings): Log {
  if (settings.format !== "json") return consoleLog;
  const write = (message: Message, print: (line: string) => void) => {
    const line = messageLine(settings, systemClock.now(), message);
    if (line !== null) print(line);
  };
  return {
    warn: (text) => write({ level: "warn", text, cause: null }, (line) => console.warn(line)),
    error: (text, cause) => write({ level: "error", text, cause }, (line) => console.error(line)),
    line: consoleLog.line,
  };
}

/**
 * Implements `Platform.defer`: the event is kept alive for the work, which begins at the next tick. The runtime ends
 * it about half a minute after the response.
 */
export const deferToEvent: Platform["defer"] = (work) => {
  const tick = new Promise<void>((resolve) => setTimeout(resolve, msToTick(systemClock.now())));
  waitUntil(tick.then(work).catch((error: unknown) => consoleLog.error("deferred work failed", error)));
};

/**
 * The transport of `mail.transport = "log"` on a Worker, for trying things out: it prints mails to the log. Anyone
 * who can read the log can follow their links.
 */
export const consoleMail: MailTransport = {
  send: async ({ to, subject, text }) => console.log(`mail to ${to}: ${subject}\n\n${text}`),
};
