import { isWritten, type LogLevel } from "./log-level.js";
import { quotedText } from "./shown-text.js";

/** The section `[log]` of svc.toml. */
export interface LogSettings {
  readonly format: "text" | "json" | "off";
  readonly level: LogLevel;
  readonly addresses: "prefix" | "off";
}

/** A message in the log for the operator of the server. A message that is no warning has the level `info`. */
export interface Message {
  readonly level: "info" | "warn" | "error";
  readonly text: string;
  /** What was thrown; used for level `error` alone. */
  readonly cause: unknown;
}

/** The log's line for a message; null if its level is below `log.level`. `nowMs` is in milliseconds since the epoch. */
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

/** The stack of an exception is followed by that of the exception that caused it, and so on. */
function causeText(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const own = cause.stack ?? String(cause);
  return cause.cause === undefined ? own : `${own}\ncaused by ${causeText(cause.cause)}`;
}
