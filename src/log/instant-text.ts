let second = Number.NaN;
let upToSecond = "";

/**
 * Writes a time in milliseconds since the epoch as `2026-11-23T02:00:00.123Z`. The part up to the seconds is kept for
 * the next call, because most lines of a log are of the same second as the line before.
 */
export function instantText(ms: number): string {
  const now = Math.floor(ms / 1000);
  if (now !== second) {
    second = now;
    upToSecond = new Date(ms).toISOString().slice(0, 20);
  }
  const left = ms - now * 1000;
  return `${upToSecond}${left < 10 ? "00" : left < 100 ? "0" : ""}${left}Z`;
}
