import { expect, it } from "vitest";
import { addressUnit, isPrivateAddress, lastForwarded } from "../../../src/http/client-address.js";

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
  ["127.0.0.1", true],
  ["::1", true],
  ["10.1.2.3", true],
  ["::ffff:172.16.0.1", true],
  ["172.31.255.255", true],
  ["192.168.1.1", true],
  ["169.254.1.1", true],
  ["100.64.0.1", true],
  ["fd12:3456::1", true],
  ["fe80::1%eth0", true],
  ["11.1.2.3", false],
  ["172.15.0.1", false],
  ["172.32.0.1", false],
  ["192.169.1.1", false],
  ["100.128.0.1", false],
  ["203.0.113.1", false],
  ["2001:db8::1", false],
  ["f::1", false],
  ["unknown", false],
])("%s is private: %s", (address, expected) => {
  expect(isPrivateAddress(address)).toBe(expected);
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
