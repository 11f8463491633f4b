import { expect, it } from "vitest";
import type { Change } from "../../../src/client/live/changes.js";
import type { PushedOperation } from "../../../src/client/operations.js";
import { type UnconfirmedMutation, withUnconfirmed } from "../../../src/client/outbox/optimistic.js";

const row = (id: number, more: object = {}): Change => ({
  table: "t",
  op: "insert",
  key: { id },
  row: { id, a: "x", ...more },
});
const unconfirmed = (
  operations: readonly PushedOperation[],
  more: Partial<UnconfirmedMutation> = {},
): UnconfirmedMutation => ({
  operations,
  sentAt: null,
  answer: null,
  ...more,
});
const create = (values: Record<string, unknown>, table = "t"): PushedOperation => ({
  op: "create",
  table,
  values,
});
const shown = (rows: readonly Change[], mutations: readonly UnconfirmedMutation[], seen = 0) =>
  withUnconfirmed("t", {}, rows, mutations, () => seen).map((change) => change.row);

it("takes values from earlier operations, and leaves those out that only the server knows", () => {
  const known = [create({ id: 7, a: "parent" }), create({ id: 8, a: { $ref: "0.a" }, b: { $ref: "0.made" } })];
  expect(shown([], [unconfirmed(known)])).toEqual([
    { id: 7, a: "parent", _pending: true },
    { id: 8, a: "parent", _pending: true },
  ]);
  const changed: PushedOperation[] = [
    create({ id: 1 }, "other"),
    { op: "update", table: "t", key: { id: { $ref: "0.id" } }, set: { a: "changed" } },
  ];
  expect(shown([row(1), row(2)], [unconfirmed(changed)])).toEqual([
    { id: 1, a: "changed", _pending: true },
    { id: 2, a: "x" },
  ]);
});

it("changes a row that is only being created, and takes it away again", () => {
  const made = unconfirmed([create({ id: 7, a: "new" })]);
  const changed = unconfirmed([{ op: "update", table: "t", key: { id: 7 }, set: { a: "newer" } }]);
  const deleted = unconfirmed([{ op: "delete", table: "t", key: { id: 7 } }]);
  expect(shown([], [made, changed])).toEqual([{ id: 7, a: "newer", _pending: true }]);
  expect(shown([], [made, changed, deleted])).toEqual([]);
});

it("takes a row that comes while its push is under way for the one that is created, once", () => {
  const twice = [
    unconfirmed([create({ a: "new" })], { sentAt: 3 }),
    unconfirmed([create({ a: "new" })], { sentAt: 3 }),
  ];
  expect(shown([row(1, { a: "new" })], twice, 3)).toEqual([
    { id: 1, a: "new" },
    { a: "new", _pending: true },
  ]);
  // One that was there before is another one.
  expect(shown([row(1, { a: "new" })], twice, 2)).toHaveLength(3);
  expect(shown([row(1, { a: "other" })], twice, 3)).toHaveLength(3);
});

it("shows what the server has answered until the list is told of it", () => {
  const operations = [create({ a: "new" }), { op: "update", table: "t", key: { id: 1 }, set: { a: "y" } } as const];
  const answer = {
    rows: [
      { id: 9, a: "new", made: 1 },
      { id: 1, a: "y" },
    ],
    at: 5,
  };
  const done = [unconfirmed(operations, { answer })];
  expect(shown([row(1)], done, 4)).toEqual([
    { id: 1, a: "y" },
    { id: 9, a: "new", made: 1 },
  ]);
  // Somebody else has changed both since.
  expect(shown([row(1, { a: "theirs" }), row(9, { a: "theirs" })], done, 5)).toEqual([
    { id: 1, a: "theirs" },
    { id: 9, a: "theirs" },
  ]);
});
