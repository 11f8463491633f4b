import { SvcError } from "./error.js";
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
export type Answer = { readonly data: never; readonly meta?: never };

export type Send = (call: Call) => Promise<Answer>;

const attemptsMax = 3;
const backoffMs = 300;
const retryAfterMsMax = 10_000;

export interface TransportOptions {
  readonly url: string;
  readonly timeoutMs: number;
  readonly cookies: boolean;
  readonly surroundings: Surroundings;
}

/** One request and its answer, read to the end. Throws SvcError for everything but a success. */
export function transport(options: TransportOptions): Send {
  const { url, timeoutMs, cookies, surroundings } = options;
  return async ({ method, path, body, headers, signal }) => {
    const controller = new AbortController();
    let isLate = false;
    const cancel = surroundings.after(timeoutMs, () => {
      isLate = true;
      controller.abort();
    });
    const abort = () => controller.abort();
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
    try {
      const response = await surroundings.fetch(url + path, {
        method,
        headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        credentials: cookies ? "include" : "omit",
        signal: controller.signal,
      });
      return read(response, await response.text());
    } catch (error) {
      if (error instanceof SvcError) throw error;
      if (signal?.aborted) throw new SvcError(0, "aborted", "the call was aborted", null, { cause: error });
      throw isLate
        ? new SvcError(0, "timeout", `no answer within ${timeoutMs} ms`, null, { cause: error })
        : new SvcError(0, "network_error", "the server cannot be reached", null, { cause: error });
    } finally {
      cancel();
      signal?.removeEventListener("abort", abort);
    }
  };
}

function read({ ok, status, headers }: Response, text: string): Answer {
  let body: { readonly error?: { readonly code?: unknown; readonly message?: unknown } } | null = null;
  try {
    body = JSON.parse(text);
  } catch {}
  if (ok && typeof body === "object" && body !== null) return body as unknown as Answer;
  const { code, message } = body?.error ?? {};
  const retryAfter = Number.parseInt(headers.get("Retry-After") ?? "", 10);
  // An answer without the server's shape is of something in between, and says nothing about the session.
  throw typeof code === "string"
    ? new SvcError(status, code, String(message), Number.isNaN(retryAfter) ? null : retryAfter)
    : new SvcError(status, "unexpected_answer", `an answer of status ${status} that is not the server's`);
}

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

const hedgeMs = 3_000;

/**
 * A refresh, which gives the same successor to whoever repeats it inside the grace window (specification 5.5): where no
 * answer has come for a while it is sent once more, and the first answer counts, whichever attempt it is for. So neither
 * a lost answer nor a slow line outlasts the window.
 */
export function hedged(send: Send, { random, after }: Surroundings): Send {
  return (call) =>
    new Promise((resolve, reject) => {
      let attempts = 0;
      let open = 0;
      let cancel = () => {};
      const launchAfter = (ms: number) => {
        cancel();
        cancel = attempts === attemptsMax ? () => {} : after(ms, launch);
      };
      const launch = () => {
        attempts++;
        open++;
        send(call).then(
          (answer) => {
            cancel();
            attempts = attemptsMax;
            resolve(answer);
          },
          (error: SvcError) => {
            open--;
            const isLast = attempts === attemptsMax && open === 0;
            if (!error.isTransient || isLast) {
              cancel();
              attempts = attemptsMax;
              reject(error);
            } else launchAfter(backoffMs * 2 ** (attempts - 1) * (0.5 + random()));
          },
        );
        launchAfter(hedgeMs);
      };
      launch();
    });
}
