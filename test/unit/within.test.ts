import { expect, test } from "vitest";
import { isWithin } from "../../src/node/within.js";

test.each([
  ["/a/b", true],
  ["/a/b/c", true],
  ["/a/b/..c/d", true],
  ["/a/b/...", true],
  ["/a", false],
  ["/a/c", false],
  ["/a/bc", false],
  ["/", false],
])("%s within /a/b: %s", (path, within) => {
  expect(isWithin("/a/b", path)).toBe(within);
});
