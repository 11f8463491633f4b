import { expect, it } from "vitest";
import { nodeCipher } from "../../src/node/cipher.js";
import { webCipher } from "../../src/platform/web-cipher.js";

const key = Uint8Array.from({ length: 32 }, (_, i) => i);
const iv = Uint8Array.from({ length: 12 }, (_, i) => 255 - i);
const ciphers = { node: nodeCipher(key), web: webCipher(key) };
const bytes = (sealed: string) => new Uint8Array(Buffer.from(sealed, "base64url"));
const text = (sealed: Uint8Array) => Buffer.from(sealed).toString("base64url");

it.each([
  ["node", "web"],
  ["web", "node"],
  ["node", "node"],
] as const)("what %s seals, %s opens, and nothing that was changed", async (one, other) => {
  for (const plain of ["", "a", "é🙂".repeat(1000)]) {
    const sealed = bytes(await ciphers[one].seal(plain, "for ada", iv));
    expect(sealed.length).toBe(12 + new TextEncoder().encode(plain).length + 16);
    expect(await ciphers[other].open(text(sealed), "for ada")).toBe(plain);
    expect(await ciphers[other].open(text(sealed), "for eve")).toBeNull();
    for (const spelt of [`${text(sealed)}=`, ` ${text(sealed)}`, "?"])
      expect(await ciphers[other].open(spelt, "for ada")).toBeNull();
    for (const at of [0, 12, sealed.length - 1]) {
      const changed = sealed.slice();
      changed[at]! ^= 1;
      expect(await ciphers[other].open(text(changed), "for ada")).toBeNull();
    }
    for (const length of [0, 11, 12, 27, sealed.length - 1])
      expect(await ciphers[other].open(text(sealed.slice(0, length)), "for ada")).toBeNull();
  }
});

it("both seal to the same text", async () => {
  expect(await ciphers.node.seal("text", "for ada", iv)).toBe(await ciphers.web.seal("text", "for ada", iv));
});
