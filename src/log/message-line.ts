import { isWritten, type LogLevel } from "./log-level.js";
import { quotedText } from "./shown-text.js";

/** The settings of the log: the section `[log]` of svc.toml. */
export interface LogSettings {
  readonly format: "text" | "json" | "off";
  readonly level: LogLevel;
  readonly addresses: "prefix" | "off";
}

/**
 * A message in the log for whoever operates the server. Those of `Log.warn` and `Log.error` have the levels `warn` and
 * `error`; a message that is no warning has `info`.
 */
export interface Message {
  readonly level: "info" | "warn" | "error";
  readonly text: string;
  /** What was thrown (an error or anything else); used for messages of level `error` alone. */
  readonly cause: unknown;
}

/**
 * Makes the line of the log for a message; null where the message's level is below `log.level`. `nowMs` is in
 * milliseconds since the epoch.
 */
export function messageLine(settings: LogSettings, nowMs: number, message: Message): string | null {
  const { level, text, cause } = message;
  if (!isWritten(level, settings.level)) return null;
  const reason = level === "error" ? causeText(cause) : null;
  if (settings.format !== "json") {
    if (level === "info") return text;
    return reason === null ? `warning: ${text}` : `error: ${text}: ${reason}`;
  }
  const error = reason === null ? "" : `,"cause":${quotedText(reason)}`;
  const time = new Date(nowMs).toISOString();
  return `{"time":"${time}","level":"${level}","message":${quotedText(text)}${error}}`;
}

/**
 * Writes what was thrown as a text. Of an exception this is the stack, followed by the text of the exception that
 * caused it, and so on.
 */
function causeText(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const own = cause.stack ?? String(cause);
  return cause.cause === undefined ? own : `${own}\ncaused by ${causeText(cause.cause)}`;
}
