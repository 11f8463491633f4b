/**
 * A JSON answer. Answers differ by who asks and from where, so none is stored, and `Vary` says so to caches that store
 * all the same (interface, section 7).
 */
export function json(body: unknown, status = 200, headers: HeadersRecord = {}): Response {
  return jsonText(JSON.stringify(body), status, headers);
}

/** As `json`, of a body that is JSON text already. */
export function jsonText(body: string, status = 200, headers: HeadersRecord = {}): Response {
  return new Response(body, { status, headers: { ...always, ...headers } });
}

export type HeadersRecord = Readonly<Record<string, string>>;

const always = { "Content-Type": "application/json", "Cache-Control": "no-store", Vary: "Origin" };
