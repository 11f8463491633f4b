import { type Client, clientIn } from "../../../src/client/client.js";
import type { RowStore } from "../../../src/client/live/store.js";
import { type SessionStorage, surroundings } from "../../../src/client/surroundings.js";
import { webLocks } from "../../support/browser.js";
import type { TestServer } from "../../support/server.js";

/** The pages of one browser: they share a session, locks and channels. Streams reach them as they are sent. */
export interface Pages {
  readonly page: () => Page;
  /** Every request, as `METHOD path`. */
  readonly requests: string[];
}

export interface Page {
  readonly client: Client<Record<never, never>>;
  /** Ends every connection of the page, once. */
  readonly cut: () => void;
}

/** `allowed` may hold a request back, or throw as `fetch` does. `store`: where a page keeps its rows. */
export function pagesOf(
  server: TestServer,
  allowed: (request: string) => Promise<void> = async () => {},
  store?: () => RowStore,
): Pages {
  const locks = webLocks();
  const stored = new Map<string, string>();
  const listeners = new Set<(changed: string) => void>();
  const requests: string[] = [];
  // Channels have names of their own in each test.
  const origin = `http://${Math.random()}.test`;
  const page = (): Page => {
    const connections = new Set<AbortController>();
    const here = surroundings();
    const tell = (own: ((changed: string) => void) | null, changed: string) => {
      for (const listener of listeners) if (listener !== own) setImmediate(() => listener(changed));
    };
    let own: ((changed: string) => void) | null = null;
    const storage: SessionStorage = {
      get: (name) => stored.get(name) ?? null,
      set: (name, value) => {
        stored.set(name, value);
        tell(own, name);
      },
      remove: (name) => {
        stored.delete(name);
        tell(own, name);
      },
      subscribe: (changed) => {
        own = changed;
        listeners.add(changed);
      },
    };
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { pathname, search } = new URL(String(input));
      const request = `${init!.method} ${pathname}`;
      requests.push(request);
      await allowed(request);
      const response = await server.request(pathname + search, {
        method: init!.method!,
        headers: new Headers(init!.headers),
        ...(init!.body != null && { body: init!.body }),
      });
      if (init!.signal!.aborted) await response.body?.cancel();
      init!.signal!.throwIfAborted();
      const connection = new AbortController();
      connections.add(connection);
      init!.signal!.addEventListener("abort", () => connection.abort(init!.signal!.reason));
      return new Response(cuttable(response.body!, connection.signal), response);
    };
    return {
      // Reconnects come at once, so that no test waits.
      client: clientIn(
        { ...here, fetch, locks, after: (ms, act) => here.after(ms < 30_000 ? ms / 50 : ms, act) },
        { url: origin, storage, ...(store && { store: store() }) },
      ),
      cut: () => {
        for (const connection of connections) connection.abort(new TypeError("terminated"));
      },
    };
  };
  return { page, requests };
}

/** The same body, which fails when the signal is aborted. */
function cuttable(body: ReadableStream<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      signal.addEventListener("abort", () => {
        controller.error(signal.reason);
        reader.cancel().catch(() => undefined);
      });
    },
    async pull(controller) {
      const { value, done } = await reader.read();
      if (signal.aborted) return;
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}
