import { expect } from "vitest";
import type { TestServer } from "./server.js";

/** A response, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined where it is none. */
  readonly body: unknown;
}

/** One caller's requests, each read to its end. */
export interface Client {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  patch(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  delete(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** A body as it stands, under headers of the test's choice. */
  send(method: string, path: string, init: RequestInit): Promise<Answer>;
}

export function client(server: TestServer, credential: Readonly<Record<string, string>> = {}): Client {
  const send = async (method: string, path: string, init: RequestInit) =>
    read(await server.request(path, { ...init, method, headers: { ...credential, ...init.headers } }));
  const json =
    (method: string) =>
    (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
      send(method, path, {
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
  return {
    get: (path, headers = {}) => send("GET", path, { headers }),
    post: json("POST"),
    patch: json("PATCH"),
    delete: (path, headers = {}) => send("DELETE", path, { headers }),
    send,
  };
}

export async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json") ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== "" ? JSON.parse(text) : undefined,
  };
}

/** Nothing that a body may show of the inside: SQL, a stack, a name of the server's own. */
const inside =
  /\b(SELECT|INSERT|UPDATE|DELETE|RETURNING|SQLITE_\w+|sqlite|libsql|constraint failed)\b|\bat .+:\d+:\d+|node_modules|"?_(users|sessions|refresh_tokens|service_keys|schema)\b/;

/**
 * The answer is the error of that status and code, about these columns, in the specification's shape and nothing beside
 * it. Returns its message.
 */
export function expectRefusal(answer: Answer, status: number, code: string, columns: readonly string[] = []): string {
  // An operation says which step has refused.
  const { step } = (answer.body as { error?: { step?: unknown } } | null)?.error ?? {};
  const also = { ...(columns.length > 0 && { columns }), ...(typeof step === "number" && { step }) };
  expect({ status: answer.status, body: answer.body }).toEqual({
    status,
    body: { error: { code, message: expect.stringMatching(/./), ...also } },
  });
  expect(answer.headers.get("Cache-Control")).toBe("no-store");
  expect(answer.text).not.toMatch(inside);
  return (answer.body as { error: { message: string } }).error.message;
}

/** The answer has that status, that body and no other, and is kept by no cache. */
export function expectAnswer(answer: Answer, status: number, body: unknown): void {
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body });
  expect(answer.headers.get("Content-Type")).toMatch(/^application\/json/);
  expect(answer.headers.get("Cache-Control")).toBe("no-store");
}

/** `data` of an answer that must be a success. */
export function dataOf<T>(answer: Answer): T {
  expect(answer.status, answer.text).toBeLessThan(300);
  return (answer.body as { data: T }).data;
}

export interface ListMeta {
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
  readonly next_cursor?: string;
  readonly truncated?: boolean;
  readonly rows_read?: number | null;
}

export function metaOf(answer: Answer): ListMeta {
  expect(answer.status, answer.text).toBe(200);
  return (answer.body as { meta: ListMeta }).meta;
}

/** Every page of a list, from the first to the one without a cursor. */
export async function pagesOf(caller: Client, path: string, between?: (page: number) => Promise<unknown>) {
  const table = path.replace(/\?.*$/, "");
  const pages: { readonly data: readonly Record<string, unknown>[]; readonly meta: ListMeta }[] = [];
  let next: string | undefined = path;
  while (next !== undefined) {
    expect(pages.length, "pages without end").toBeLessThan(500);
    const answer: Answer = await caller.get(next);
    const meta: ListMeta = metaOf(answer);
    pages.push({ data: dataOf(answer), meta });
    next = meta.next_cursor === undefined ? undefined : `${table}?cursor=${meta.next_cursor}`;
    await between?.(pages.length);
  }
  return pages;
}
