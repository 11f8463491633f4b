/** The levels of `log.level`, from the one that writes most. */
export const logLevels = ["debug", "info", "warn", "error"] as const;

/**
 * The level of a line, which says how much the line matters. As a setting: the lowest level whose lines are written.
 */
export type LogLevel = (typeof logLevels)[number];

/** Whether a line of this level is written where `least` is the configured `log.level`. */
export function isWritten(level: LogLevel, least: LogLevel): boolean {
  return logLevels.indexOf(level) >= logLevels.indexOf(least);
}
