import type { Sessions } from "../session.js";

/**
 * Calls `run` with the id of the signed-in user, or null. Whenever somebody signs in or out, it aborts the signal of
 * the last call and calls `run` anew. Returns a function that ends this.
 */
export function eachSession(
  sessions: Sessions,
  run: (user: string | null, signal: AbortSignal) => Promise<void>,
): () => void {
  let current = new AbortController();
  const begin = async () => {
    current.abort();
    current = new AbortController();
    const { signal } = current;
    const session = await sessions.load();
    if (!signal.aborted) await run(session?.user.id ?? null, signal);
  };
  const forget = sessions.listen(() => void begin());
  void begin();
  return () => {
    forget();
    current.abort();
  };
}
