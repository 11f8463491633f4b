import { addressUnit } from "../http/client-address.js";

/**
 * The network of a client's address, which the log shows instead of it: the /24 of an IPv4 address, the /64 of an IPv6
 * address. Null for a text that is no address, such as what some proxies write into `X-Forwarded-For`.
 */
export function addressPrefix(address: string): string | null {
  if (!/^[\da-f.:]{2,45}(%[\w.-]*)?$/i.test(address)) return null;
  const unit = addressUnit(address);
  const version4 = /^(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/.exec(unit);
  if (version4 !== null) return `${version4[1]}.0/24`;
  return unit.endsWith("::/64") ? unit : null;
}
