/**
 * The part of a client's address by which failed passwords and registrations are counted: the whole IPv4 address, or
 * the /64 of an IPv6 address, because a subscriber can use any address within their /64.
 * `docs/reference/auth.md#throttle`
 */
export function addressUnit(address: string): string {
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address);
  if (mapped !== null) return mapped[1]!;
  return address.includes(":") ? prefix64(address) : address;
}

/**
 * Whether an address is of this machine or of a network that is not the internet (RFC 1918, 3927, 4193, 4291, 6598). A
 * connection from such an address comes from a proxy rather than from a client.
 */
export function isPrivateAddress(address: string): boolean {
  const unit = addressUnit(address);
  return (
    /^(10|127|192\.168|169\.254|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.|^(f[cd]..|fe[89ab].):/.test(
      unit,
    ) || unit === "0:0:0:0::/64"
  );
}

function prefix64(address: string): string {
  const [head = "", tail] = address.replace(/%.*$/, "").toLowerCase().split("::");
  const left = groups(head);
  const missing = tail === undefined ? 0 : 8 - left.length - groups(tail).length;
  const all = [...left, ...Array<string>(Math.max(0, missing)).fill("0"), ...groups(tail ?? "")];
  return `${all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")}::/64`;
}

function groups(text: string): string[] {
  return text === "" ? [] : text.split(":");
}

/**
 * The client's address according to the trusted proxy, without a port: the last entry of `X-Forwarded-For`, because the
 * proxy appends its entry to whatever the client sent. Null if the header is missing or its last entry is empty.
 */
export function lastForwarded(header: string | null): string | null {
  const last = header?.split(",").at(-1)?.trim();
  return last ? withoutPort(last) : null;
}

/** Removes the port that some proxies write: `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([^:]+):\d+$/.exec(text)?.[1] ?? text;
}
