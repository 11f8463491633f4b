/** Where the server is reached. */
export interface OwnOrigin {
  /** The canonical origin, which a proxy may hide from requests. */
  readonly own: string;
  /** Whether what a proxy adds to requests is believed (`server.trust_proxy`). */
  readonly trustProxy: boolean;
}

/** Which origins may call (docs/guides/browsers.md). */
export interface OriginPolicy extends OwnOrigin {
  readonly allowed: ReadonlySet<string>;
  readonly anyAllowed: boolean;
  /** Whether sessions travel in cookies. */
  readonly cookies: boolean;
}

/** `unknown` where neither header is there, as from a client that is no browser. */
export type OriginVerdict = "trusted" | "foreign" | "unknown";

/** Judges by `Origin` (RFC 6454, section 7), else by `Sec-Fetch-Site`. */
export function judgeOrigin(policy: OriginPolicy, request: Request): OriginVerdict {
  const origin = request.headers.get("Origin");
  const fetchSite = request.headers.get("Sec-Fetch-Site");
  if (origin !== null)
    return policy.allowed.has(origin) || isOwnOrigin(origin, policy, request) ? "trusted" : "foreign";
  if (fetchSite !== null) return fetchSite === "same-origin" || fetchSite === "none" ? "trusted" : "foreign";
  return "unknown";
}

/** The value of Access-Control-Allow-Origin for an origin, or null: none. */
export function allowOrigin(policy: OriginPolicy, origin: string): string | null {
  if (policy.anyAllowed) return "*";
  return policy.allowed.has(origin) ? origin : null;
}

/**
 * Whether an origin is the canonical one, or the one that the request came to. A page that came over plain HTTP may be
 * anybody's on the way: where the server is reached over HTTPS it is none of its own, though a proxy that ends TLS makes
 * every request look as plain.
 */
export function isOwnOrigin(origin: string, { own, trustProxy }: OwnOrigin, request: Request): boolean {
  if (origin === own) return true;
  const { protocol, host } = new URL(request.url);
  const target = `${forwardedProtocol(request, trustProxy) ?? protocol}//${host}`;
  return origin === target && !(isHttps(own) && !isHttps(target));
}

/** What the trusted proxy wrote: the last entry of X-Forwarded-Proto, as of X-Forwarded-For. Null where there is none. */
export function forwardedProtocol(request: Request, trustProxy: boolean): "http:" | "https:" | null {
  if (!trustProxy) return null;
  const last = request.headers.get("X-Forwarded-Proto")?.split(",").at(-1)?.trim().toLowerCase();
  return last === "http" || last === "https" ? `${last}:` : null;
}

export function isHttps(url: string): boolean {
  return url.startsWith("https:");
}
