import { isWritten, type LogLevel } from "./log-level.js";
import { quotedText } from "./shown-text.js";

/** `[log]` of svc.toml. */
export interface LogSettings {
  readonly format: "text" | "json" | "off";
  readonly level: LogLevel;
  readonly addresses: "prefix" | "off";
}

/** A message for whoever operates the server, as `Log.warn` and `Log.error` take it. */
export interface Message {
  readonly level: "warn" | "error";
  readonly text: string;
  /** Of an error. */
  readonly cause: unknown;
}

/** The line of a message; null where the level leaves it out. `nowMs` is in milliseconds since the epoch. */
export function messageLine(settings: LogSettings, nowMs: number, message: Message): string | null {
  const { level, text, cause } = message;
  if (!isWritten(level, settings.level)) return null;
  const reason = level === "warn" ? null : causeText(cause);
  if (settings.format !== "json") return reason === null ? `warning: ${text}` : `error: ${text}: ${reason}`;
  const error = reason === null ? "" : `,"cause":${quotedText(reason)}`;
  const time = new Date(nowMs).toISOString();
  return `{"time":"${time}","level":"${level}","message":${quotedText(text)}${error}}`;
}

/** An exception with its stack, and the one that caused it. */
function causeText(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const own = cause.stack ?? String(cause);
  return cause.cause === undefined ? own : `${own}\ncaused by ${causeText(cause.cause)}`;
}
