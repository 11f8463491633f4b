/**
 * A JSON answer. Answers differ by who asks and from where, so none is stored, and `Vary` says so to caches that store
 * all the same.
 */
export function json(body: unknown, status = 200, headers: HeadersRecord = {}): Response {
  return jsonText(JSON.stringify(body), status, headers);
}

/** As `json`, of a body that is JSON text already. */
export function jsonText(body: string, status = 200, headers: HeadersRecord = {}): Response {
  return new Response(body, { status, headers: { ...always, ...headers } });
}

/** For `AppOptions.addHeader`, where touching a Response costs nothing. */
export function addHeader(response: Response, [name, value]: readonly [name: string, value: string]): void {
  response.headers.set(name, value);
}

export type HeadersRecord = Readonly<Record<string, string>>;

/** Of every answer, whatever it holds. */
export const everyAnswer = {
  "Cache-Control": "no-store",
  Vary: "Origin",
  // A browser takes it for what it says that it is (Fetch, "X-Content-Type-Options header").
  "X-Content-Type-Options": "nosniff",
} as const;

const always = { "Content-Type": "application/json", ...everyAnswer };
