/**
 * What to say to a developer whose page is on another site than the server, so that the browser does not send the
 * server's cookies, which are `SameSite=Lax`. Null if that is not certain. `page` is the page's URL, and `server` may be
 * relative to it.
 */
export function twoSitesWarning(page: string, server: string): string | null {
  const [from, to] = [new URL(page), new URL(server, page)];
  if (from.protocol === to.protocol && siteOf(from.hostname) === siteOf(to.hostname)) return null;
  const loopback = [from, to].every(({ hostname }) => isLoopback(hostname));
  const help = loopback ? "open both at localhost" : 'use session: "bearer", or serve both under one domain';
  return `svc: this page (${from.origin}) and the server (${to.origin}) are two sites, so the browser sends no cookies to the server, which answers 401: ${help}`;
}

/**
 * The last two labels of a domain name. A site has at least these, and more under a public suffix such as `co.uk`. So
 * hosts with different ones are certainly of different sites.
 */
function siteOf(hostname: string): string {
  const isAddress = hostname.startsWith("[") || /^[\d.]+$/.test(hostname);
  return isAddress ? hostname : hostname.split(".").slice(-2).join(".");
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}
