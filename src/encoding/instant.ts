/** Milliseconds since the epoch of a text in ISO 8601 with a time zone, or of a date alone, at midnight UTC; null for another. */
export function parseInstant(text: string): number | null {
  const shape = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;
  const value = shape.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(value) ? null : value;
}
