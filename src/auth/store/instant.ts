/** A time in milliseconds as ISO 8601 in UTC. All such texts have the same length, so that they sort by time. */
export function instant(ms: number): string {
  return new Date(ms).toISOString();
}
