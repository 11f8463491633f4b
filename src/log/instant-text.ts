let second = Number.NaN;
let upToSecond = "";

/** Milliseconds since the epoch as `2026-11-23T02:00:00.123Z`. Lines of one second share what it takes to write it. */
export function instantText(ms: number): string {
  const now = Math.floor(ms / 1000);
  if (now !== second) {
    second = now;
    upToSecond = new Date(ms).toISOString().slice(0, 20);
  }
  const left = ms - now * 1000;
  return `${upToSecond}${left < 10 ? "00" : left < 100 ? "0" : ""}${left}Z`;
}
