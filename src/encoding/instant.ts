/**
 * The milliseconds since the epoch of an ISO 8601 text: a date and time with a time zone, or a date alone, which means
 * midnight UTC. Null for any other text, and for a day that does not exist.
 */
export function parseInstant(text: string): number | null {
  const shape = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;
  const [, day] = shape.exec(text) ?? [];
  return day !== undefined && isDay(day) && !Number.isNaN(Date.parse(text)) ? Date.parse(text) : null;
}

/** `Date.parse` takes 30 February for 1 March. */
function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}
