/** What is known of the server's own origin. */
export interface OwnOrigin {
  /** As configured. Behind a proxy, requests may show another one. */
  readonly own: string;
  /** Whether the headers that a proxy adds are believed (`server.trust_proxy`). */
  readonly trustProxy: boolean;
}

/**
 * Which web origins may send requests with a session, and which may read answers.
 * `docs/reference/auth.md#cross-site-requests`
 */
export interface OriginPolicy extends OwnOrigin {
  readonly allowed: ReadonlySet<string>;
  readonly anyAllowed: boolean;
  /** Whether sessions may travel in cookies (`auth.cookie_mode`). */
  readonly cookies: boolean;
}

/**
 * What is known of the page that a request comes from. `trusted`: it is of the server's own origin or of one allowed by
 * name, or the user opened the URL themselves. `foreign`: it is of another origin. `unknown`: the request has neither
 * `Origin` nor `Sec-Fetch-Site`, as from a client that is not a browser.
 */
export type OriginVerdict = "trusted" | "foreign" | "unknown";

/** Judges a request by `Origin` (RFC 6454, section 7), or by `Sec-Fetch-Site` if it has no `Origin`. */
export function judgeOrigin(policy: OriginPolicy, request: Request): OriginVerdict {
  const origin = request.headers.get("Origin");
  const fetchSite = request.headers.get("Sec-Fetch-Site");
  if (origin !== null)
    return policy.allowed.has(origin) || isOwnOrigin(origin, policy, request) ? "trusted" : "foreign";
  if (fetchSite !== null) return fetchSite === "same-origin" || fetchSite === "none" ? "trusted" : "foreign";
  return "unknown";
}

/** The value of `Access-Control-Allow-Origin`; null if the origin is not allowed. */
export function allowOrigin(policy: OriginPolicy, origin: string): string | null {
  if (policy.anyAllowed) return "*";
  return policy.allowed.has(origin) ? origin : null;
}

/**
 * Whether an origin is the server's own: the canonical one, or the one that the request came to. If the canonical
 * origin is HTTPS, a plain HTTP origin of the same host is not: anybody on the network path could have written that
 * page, and behind a proxy that ends TLS its request would look as if it came from the server itself.
 */
export function isOwnOrigin(origin: string, { own, trustProxy }: OwnOrigin, request: Request): boolean {
  if (origin === own) return true;
  const { protocol, host } = new URL(request.url);
  const target = `${forwardedProtocol(request, trustProxy) ?? protocol}//${host}`;
  return origin === target && !(isHttps(own) && !isHttps(target));
}

/**
 * The protocol between the client and the trusted proxy: the last entry of `X-Forwarded-Proto`, which the proxy wrote.
 * Null if no proxy is trusted, or the entry is missing or neither `http` nor `https`.
 */
export function forwardedProtocol(request: Request, trustProxy: boolean): "http:" | "https:" | null {
  if (!trustProxy) return null;
  const last = request.headers.get("X-Forwarded-Proto")?.split(",").at(-1)?.trim().toLowerCase();
  return last === "http" || last === "https" ? `${last}:` : null;
}

/** The URL or origin must be in lower case. */
export function isHttps(url: string): boolean {
  return url.startsWith("https:");
}
