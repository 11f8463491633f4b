import { badCall, SvcError, SvcPreconditionError } from "./error.js";
import type { Surroundings } from "./surroundings.js";

/** A request to the server, relative to its URL. */
export interface Call {
  readonly method: string;
  /** The path and query of the request's URL. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The `Idempotency-Key` under which the server does the call once, however often it is sent. The server keeps such
   * keys only for callers whom it knows.
   */
  readonly onceKey?: string | undefined;
  /** The id of the only user as whom the call may be sent. */
  readonly user?: string;
  readonly signal?: AbortSignal | undefined;
  /** A function that is waited for each time before the call is sent; the call is not sent if it throws. */
  readonly before?: () => Promise<void>;
  /** A function that takes the text of a response that is a stream, in pieces. The call then ends with the stream. */
  readonly onText?: (text: string) => void;
}

/** The body of a successful response, as the server sends it. */
export interface Answer<Data = unknown, Meta = unknown> {
  readonly data: Data;
  readonly meta?: Meta;
}

/** Sends a call. Rejects with SvcError for everything but a success. */
export type Send = (call: Call) => Promise<Answer>;

/** The server, and how requests are sent to it. */
export interface TransportOptions {
  readonly url: string;
  /** What stands in the place of `/api` in paths. */
  readonly tablesPath: string;
  readonly timeoutMs: number;
  readonly cookies: boolean;
  readonly surroundings: Surroundings;
}

/**
 * Makes a function that sends one request and reads the whole response. It throws SvcError for everything but a
 * success.
 */
export function transport({ url, tablesPath, timeoutMs, cookies, surroundings }: TransportOptions): Send {
  return async ({ method, path, body, headers, signal, before, onText }) => {
    await before?.();
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
        // The server never redirects, and credentials must not be sent elsewhere.
        redirect: "error",
        signal: controller.signal,
      });
      if (!onText || !response.ok) return read(response, await response.text());
      const decoder = new TextDecoder();
      const pieces = response.body!.getReader();
      // Node's `fetch` forgets the signal of a request whose response goes on for long, so the reader is cancelled
      // itself.
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

/** After how many milliseconds without any data a stream is taken for dead: the server sends a comment every 15 s. */
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
    };
  } | null;
  if (ok && body !== null && "data" in body) return body as Answer;
  const { code, message, columns, expected } = body?.error ?? {};
  const retryAfter = Number.parseInt(headers.get("Retry-After") ?? "", 10);
  // A response that is not in the server's format comes from something in between, such as a proxy, so its status says
  // nothing about the session.
  const Refused = code === "precondition_failed" ? SvcPreconditionError : SvcError;
  throw !ok && typeof code === "string"
    ? new Refused(status, code, String(message), Number.isNaN(retryAfter) ? null : retryAfter, {
        columns: Array.isArray(columns) ? columns.map(String) : [],
        expected: typeof expected === "number" ? expected : null,
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
 * Makes a `Send` for calls that may be repeated: it tries up to three times after transient failures, with backoff
 * and jitter, or after the time in Retry-After if that is at most 10 s.
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
 * Makes a `Send` for writes. A call with a `onceKey` is sent with it as `Idempotency-Key` and tried again as
 * `repeatedly` does, because the server does it once (`docs/reference/http.md#idempotency`). A call without is sent
 * once.
 */
export function written(send: Send, repeatedly: Send): Send {
  return async ({ onceKey, ...call }) => {
    if (onceKey === undefined) return send(call);
    try {
      return await repeatedly({ ...call, headers: { ...call.headers, [onceHeader]: onceKey } });
    } catch (error) {
      // The server has refused the `Idempotency-Key` and done nothing: it keeps no answers for this table, or it does
      // not know the caller, as where a browser has dropped its cookies.
      if (error instanceof SvcError && error.status === 400 && error.message.startsWith(`${onceHeader}:`))
        return send(call);
      throw error;
    }
  };
}
