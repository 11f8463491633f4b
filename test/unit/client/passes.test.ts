import { expect, it } from "vitest";
import { passes } from "../../../src/client/outbox/passes.js";

const row = { n: 5, text: "Red Shoes", none: null, yes: true };

it.each([
  [{}, true],
  [{ where: { n: 5, yes: true } }, true],
  [{ where: { n: 6 } }, false],
  [{ where: { none: 1 } }, null],
  [{ where: { absent: 1 } }, undefined],
  [{ filter: { n: { gt: 4, lte: 5, ne: 6, in: [1, 5], not_in: [7] } } }, true],
  [{ filter: { n: { lt: 5 } } }, false],
  [{ filter: { n: { gte: 6 } } }, false],
  [{ filter: { none: { is_null: true } } }, true],
  [{ filter: { n: { is_null: true } } }, false],
  [{ filter: { text: { contains: "d S", starts_with: "Red", icontains: "SHOES" } } }, true],
  [{ filter: { text: { contains: "shoes" } } }, false],
  [{ filter: { $or: [{ n: { eq: 1 } }, { text: { eq: "Red Shoes" } }] } }, true],
  [{ filter: { $or: [{ n: { eq: 1 } }, { none: { eq: 1 } }] } }, null],
  [{ filter: { $or: [{ n: { eq: 5 } }, { absent: { eq: 1 } }] } }, true],
  [{ filter: { $and: [{ n: { eq: 1 } }, { absent: { eq: 1 } }] } }, false],
  [{ filter: { $and: [{ none: { eq: 1 } }, { absent: { eq: 1 } }] } }, undefined],
  // A NULL under `$not` stays out, as in SQL.
  [{ filter: { $not: { none: { eq: 1 } } } }, null],
  [{ filter: { $not: { n: { eq: 1 }, yes: { eq: true } } } }, true],
  [{ where: { n: 5 }, filter: { none: { in: [1] } } }, null],
])("a row passes %j: %s", (terms, expected) => {
  expect(passes(row, terms)).toBe(expected);
});
