import { expect, test } from "vitest";
import { didYouMean, meantOrKnown } from "../../src/problems/did-you-mean.js";
import { pointAt } from "../../src/problems/point-at.js";

test.each([
  ["athor_id", ["id", "author_id", "body"], "author_id"],
  ["publik", ["public", "deny"], "public"],
  ["Rooms", ["rooms"], "rooms"],
  ["hots", ["host", "port"], "host"],
  ["created", ["created_at"], "created_at"],
  // The nearest, not the first.
  ["rooms", ["room_x", "room"], "room"],
])("%s of %j means %s", (written, names, meant) => {
  expect(didYouMean(written, names)).toBe(`; did you mean ${meant}?`);
});

test.each([
  ["id", ["body", "owner"]],
  ["note", ["public", "deny", "authenticated"]],
  ["x", []],
  // Nobody means that, and nobody compares it.
  ["n".repeat(2_000_000), ["n".repeat(2_000_001), "note"]],
])("%s of %j means none", (written, names) => {
  expect(didYouMean(written, names)).toBe("");
});

test("where nothing is near, the names there are are listed, twelve at most", () => {
  expect(meantOrKnown("xyz", ["rooms", "tags"])).toBe("; there are rooms, tags");
  expect(meantOrKnown("xyz", ["rooms"])).toBe("; there is only rooms");
  expect(meantOrKnown("xyz", [])).toBe("");
  const many = Array.from({ length: 13 }, (_, index) => `column_${index}`);
  expect(meantOrKnown("xyz", many)).toBe(`; there are ${many.slice(0, 12).join(", ")}, …`);
  expect(meantOrKnown("xyz", ["rooms"], new Set(["tags"]))).toBe("; there are rooms, tags");
});

test("among more than 500 names none is suggested", () => {
  const many = Array.from({ length: 500 }, (_, index) => `column_${index}`);
  expect(meantOrKnown("colunm_7", many)).toBe("; did you mean column_7?");
  expect(meantOrKnown("colunm_7", many, ["note"])).toBe(`; there are ${many.slice(0, 12).join(", ")}, …`);
});

test.each([
  ["a = b", { line: 1, column: 3 }, "    a = b\n      ^"],
  ["a\r\n\tb = c\r\n", { line: 2, column: 4 }, "    \tb = c\n    \t  ^"],
  // Behind the end of the text.
  ["a", { line: 1, column: 2 }, "    a\n     ^"],
  ["a\n", { line: 2, column: 1 }, "    \n    ^"],
  [
    `${"a".repeat(300)}!${"b".repeat(300)}`,
    { line: 1, column: 301 },
    `    ${"a".repeat(50)}!${"b".repeat(49)}\n    ${" ".repeat(50)}^`,
  ],
  [`${"a".repeat(300)}!`, { line: 1, column: 301 }, `    ${"a".repeat(99)}!\n    ${" ".repeat(99)}^`],
])("a caret is beneath the place in %j", (text, at, shown) => {
  expect(pointAt(text, at)).toBe(shown);
});
