import { expect, it } from "vitest";
import { nodeCipher } from "../../src/node/cipher.js";
import { webCipher } from "../../src/platform/web-cipher.js";

const key = Uint8Array.from({ length: 32 }, (_, i) => i);
const iv = Uint8Array.from({ length: 12 }, (_, i) => 255 - i);
const ciphers = { node: nodeCipher(key), web: webCipher(key) };
const bytes = (sealed: Uint8Array) => new Uint8Array(sealed);

it.each([
  ["node", "web"],
  ["web", "node"],
  ["node", "node"],
] as const)("what %s seals, %s opens, and nothing that was changed", async (one, other) => {
  for (const text of ["", "a", "é🙂".repeat(1000)]) {
    const sealed = bytes(await ciphers[one].seal(text, "for ada", iv));
    expect(sealed.length).toBe(12 + new TextEncoder().encode(text).length + 16);
    expect(await ciphers[other].open(sealed, "for ada")).toBe(text);
    expect(await ciphers[other].open(sealed, "for eve")).toBeNull();
    for (const at of [0, 12, sealed.length - 1]) {
      const changed = bytes(sealed);
      changed[at]! ^= 1;
      expect(await ciphers[other].open(changed, "for ada")).toBeNull();
    }
    for (const length of [0, 11, 12, 27, sealed.length - 1])
      expect(await ciphers[other].open(sealed.slice(0, length), "for ada")).toBeNull();
  }
});

it("both seal to the same bytes", async () => {
  expect(bytes(await ciphers.node.seal("text", "for ada", iv))).toEqual(
    bytes(await ciphers.web.seal("text", "for ada", iv)),
  );
});
