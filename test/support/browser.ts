import { randomUUID } from "node:crypto";
import { type Client, type ClientOptions, clientIn } from "../../src/client/client.js";
import type { Locks, SessionStorage, Surroundings } from "../../src/client/surroundings.js";
import type { OperationTypes, TableTypes } from "../../src/client/table-types.js";
import type { TestServer } from "./server.js";

/**
 * Stands still while a request is with the server; with nothing else to do it leaps to what is waited for next. `passed` is
 * told of every leap.
 */
export class VirtualTime {
  nowMs = Date.parse("2026-01-01T00:00:00Z");
  #waiting: { readonly atMs: number; readonly act: () => void }[] = [];
  #busy = 0;
  #isLooking = false;

  constructor(private readonly passed: (ms: number) => void) {}

  after = (ms: number, act: () => void): (() => void) => {
    const entry = { atMs: this.nowMs + Math.ceil(ms), act };
    this.#waiting.push(entry);
    this.#look();
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== entry);
    };
  };

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#busy++;
    try {
      return await work();
    } finally {
      this.#busy--;
      this.#look();
    }
  }

  pass(ms: number): void {
    const end = this.nowMs + ms;
    for (let next = this.#next(); next !== undefined && next.atMs <= end; next = this.#next()) this.#leap(next);
    this.#advance(end);
  }

  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    // What is ready to go on goes on first.
    setImmediate(() =>
      setImmediate(() => {
        this.#isLooking = false;
        const next = this.#next();
        if (this.#busy > 0 || next === undefined) return;
        this.#leap(next);
        this.#look();
      }),
    );
  }

  #next() {
    return this.#waiting.toSorted((a, b) => a.atMs - b.atMs)[0];
  }

  #leap(entry: { readonly atMs: number; readonly act: () => void }): void {
    this.#waiting = this.#waiting.filter((other) => other !== entry);
    this.#advance(entry.atMs);
    entry.act();
  }

  #advance(toMs: number): void {
    if (toMs <= this.nowMs) return;
    this.passed(toMs - this.nowMs);
    this.nowMs = toMs;
  }
}

export type BrowserOptions = Omit<ClientOptions, "url"> & {
  readonly hasLocks?: boolean;
  /** The URL of its pages. */
  readonly page?: string;
};

/**
 * A double of a browser: what its tabs share. Cookies by name alone, one `localStorage`, Web Locks unless it is an old one.
 */
export class Browser {
  readonly time: VirtualTime;
  readonly cookies = new Map<string, { readonly value: string; readonly untilMs: number }>();
  readonly stored = new Map<string, string>();
  readonly #tabs = new Set<(key: string) => void>();
  /** `localStorage` takes nothing more. */
  isFull = false;
  /** Every request, as `METHOD path`. */
  readonly requests: string[] = [];
  /** The lines of the developer's console. */
  readonly warnings: string[] = [];
  /** Stands between browser and server; gives the answer, or throws as `fetch` does. */
  network: (pass: () => Promise<Response>, request: string, signal: AbortSignal) => Promise<Response> = (pass) =>
    pass();

  constructor(
    private readonly server: TestServer,
    private readonly options: BrowserOptions = {},
  ) {
    this.time = new VirtualTime((ms) => server.clock.advance(ms));
  }

  /** A page of an allowed origin. `skewMs` is what its device's clock is wrong by. */
  tab<
    Tables extends { [N in keyof Tables]: TableTypes } = Record<string, TableTypes>,
    Operations extends { [N in keyof Operations]: OperationTypes } = Record<never, never>,
  >(skewMs = () => 0, more: Partial<ClientOptions> = {}): Client<Tables, Operations> {
    const { hasLocks = true, page = null, ...options } = this.options;
    const surroundings: Surroundings = {
      fetch: (input, init) => this.#fetch(String(input), init!),
      now: () => this.time.nowMs + skewMs(),
      random: Math.random,
      unique: () => randomUUID(),
      after: this.time.after,
      locks: hasLocks ? this.#locks : null,
      channel: () => null,
      page: () => page,
      warn: (text) => void this.warnings.push(text),
      online: () => () => {},
    };
    return clientIn<Tables, Operations>(surroundings, {
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
    const { method, body } = init;
    const pass = () =>
      this.time.during(async () => {
        for (const [name, { untilMs }] of this.cookies) if (untilMs <= this.time.nowMs) this.cookies.delete(name);
        if (includes && this.cookies.size > 0)
          headers.set("Cookie", [...this.cookies].map(([name, { value }]) => `${name}=${value}`).join("; "));
        const response = await this.server.request(pathname + search, {
          method: method!,
          headers,
          ...(body != null && { body }),
        });
        const text = await response.text();
        return new Response(text, { status: response.status, headers: response.headers });
      });
    const response = await this.network(pass, request, init.signal!);
    // Cookies are kept when the head of an answer arrives, unless the request was called off.
    if (includes && !init.signal!.aborted) this.#keep(response.headers.getSetCookie());
    return response;
  }

  #keep(lines: readonly string[]): void {
    for (const line of lines) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      const [, seconds] = /Max-Age=(\d+)/.exec(line)!;
      this.cookies.set(name!, { value: value!, untilMs: this.time.nowMs + Number(seconds) * 1000 });
    }
  }

  /** Events reach the other tabs, as in a browser. */
  #storage(): SessionStorage {
    let own: ((key: string) => void) | null = null;
    const tell = (key: string) => {
      for (const changed of this.#tabs) if (changed !== own) setImmediate(() => changed(key));
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
      },
    };
  }

  readonly #locks = webLocks();
}

/** A double of Web Locks, which Node 20 has not. */
export function webLocks(): Locks {
  const queues = new Map<string, Promise<unknown>>();
  return {
    request: (name, options, act) => {
      if ("ifAvailable" in options && queues.has(name)) return act(null);
      const signal = "signal" in options ? options.signal : new AbortController().signal;
      const turn = (queues.get(name) ?? Promise.resolve()).then(() => {
        if (signal.aborted) throw signal.reason;
        return act({});
      });
      const queued = turn
        .catch(() => {})
        .then(() => {
          if (queues.get(name) === queued) queues.delete(name);
        });
      queues.set(name, queued);
      return Promise.race([turn, hangs(signal)]);
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
