/**
 * Whether a host name or address (IPv6 with or without brackets) is that of the machine itself, so that no other
 * machine can reach it.
 */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}
