import { isLoopbackHost } from "./loopback.js";
import { forwardedProtocol, isHttps, type OwnOrigin } from "./origin.js";

/** RFC 6797, section 6.1: a year, for this host alone. */
export const strictTransportSecurity = ["Strict-Transport-Security", "max-age=31536000"] as const;

/**
 * Whether the answer to a request says Strict-Transport-Security: where the request came over TLS (RFC 6797, section 7.2).
 * Behind a proxy that ends it a request looks plain: what the trusted proxy says counts, else the canonical origin. A loopback
 * host is told nothing, as browsers would hold whatever else runs on that machine to it.
 */
export function transportSecurity({ own, trustProxy }: OwnOrigin): (request: Request) => boolean {
  const isStrict = (url: string) => isHttps(url) && !isLoopbackHost(new URL(url).hostname);
  const canonicalIsStrict = isStrict(own);
  return (request) => {
    const forwarded = forwardedProtocol(request, trustProxy);
    if (forwarded === "http:") return false;
    return (
      canonicalIsStrict ||
      isStrict(forwarded === null ? request.url : request.url.replace(/^http:/, forwarded))
    );
  };
}
