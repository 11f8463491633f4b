/**
 * Returns the milliseconds since the epoch of an ISO 8601 text: a date and time with a time zone, or a date alone,
 * which means midnight UTC. Null for any other text.
 */
export function parseInstant(text: string): number | null {
  const shape = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;
  const value = shape.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(value) ? null : value;
}
