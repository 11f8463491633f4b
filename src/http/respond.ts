/**
 * Makes a JSON answer. Answers depend on the caller and the origin, so `Cache-Control: no-store` forbids to store them,
 * and `Vary: Origin` keeps a cache that stores them nevertheless from giving one origin's answer to another.
 */
export function json(body: unknown, status = 200, headers: HeadersRecord = {}): Response {
  return jsonText(JSON.stringify(body), status, headers);
}

/** Makes a JSON answer from a body that is JSON text already. It has the same headers as one of `json`. */
export function jsonText(body: string, status = 200, headers: HeadersRecord = {}): Response {
  return new Response(body, { status, headers: { ...always, ...headers } });
}

/**
 * Sets a header of a Response. A runtime passes this function as `AppOptions.addHeader` if changing a Response costs it
 * nothing.
 */
export function addHeader(response: Response, [name, value]: readonly [name: string, value: string]): void {
  response.headers.set(name, value);
}

/** The header that tells that a path takes the method QUERY with a body of JSON (RFC 10008, section 3). */
export const acceptsQuery = { "Accept-Query": "application/json" } as const;

/** HTTP headers: their values by their names. */
export type HeadersRecord = Readonly<Record<string, string>>;

/** The headers of every answer, successes and errors alike. */
export const everyAnswer = {
  "Cache-Control": "no-store",
  Vary: "Origin",
  // Keeps browsers from guessing a type other than the one that Content-Type names (Fetch standard,
  // "X-Content-Type-Options header").
  "X-Content-Type-Options": "nosniff",
  // Should a browser be made to show an answer as a page, the page can load nothing, and no other page can frame it.
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

const always = { "Content-Type": "application/json", ...everyAnswer };
