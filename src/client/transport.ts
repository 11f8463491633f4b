import { badCall, SvcError } from "./error.js";
import type { Surroundings } from "./surroundings.js";

export interface Call {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** The body of a success, as it came. */
export interface Answer<Data = unknown, Meta = unknown> {
  readonly data: Data;
  readonly meta?: Meta;
}

export type Send = (call: Call) => Promise<Answer>;

export interface TransportOptions {
  readonly url: string;
  readonly timeoutMs: number;
  readonly cookies: boolean;
  readonly surroundings: Surroundings;
}

/** One request and its answer, read to the end. Throws SvcError for everything but a success. */
export function transport({ url, timeoutMs, cookies, surroundings }: TransportOptions): Send {
  return async ({ method, path, body, headers, signal }) => {
    const sent = textOf(body);
    const controller = new AbortController();
    const abort = () => controller.abort();
    let isLate = false;
    const cancel = surroundings.after(timeoutMs, () => {
      isLate = true;
      abort();
    });
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
    try {
      const response = await surroundings.fetch(url + path, {
        method,
        headers: { ...(sent !== null && { "Content-Type": "application/json" }), ...headers },
        body: sent,
        credentials: cookies ? "include" : "omit",
        // Nothing of the server's redirects, and what is sent is for nobody else.
        redirect: "error",
        signal: controller.signal,
      });
      return read(response, await response.text());
    } catch (error) {
      if (error instanceof SvcError) throw error;
      throw failure(signal?.aborted ? "aborted" : isLate ? "timeout" : "network_error", error);
    } finally {
      cancel();
      signal?.removeEventListener("abort", abort);
    }
  };
}

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
    readonly error?: { readonly code?: unknown; readonly message?: unknown };
  } | null;
  if (ok && body !== null && "data" in body) return body as Answer;
  const { code, message } = body?.error ?? {};
  const retryAfter = Number.parseInt(headers.get("Retry-After") ?? "", 10);
  // An answer without the server's shape is of something in between, and says nothing about the session.
  throw !ok && typeof code === "string"
    ? new SvcError(status, code, String(message), Number.isNaN(retryAfter) ? null : retryAfter)
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

/** A call that may be repeated: again after failures that pass, a bounded number of times, with backoff and jitter. */
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
