/** Without a slash at the end. */
export function listenUrl(host: string, port: number, isTls: boolean): string {
  return `${isTls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * By which name URLs call the host that a server listens on, and at which addresses it listens. In cookie mode, this
 * machine is `localhost`, at both of its addresses: pages under development are there, and the browser sends them no
 * cookies of `127.0.0.1`, which is another site.
 */
export function namedHost(
  host: string,
  cookieMode: boolean,
): { readonly name: string; readonly addresses: readonly [string, ...string[]] } {
  return cookieMode && ["127.0.0.1", "::1", "localhost"].includes(host)
    ? { name: "localhost", addresses: ["127.0.0.1", "::1"] }
    : { name: host, addresses: [host] };
}
