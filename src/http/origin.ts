/** Which origins may call (interface, sections 2 and 7). */
export interface OriginPolicy {
  readonly allowed: ReadonlySet<string>;
  readonly anyAllowed: boolean;
  /** The canonical origin of the server, where it is configured; a proxy may hide it from requests. */
  readonly own: string | null;
  /** Whether sessions travel in cookies. */
  readonly cookies: boolean;
}

/** Where a request says that it comes from. */
export interface RequestOrigin {
  /** The header `Origin` (RFC 6454, section 7); null where it is missing. */
  readonly origin: string | null;
  /** The header `Sec-Fetch-Site`; null where it is missing. */
  readonly fetchSite: string | null;
  /** The origin of the request's own URL. */
  readonly target: string;
}

/** `unknown` where neither header is there, as from a client that is no browser. */
export type OriginVerdict = "trusted" | "foreign" | "unknown";

/** Judges by `Origin`, else by `Sec-Fetch-Site`. */
export function judgeOrigin(
  policy: OriginPolicy,
  { origin, fetchSite, target }: RequestOrigin,
): OriginVerdict {
  if (origin !== null)
    return origin === target || origin === policy.own || policy.allowed.has(origin) ? "trusted" : "foreign";
  if (fetchSite !== null) return fetchSite === "same-origin" || fetchSite === "none" ? "trusted" : "foreign";
  return "unknown";
}

/** The value of Access-Control-Allow-Origin for an origin, or null: none. */
export function allowOrigin(policy: OriginPolicy, origin: string): string | null {
  if (policy.anyAllowed) return "*";
  return policy.allowed.has(origin) ? origin : null;
}

export function requestOrigin(request: Request): RequestOrigin {
  return {
    origin: request.headers.get("Origin"),
    fetchSite: request.headers.get("Sec-Fetch-Site"),
    target: new URL(request.url).origin,
  };
}
