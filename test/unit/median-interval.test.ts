import { expect, test } from "vitest";
import { medianInterval } from "../bench/median-interval.js";

// Ranks as in tables of the sign test, such as Conover's, Practical Nonparametric Statistics, A3.
test.each([
  [6, 1, 6],
  [8, 1, 8],
  [9, 2, 8],
  [10, 2, 9],
  [12, 3, 10],
  [20, 6, 15],
  [25, 8, 18],
  [50, 18, 33],
])("of %d values the interval is from the %d. to the %d.", (n, low, high) => {
  const descending = Array.from({ length: n }, (_, i) => n - i);
  expect(medianInterval(descending)).toEqual({ median: (n + 1) / 2, low, high });
});

test("five values have none", () => {
  expect(() => medianInterval([1, 2, 3, 4, 5])).toThrow("too few");
});
