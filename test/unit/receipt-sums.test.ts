import { expect, it } from "vitest";
import { receiptOf, receiptValues } from "../../src/platform/journal.js";
import { maySum, ReceiptSums, withSumsTogether } from "../../src/platform/receipt-sums.js";
import { receipt } from "../support/receipts.js";

const read = (attemptId: string, more: Parameters<typeof receipt>[1] = {}) =>
  receipt(attemptId, { principalKind: "anonymous", principalId: null, rowsRead: 3, ...more });

it("sums what nobody known asks for and what writes nothing, and nothing else", () => {
  expect(maySum(read("a"))).toBe(true);
  expect(maySum(read("a", { action: "get", status: 404 }))).toBe(true);
  expect(maySum(read("a", { action: "delete", status: 404, rowsWritten: 0 }))).toBe(true);
  expect(maySum(read("a", { action: "create", rowsWritten: 1 }))).toBe(false);
  expect(maySum(read("a", { action: "create", rowsWritten: null }))).toBe(false);
  expect(maySum(read("a", { principalKind: "user", principalId: "ada" }))).toBe(false);
  expect(maySum(read("a", { principalKind: "key", principalId: "k" }))).toBe(false);
});

it("puts together what is alike within a minute", () => {
  const sums = new ReceiptSums();
  sums.add(read("a", { atMs: 60_001 }));
  sums.add(read("b", { atMs: 119_999, rowsRead: null, rowsReturned: 5 }));
  sums.add(read("c", { atMs: 120_000 }));
  sums.add(read("d", { atMs: 60_002, table: "others" }));
  sums.add(read("e", { atMs: 60_003, status: 404 }));
  expect(sums.requests).toBe(5);
  expect(sums.all().map(receiptValues)).toEqual([
    ["a", 60_000, "anonymous", null, "GET", "notes", "list", 200, 3, 0, 7, [2, 1]],
    ["c", 120_000, "anonymous", null, "GET", "notes", "list", 200, 3, 0, 2, [1, 0]],
    ["d", 60_000, "anonymous", null, "GET", "others", "list", 200, 3, 0, 2, [1, 0]],
    ["e", 60_000, "anonymous", null, "GET", "notes", "list", 404, 3, 0, 2, [1, 0]],
  ]);
  sums.clear();
  expect([sums.requests, sums.all()]).toEqual([0, []]);
});

it("puts sums together again, and leaves receipts alone", () => {
  const sum = (id: string, requests: number, unknownReads: number) =>
    read(id, { atMs: 60_000, rowsRead: 10, sum: { requests, unknownReads } });
  const together = withSumsTogether([sum("a", 2, 1), read("b", { atMs: 60_000 }), sum("c", 3, 0)]);
  expect(together.map(receiptValues)).toEqual([
    ["b", 60_000, "anonymous", null, "GET", "notes", "list", 200, 3, 0, 2],
    ["a", 60_000, "anonymous", null, "GET", "notes", "list", 200, 20, 0, 4, [5, 1]],
  ]);
  expect(together.map(receiptValues).map(receiptOf)).toEqual(together);
});
