/** From the level that writes the most lines to the one that writes the fewest. */
const logLevels = ["debug", "info", "warn", "error"] as const;

/** How much a line of the log matters. The setting `log.level` is the lowest level whose lines are written. */
export type LogLevel = (typeof logLevels)[number];

/** `least` is the configured `log.level`. */
export function isWritten(level: LogLevel, least: LogLevel): boolean {
  return logLevels.indexOf(level) >= logLevels.indexOf(least);
}
