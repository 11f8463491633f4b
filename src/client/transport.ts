import { badCall, SvcError, SvcPreconditionError } from "./error.js";
import type { Surroundings } from "./surroundings.js";
import { twoSitesWarning } from "./two-sites.js";

/** A request to the server. */
export interface Call {
  readonly method: string;
  /** Path and query, relative to the server's URL. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The `Idempotency-Key`. Of several calls with the same key the server carries out only one, and gives all of them
   * its answer. It keeps keys only for callers who are signed in or have an API key.
   */
  readonly onceKey?: string | undefined;
  /** The id of the user whose call this is. The call fails, unsent, if somebody else is signed in by then. */
  readonly user?: string;
  readonly signal?: AbortSignal | undefined;
  /** Called and waited for before each attempt to send the call. If it throws, the call is not sent. */
  readonly before?: () => Promise<void>;
  /** For a response that is a stream: called with each piece of its text. The call ends when the stream ends. */
  readonly onText?: (text: string) => void;
}

/** The JSON body of a successful response: in `meta` what the server says about the result. */
export interface Answer<Data = unknown, Meta = unknown> {
  readonly data: Data;
  readonly meta?: Meta;
}

/** Rejects with SvcError for everything but a success. */
export type Send = (call: Call) => Promise<Answer>;

/** What `transport` needs. */
export interface TransportOptions {
  readonly url: string;
  /** The path of the tables, which replaces `/api` in calls to `/api/`. Other paths, such as under `/auth`, stay. */
  readonly tablesPath: string;
  readonly timeoutMs: number;
  readonly cookies: boolean;
  readonly surroundings: Surroundings;
}

/**
 * Sends one request and reads the whole response, or passes its text on in pieces (`onText`). In cookie mode, the first
 * call warns of a page to whose requests the browser adds no cookies.
 */
export function transport({ url, tablesPath, timeoutMs, cookies, surroundings }: TransportOptions): Send {
  let isFirst = true;
  const warnOnce = () => {
    const page = isFirst && cookies ? surroundings.page() : null;
    isFirst = false;
    const warning = page === null ? null : twoSitesWarning(page, url);
    if (warning !== null) surroundings.warn(warning);
  };
  return async ({ method, path, body, headers, signal, before, onText }) => {
    await before?.();
    warnOnce();
    const sent = textOf(body);
    const controller = new AbortController();
    const abort = () => controller.abort();
    let isLate = false;
    let cancel = () => {};
    const allow = (ms: number) => {
      cancel();
      cancel = surroundings.after(ms, () => {
        isLate = true;
        abort();
      });
    };
    allow(timeoutMs);
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
    try {
      const response = await surroundings.fetch(url + path.replace(/^\/api(?=\/)/, () => tablesPath), {
        method,
        headers: { ...(sent !== null && { "Content-Type": "application/json" }), ...headers },
        body: sent,
        credentials: cookies ? "include" : "omit",
        // The server never redirects. No other server may get the credentials.
        redirect: "error",
        signal: controller.signal,
      });
      if (!onText || !response.ok) return read(response, await response.text());
      const decoder = new TextDecoder();
      const pieces = response.body!.getReader();
      // Node's `fetch` does not end a response that has streamed for long when the request's signal is aborted.
      controller.signal.addEventListener("abort", () => void pieces.cancel().catch(() => {}));
      for (;;) {
        allow(silenceMs);
        const { value, done } = await pieces.read();
        if (done) return { data: null };
        onText(decoder.decode(value, { stream: true }));
      }
    } catch (error) {
      if (error instanceof SvcError) throw error;
      throw failure(signal?.aborted ? "aborted" : isLate ? "timeout" : "network_error", error);
    } finally {
      cancel();
      signal?.removeEventListener("abort", abort);
    }
  };
}

/** A stream without any data for so many milliseconds is dead. The server sends a comment every 15 s. */
const silenceMs = 40_000;

const failures = {
  aborted: "the call was aborted",
  timeout: "the server takes too long to answer",
  network_error: "the server cannot be reached, or does not allow this page's origin",
};

function failure(code: keyof typeof failures, cause: unknown): SvcError {
  return new SvcError(0, code, failures[code], null, { cause });
}

function textOf(body: unknown): string | null {
  try {
    return body === undefined ? null : JSON.stringify(body);
  } catch (error) {
    throw badCall(`not JSON: ${(error as Error).message}`);
  }
}

function read({ ok, status, headers }: Response, text: string): Answer {
  const body = parsed(text) as {
    readonly error?: {
      readonly code?: unknown;
      readonly message?: unknown;
      readonly columns?: unknown;
      readonly expected?: unknown;
      readonly step?: unknown;
    };
  } | null;
  if (ok && body !== null && "data" in body) return body as Answer;
  const { code, message, columns, expected, step } = body?.error ?? {};
  const retryAfter = Number.parseInt(headers.get("Retry-After") ?? "", 10);
  // A response that is not in the server's format comes from something in between, such as a proxy. Its status, such as
  // 401, says nothing about the session. So its code `unexpected_answer` is no code of a refusal.
  const Refused = code === "precondition_failed" ? SvcPreconditionError : SvcError;
  throw !ok && typeof code === "string"
    ? new Refused(status, code, String(message), Number.isNaN(retryAfter) ? null : retryAfter, {
        columns: Array.isArray(columns) ? columns.map(String) : [],
        expected: typeof expected === "number" ? expected : null,
        step: typeof step === "number" ? step : null,
      })
    : new SvcError(status, "unexpected_answer", `an answer of status ${status} that is not the server's`);
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

const attemptsMax = 3;
const backoffMs = 300;
const retryAfterMsMax = 10_000;

/**
 * Sends a call up to three times while it fails for transient reasons. It waits between attempts, with backoff and
 * jitter, or as long as Retry-After says; if that is more than 10 s, it gives up. Only for calls that do no harm when
 * they are done twice.
 */
export function repeated(send: Send, { random, after }: Surroundings): Send {
  return async (call) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(call);
      } catch (error) {
        if (!(error instanceof SvcError && error.isTransient) || attempt === attemptsMax) throw error;
        const wanted = (error.retryAfterSeconds ?? 0) * 1000;
        if (wanted > retryAfterMsMax) throw error;
        const ms = Math.max(wanted, backoffMs * 2 ** (attempt - 1) * (0.5 + random()));
        await new Promise<void>((resolve) => after(ms, resolve));
      }
    }
  };
}

const onceHeader = "Idempotency-Key";

/**
 * Sends writes. A call with a `onceKey` is sent by `repeatedly`, with the key as `Idempotency-Key`, so that the server
 * carries it out only once (`docs/reference/http.md#idempotency`). A call without a key is sent once.
 */
export function written(send: Send, repeatedly: Send): Send {
  return async ({ onceKey, ...call }) => {
    if (onceKey === undefined) return send(call);
    try {
      return await repeatedly({ ...call, headers: { ...call.headers, [onceHeader]: onceKey } });
    } catch (error) {
      // The server has refused the `Idempotency-Key` and carried out nothing: the table keeps no answers for repeated
      // calls, or the caller is unknown, such as when a browser has dropped its cookies.
      if (error instanceof SvcError && error.status === 400 && error.message.startsWith(`${onceHeader}:`))
        return send(call);
      throw error;
    }
  };
}
