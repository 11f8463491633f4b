import { waitUntil } from "cloudflare:workers";
import type { Clock, Log, MailTransport, Platform, Random } from "../platform/platform.js";
import { msToTick } from "../platform/tick.js";

/** It stands still while nothing is awaited, as workerd's clocks do. */
export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };

export const systemRandom: Random = { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) };

/** The network. */
export const systemFetch: Platform["fetch"] = (input, init) => fetch(input, init);

/** The Worker's log. */
export const consoleLog: Log = {
  warn: (message) => console.warn(message),
  error: (message, cause) => console.error(`${message}:`, cause),
};

/** Work that goes on after the answer, from the next tick on, for half a minute in all at most. */
export const deferToEvent: Platform["defer"] = (work) => {
  const tick = new Promise<void>((resolve) => setTimeout(resolve, msToTick(systemClock.now())));
  waitUntil(tick.then(work).catch((error: unknown) => consoleLog.error("deferred work failed", error)));
};

/** `mail.transport = "log"` on a Worker: for trying things out, as whoever reads the log can follow every link. */
export const consoleMail: MailTransport = {
  send: async ({ to, subject, text }) => console.log(`mail to ${to}: ${subject}\n\n${text}`),
};
