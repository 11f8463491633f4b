import { isLoopbackHost } from "./loopback.js";
import { forwardedProtocol, isHttps, type OwnOrigin } from "./origin.js";

/** RFC 6797, section 6.1: for a year, browsers use only HTTPS for this host. Its subdomains are not included. */
export const strictTransportSecurity = ["Strict-Transport-Security", "max-age=31536000"] as const;

/**
 * Whether the answer to a request gets Strict-Transport-Security: if the request came over TLS (RFC 6797, section 7.2),
 * by its URL or by `X-Forwarded-Proto` of a trusted proxy. If the canonical origin is HTTPS, every answer gets it,
 * because a proxy may end TLS, unless a trusted proxy says `http`. HTTPS of a loopback host does not count: browsers
 * would then demand HTTPS of every other server on that machine, too. `docs/reference/auth.md#transport-security`
 */
export function transportSecurity({ own, trustProxy }: OwnOrigin): (request: Request) => boolean {
  const isStrict = (url: string) => isHttps(url) && !isLoopbackHost(new URL(url).hostname);
  const canonicalIsStrict = isStrict(own);
  return (request) => {
    const forwarded = forwardedProtocol(request, trustProxy);
    if (forwarded === "http:") return false;
    return canonicalIsStrict || isStrict(forwarded === null ? request.url : request.url.replace(/^http:/, forwarded));
  };
}
