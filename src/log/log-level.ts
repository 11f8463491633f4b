/** The values of the setting `log.level`, from the one that writes the most lines to the one that writes the fewest. */
const logLevels = ["debug", "info", "warn", "error"] as const;

/**
 * The level of a line of the log, which says how much the line matters. As the setting `log.level` it is the lowest
 * level whose lines are written.
 */
export type LogLevel = (typeof logLevels)[number];

/** Whether a line of this level is written to the log where `least` is the configured `log.level`. */
export function isWritten(level: LogLevel, least: LogLevel): boolean {
  return logLevels.indexOf(level) >= logLevels.indexOf(least);
}
