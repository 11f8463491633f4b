/**
 * Milliseconds to wait before another attempt: 1, 2, 4 and so on, 50 at most. `attempt` counts the failed attempts from
 * 0.
 */
export function backoffMs(attempt: number): number {
  return Math.min(2 ** attempt, 50);
}
