import { SvcError } from "../../client/index.js";
import { consoleFetch } from "./console-fetch.js";

/** The body of a successful answer: in `meta` what the server says about `data`. */
export interface AdminAnswer<Data, Meta = unknown> {
  readonly data: Data;
  readonly meta?: Meta;
}

/** Options of a request: a signal that aborts it, and further headers. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request to a path under /admin/api. Throws SvcError for everything but a success. */
export async function requestData<Data>(
  method: string,
  path: string,
  body?: unknown,
  options: RequestOptions = {},
): Promise<Data> {
  return (await requestAnswer<Data>(method, path, body, options)).data;
}

/**
 * As `requestData`, but returns `meta` too. A body that is a string is sent as YAML, any other as JSON. A path that
 * begins with `//` is at the root of the server instead of under /admin/api.
 */
export async function requestAnswer<Data, Meta = unknown>(
  method: string,
  path: string,
  body?: unknown,
  { signal, headers }: RequestOptions = {},
): Promise<AdminAnswer<Data, Meta>> {
  const isYaml = typeof body === "string";
  const type = body === undefined ? {} : { "Content-Type": isYaml ? "application/yaml" : "application/json" };
  const url = path.startsWith("//") ? path.slice(1) : `/admin/api${path}`;
  const response = await consoleFetch(url, {
    method,
    headers: { ...type, ...headers },
    body: body === undefined ? null : isYaml ? body : JSON.stringify(body),
    signal: signal ?? null,
  }).catch((error: unknown) => {
    throw new SvcError(0, signal?.aborted ? "aborted" : "network_error", "the server cannot be reached", null, {
      cause: error,
    });
  });
  const answer = (await response.json().catch(() => null)) as
    | (AdminAnswer<Data, Meta> & { readonly error?: { readonly code: string; readonly message: string } })
    | null;
  if (response.ok && answer !== null && "data" in answer) return answer;
  const { code, message } = answer?.error ?? {
    code: "unexpected_answer",
    message: `an answer of status ${response.status} that is not the server's`,
  };
  const retryAfter = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  throw new SvcError(response.status, code, message, Number.isNaN(retryAfter) ? null : retryAfter);
}
