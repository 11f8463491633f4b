/** A host name or address (IPv6 without brackets) and a port to listen on; port 0 picks a free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Reads `host:port`, with an IPv6 address in brackets; null for any other text. */
export function parseListenAddress(text: string): ListenAddress | null {
  const [, bracketed, plain, digits] = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  return host === undefined || port > 65_535 ? null : { host, port };
}
