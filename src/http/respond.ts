import { lengthOf, SlicedText, slicedFrom } from "./sliced-text.js";

/**
 * Makes a JSON answer. Answers depend on the caller and the origin, so `Cache-Control: no-store` forbids to store them,
 * and `Vary: Origin` keeps a cache that stores them nevertheless from giving one origin's answer to another.
 */
export function json(body: unknown, status = 200, headers: HeadersRecord = {}): Response {
  return jsonText(JSON.stringify(body), status, headers);
}

/** Like `json`, from a body that is JSON text already. */
export function jsonText(body: string, status = 200, headers: HeadersRecord = {}): Response {
  return jsonPieces([body], status, headers);
}

/** Like `jsonText`, from a text that is given in pieces, none of them empty. A long one is sent in slices. */
export function jsonPieces(pieces: readonly string[], status = 200, headers: HeadersRecord = {}): Response {
  const init = { status, headers: { ...always, ...headers } };
  if (lengthOf(pieces) < slicedFrom) return new Response(pieces.join(""), init);
  const text = new SlicedText(pieces);
  const response: Sliced = new Response(text.stream, init);
  response[sliced] = text;
  return response;
}

const sliced = Symbol("sliced");
type Sliced = Response & { [sliced]?: SlicedText };

/** The text of an answer that `jsonText` sends in slices; undefined for any other answer. */
export function slicedTextOf(response: Response): SlicedText | undefined {
  return (response as Sliced)[sliced];
}

/**
 * Sets a header of a Response. A runtime passes this as `AppOptions.addHeader` if changing a Response costs it nothing.
 */
export function addHeader(response: Response, [name, value]: readonly [name: string, value: string]): void {
  response.headers.set(name, value);
}

/** Says that a path takes the method QUERY with a body of JSON (RFC 10008, section 3). */
export const acceptsQuery = { "Accept-Query": "application/json" } as const;

/** Values by header name. */
export type HeadersRecord = Readonly<Record<string, string>>;

/** The headers of every answer, successes and errors alike. */
export const everyAnswer = {
  "Cache-Control": "no-store",
  Vary: "Origin",
  // Keeps browsers from guessing another type than that of Content-Type (Fetch standard, "X-Content-Type-Options
  // header").
  "X-Content-Type-Options": "nosniff",
  // If a browser is made to show an answer as a page, the page can load nothing, and no other page can frame it.
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

const always = { "Content-Type": "application/json", ...everyAnswer };
