import { expect, test } from "vitest";
import { parseByteRange } from "../../../src/http/byte-range.js";

// RFC 9110, section 14.1.2, of a representation of 10 bytes.
test.each([
  [null, null],
  ["bytes=0-3", { first: 0, last: 3 }],
  ["bytes=4-", { first: 4, last: 9 }],
  ["bytes=-3", { first: 7, last: 9 }],
  ["bytes=-30", { first: 0, last: 9 }],
  ["bytes=8-99", { first: 8, last: 9 }],
  ["bytes = 9-9", { first: 9, last: 9 }],
  ["bytes=10-", "unsatisfiable"],
  ["bytes=10-20", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=3-2", null],
  ["bytes=-", null],
  ["bytes=a-b", null],
  ["bytes=0-1,3-4", null],
  ["items=0-1", null],
  [`bytes=${"9".repeat(40)}-`, null],
] as const)("%s", (header, range) => {
  expect(parseByteRange(header, 10)).toEqual(range);
});

test("of nothing, every range begins past the end", () => {
  expect(parseByteRange("bytes=0-", 0)).toBe("unsatisfiable");
  expect(parseByteRange("bytes=-1", 0)).toBe("unsatisfiable");
  expect(parseByteRange(null, 0)).toBeNull();
});
