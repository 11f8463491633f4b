/**
 * The unit that a client's attempts are counted by: an IPv4 address, or the /64 of an IPv6 one, of which a single
 * subscriber has as many addresses as they like.
 */
export function addressUnit(address: string): string {
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address);
  if (mapped !== null) return mapped[1]!;
  return address.includes(":") ? prefix64(address) : address;
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

/** The last entry of X-Forwarded-For is the one that the trusted proxy wrote. */
export function lastForwarded(header: string | null): string | null {
  const last = header?.split(",").at(-1)?.trim();
  return last ? withoutPort(last) : null;
}

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([^:]+):\d+$/.exec(text)?.[1] ?? text;
}
