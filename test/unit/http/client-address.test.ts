import { expect, it } from "vitest";
import { addressUnit, lastForwarded } from "../../../src/http/client-address.js";

it.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:0:1::1", "2001:db8:0:1::/64"],
  ["2001:0DB8:0000:0001:ffff:ffff:ffff:ffff", "2001:db8:0:1::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
])("%s is counted as %s", (address, unit) => {
  expect(addressUnit(address)).toBe(unit);
});

it.each([
  [null, null],
  ["", null],
  ["198.51.100.1, 192.0.2.1", "192.0.2.1"],
  ["192.0.2.1:4711", "192.0.2.1"],
  ["[2001:db8::1]:4711", "2001:db8::1"],
  ["2001:db8::1", "2001:db8::1"],
])("of X-Forwarded-For %j the trusted entry is %j", (header, address) => {
  expect(lastForwarded(header)).toBe(address);
});
