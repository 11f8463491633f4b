import { type Invocation, RefusedError, UsageError } from "./command.js";
import { readSecretLines } from "./standard-input.js";

/** A running server, on Node or on Workers, which a command calls with an API key or as an administrator. */
export interface RemoteServer {
  /** Returns the `data` of the answer. Throws RefusedError with the server's own message. */
  call(method: string, path: string, body?: RemoteBody): Promise<unknown>;
  /** Reads a list to its end, page by page. Throws RefusedError with the server's own message. */
  list(path: string, parameters?: string): Promise<readonly unknown[]>;
  /** The lines of standard input after the key or password for signing in. */
  readonly moreLines: readonly string[];
}

/** A value to send as JSON, or YAML text. */
export type RemoteBody = { readonly json: unknown } | { readonly yaml: string };

/** By which a command works on a running server, signed in with an API key. */
export const remoteOptions = { url: { type: "string" }, "key-stdin": { type: "boolean" } } as const;
/** The lines of `--help` about `remoteOptions`. */
export const remoteHelp = [
  "--url URL        a running server instead of the local database",
  "--key-stdin      with --url: a project:backend key on the first line of standard input",
] as const;

/**
 * For signing in with an API key or as an administrator. They are for commands in which `--email` has no other meaning,
 * because here it names the administrator.
 */
export const signInOptions = {
  ...remoteOptions,
  email: { type: "string" },
  "password-stdin": { type: "boolean" },
} as const;
/** The lines of `--help` about `signInOptions`. */
export const signInHelp = [
  ...remoteHelp,
  "--email E --password-stdin   with --url: an admin, instead of a key",
] as const;

/**
 * Signs in to the server that `--url` names; null without `--url`. The key or password comes from standard input,
 * because arguments are visible to other processes. Throws UsageError with the `ways` if the arguments name no way to
 * sign in; RefusedError if the sign-in fails.
 */
export async function remoteServer(
  invocation: Invocation,
  ways: readonly string[] = ["--key-stdin", "--email E --password-stdin of an admin"],
): Promise<RemoteServer | null> {
  const url = invocation.text("url");
  if (url === undefined) return null;
  if (!URL.canParse(url)) throw new UsageError(`--url: ${url} is not a URL`);
  const byKey = invocation.flag("key-stdin");
  if (!byKey && !(invocation.flag("password-stdin") && invocation.text("email") !== undefined))
    throw new UsageError(`--url needs ${ways.join(", or ")}`);
  const [secret = "", ...moreLines] = await readSecretLines();
  const token = byKey ? secret : await signIn(url, invocation.text("email")!, secret);
  const answer = (method: string, path: string, body?: RemoteBody) => answerOf(new URL(path, url), method, body, token);
  return {
    moreLines,
    call: async (method, path, body) => (await answer(method, path, body)).data,
    list: (path, parameters = "") => allPages(path, parameters, (page) => answer("GET", page)),
  };
}

async function allPages(
  path: string,
  parameters: string,
  get: (page: string) => Promise<RemoteAnswer>,
): Promise<readonly unknown[]> {
  const rows: unknown[] = [];
  for (let page: string | null = `${path}?limit=1000&${parameters}`; page !== null; ) {
    const { data, nextCursor } = await get(page);
    rows.push(...(data as readonly unknown[]));
    page = nextCursor === null ? null : `${path}?cursor=${encodeURIComponent(nextCursor)}`;
  }
  return rows;
}

async function signIn(url: string, email: string, password: string): Promise<string> {
  const body = { json: { email, password } };
  const { data, cookies } = await answerOf(new URL("/auth/login", url), "POST", body, null);
  const token = (data as { access_token?: string }).access_token ?? accessCookieOf(cookies);
  if (token === null) throw new RefusedError(`${new URL(url).origin} has signed ${email} in without a token`);
  return token;
}

/** The access token of servers that send it in a cookie alone (`auth.cookie_tokens_in_body` is false). */
function accessCookieOf(cookies: readonly string[]): string | null {
  const values = cookies.map((text) => /^svc_access=([^;]+)/.exec(text)?.[1]);
  return values.find((value) => value !== undefined) ?? null;
}

/** `nextCursor` is null if no page follows. */
interface RemoteAnswer {
  readonly data: unknown;
  readonly nextCursor: string | null;
  readonly cookies: readonly string[];
}

async function answerOf(
  url: URL,
  method: string,
  body: RemoteBody | undefined,
  token: string | null,
): Promise<RemoteAnswer> {
  const isYaml = body !== undefined && "yaml" in body;
  const response = await send(url, {
    method,
    redirect: "error",
    headers: {
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "Content-Type": isYaml ? "application/yaml" : "application/json" }),
    },
    ...(body === undefined ? {} : { body: isYaml ? body.yaml : JSON.stringify(body.json) }),
  });
  const answer = (await response.json().catch(() => ({}))) as {
    data?: unknown;
    meta?: { next_cursor?: string };
    error?: { message: string };
  };
  if (!response.ok) throw new RefusedError(answer.error?.message ?? `${url.origin} answered ${response.status}`);
  return {
    data: answer.data,
    nextCursor: answer.meta?.next_cursor ?? null,
    cookies: response.headers.getSetCookie(),
  };
}

async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const { cause } = error as { cause?: { message?: string } };
    throw new RefusedError(`${url.origin} cannot be reached: ${cause?.message ?? (error as Error).message}`);
  }
}
