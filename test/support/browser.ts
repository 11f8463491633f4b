import { type Client, type ClientOptions, clientIn } from "../../src/client/client.js";
import type { Locks, SessionStorage, Surroundings } from "../../src/client/surroundings.js";
import type { TableTypes } from "../../src/client/table.js";
import type { TestServer } from "./server.js";

/** Passes only when `pass` says so. Short waits end at once, without time passing. */
export class VirtualTime {
  nowMs = Date.parse("2026-01-01T00:00:00Z");
  #waiting: { readonly atMs: number; readonly act: () => void }[] = [];

  after = (ms: number, act: () => void): (() => void) => {
    const entry = { atMs: this.nowMs + ms, act };
    if (ms < shortMs) setImmediate(() => entry.act());
    else this.#waiting.push(entry);
    return () => {
      entry.act = ended;
    };
  };

  pass(ms: number): void {
    this.nowMs += ms;
    const due = this.#waiting.filter(({ atMs }) => atMs <= this.nowMs);
    this.#waiting = this.#waiting.filter((entry) => !due.includes(entry));
    for (const { act } of due) act();
  }
}

const shortMs = 3_000;
const ended = () => {};

/**
 * A double of a browser: what its tabs share. Cookies by name alone, one `localStorage`, Web Locks unless it is an old one.
 */
export class Browser {
  readonly time = new VirtualTime();
  readonly cookies = new Map<string, string>();
  readonly stored = new Map<string, string>();
  readonly #tabs = new Set<(key: string) => void>();
  /** `localStorage` takes nothing more. */
  isFull = false;
  /** Every request, as `METHOD path`. */
  readonly requests: string[] = [];
  /** Stands between browser and server; gives the answer, or throws as `fetch` does. */
  network: (pass: () => Promise<Response>, request: string, signal: AbortSignal) => Promise<Response> = (
    pass,
  ) => pass();

  constructor(
    private readonly server: TestServer,
    private readonly options: Omit<ClientOptions, "url"> & { readonly hasLocks?: boolean } = {},
  ) {}

  /** A page of an allowed origin. `skewMs` is what its device's clock is wrong by. */
  tab<Tables extends { [N in keyof Tables]: TableTypes } = Record<string, TableTypes>>(
    skewMs = () => 0,
    more: Partial<ClientOptions> = {},
  ): Client<Tables> {
    const { hasLocks = true, ...options } = this.options;
    const surroundings: Surroundings = {
      fetch: (input, init) => this.#fetch(String(input), init!),
      now: () => this.time.nowMs + skewMs(),
      random: Math.random,
      after: this.time.after,
      locks: hasLocks ? this.#locks : null,
    };
    return clientIn<Tables>(surroundings, {
      url: "http://127.0.0.1:8787",
      storage: this.#storage(),
      ...options,
      ...more,
    });
  }

  requestsTo(path: string): number {
    return this.requests.filter((request) => request.endsWith(` ${path}`)).length;
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const { pathname, search } = new URL(url);
    const request = `${init.method} ${pathname}`;
    this.requests.push(request);
    const headers = new Headers(init.headers);
    headers.set("Origin", "https://app.example.com");
    const includes = init.credentials === "include";
    if (includes && this.cookies.size > 0)
      headers.set("Cookie", [...this.cookies].map((pair) => pair.join("=")).join("; "));
    const { method, body } = init;
    const pass = async () => {
      const response = await this.server.request(pathname + search, {
        method: method!,
        headers,
        ...(body != null && { body }),
      });
      if (includes) this.#keep(response.headers.getSetCookie());
      return response;
    };
    return this.network(pass, request, init.signal!);
  }

  #keep(lines: readonly string[]): void {
    for (const line of lines) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (/Max-Age=0\b/.test(line)) this.cookies.delete(name!);
      else this.cookies.set(name!, value!);
    }
  }

  /** Events reach the other tabs, as in a browser. */
  #storage(): SessionStorage {
    let own: ((key: string) => void) | null = null;
    const tell = (key: string) => {
      for (const changed of this.#tabs) if (changed !== own) changed(key);
    };
    return {
      get: (key) => this.stored.get(key) ?? null,
      set: (key, value) => {
        if (this.isFull) throw new DOMException("full", "QuotaExceededError");
        this.stored.set(key, value);
        tell(key);
      },
      remove: (key) => {
        this.stored.delete(key);
        tell(key);
      },
      subscribe: (changed) => {
        own = changed;
        this.#tabs.add(changed);
        return () => this.#tabs.delete(changed);
      },
    };
  }

  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #locks: Locks = {
    request: (name, act) => {
      const turn = (this.#queues.get(name) ?? Promise.resolve()).then(act, act);
      this.#queues.set(name, turn);
      return turn;
    },
  };
}

/** Never answers, and is aborted as `fetch` is. */
export function hangs(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

/** The head arrives, and then the connection is gone. */
export function resetInBody(response: Response): Response {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"data":'));
      controller.error(new TypeError("terminated"));
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
