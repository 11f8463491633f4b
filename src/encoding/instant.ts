/** A date, perhaps with a time of day, a fraction of its second, and Z or an offset from UTC. */
const shape = /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:Z|([+ -])(\d\d)(?::?(\d\d))?))?$/;

/**
 * The milliseconds since the epoch of an ISO 8601 text: a date and time with a time zone, or a date alone, which means
 * midnight UTC. Null for any other text, and for a day that does not exist. Digits after the milliseconds are cut off.
 * An offset may begin with a space, as which a `+` arrives that is not percent-encoded in a query string.
 */
export function parseInstant(text: string): number | null {
  const [, day, time, sign, hours, minutes = "00"] = shape.exec(text) ?? [];
  if (day === undefined || !isDay(day)) return null;
  if (time === undefined) return Date.parse(day);
  const offset = sign === undefined ? "Z" : `${sign === "-" ? "-" : "+"}${hours}:${minutes}`;
  const ms = Date.parse(`${day}${time.slice(0, "T00:00:00.000".length)}${offset}`);
  return Number.isNaN(ms) ? null : ms;
}

/** `Date.parse` takes 30 February for 1 March. */
function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}
