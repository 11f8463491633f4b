import { describe, expect, it } from "vitest";
import { columnOffsets } from "../../../src/console/grid/column-widths.js";
import { type Cell, type KeyAction, type KeyPress, keyAction } from "../../../src/console/grid/grid-keys.js";
import { filterOf, queryOf, queryParameters, sortedBy } from "../../../src/console/grid/list-query.js";
import { defaultText, formValues } from "../../../src/console/grid/row-form.js";
import { keyLabel, primaryKeyOf, rowId } from "../../../src/console/grid/row-key.js";
import { scrolledTo, visibleColumns, visibleRows } from "../../../src/console/grid/visible-range.js";
import { column } from "./column.js";

const press = (key: string, held: Partial<KeyPress> = {}): KeyPress => ({
  key,
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...held,
});

describe("what of a grid is drawn", () => {
  it.each([
    [100_000, 0, { first: 0, end: 28 }],
    [100_000, 32_000, { first: 992, end: 1028 }],
    [100_000, 3_199_360, { first: 99_972, end: 100_000 }],
    [5, 0, { first: 0, end: 5 }],
    [0, 0, { first: 0, end: 0 }],
    [3, 9_999, { first: 3, end: 3 }],
  ])("of %d rows at %d pixels", (count, start, range) => {
    expect(visibleRows(count, 32, start, 640, 8)).toEqual(range);
  });

  it("is some columns, with one more on either side", () => {
    const offsets = columnOffsets(Array.from({ length: 100 }, () => 100));
    expect(visibleColumns(offsets, 0, 250)).toEqual({ first: 0, end: 4 });
    expect(visibleColumns(offsets, 5000, 250)).toEqual({ first: 49, end: 54 });
    expect(visibleColumns(offsets, 9_800, 1000)).toEqual({ first: 97, end: 100 });
    expect(visibleColumns([0], 0, 500)).toEqual({ first: 0, end: 0 });
  });

  it("scrolls no further than it has to", () => {
    expect(scrolledTo(100, 132, 0, 640)).toBe(0);
    expect(scrolledTo(100, 132, 120, 640)).toBe(100);
    expect(scrolledTo(640, 672, 0, 640)).toBe(32);
  });
});

describe("keys in a grid", () => {
  const size = { rows: 100, columns: 5, page: 10 };
  it.each([
    ["ArrowDown", false, { row: 0, column: 0 }, { row: 1, column: 0 }],
    ["ArrowUp", false, { row: 0, column: 2 }, { row: -1, column: 2 }],
    ["ArrowUp", false, { row: -1, column: 2 }, { row: -1, column: 2 }],
    ["ArrowLeft", false, { row: 3, column: 0 }, { row: 3, column: -1 }],
    ["ArrowRight", false, { row: 3, column: 4 }, { row: 3, column: 4 }],
    ["Home", false, { row: 3, column: 4 }, { row: 3, column: 0 }],
    ["End", true, { row: 3, column: 0 }, { row: 99, column: 4 }],
    ["PageUp", false, { row: 3, column: 1 }, { row: 0, column: 1 }],
    ["PageDown", false, { row: 95, column: 1 }, { row: 99, column: 1 }],
  ])("%s", (key, isControl, from, to) => {
    expect(keyAction(press(key, { ctrlKey: isControl }), from, size)).toEqual({ kind: "move", to });
  });

  it("move nothing where there is no row", () => {
    const from = { row: -1, column: 0 };
    expect(keyAction(press("ArrowDown"), from, { ...size, rows: 0 })).toEqual({ kind: "move", to: from });
  });

  const inCell = { row: 2, column: 1 };
  const inHead = { row: -1, column: 1 };
  const atCheckbox = { row: 2, column: -1 };
  it.each<[string, KeyPress, Cell, KeyAction | null]>([
    ["Enter edits", press("Enter"), inCell, { kind: "edit", typed: null }],
    ["F2 edits", press("F2"), inCell, { kind: "edit", typed: null }],
    ["a character types over", press("a"), inCell, { kind: "edit", typed: "a" }],
    ["Enter opens the row at its checkbox", press("Enter"), atCheckbox, { kind: "open" }],
    ["Shift+Enter opens the row", press("Enter", { shiftKey: true }), inCell, { kind: "open" }],
    ["Space selects", press(" "), inCell, { kind: "select" }],
    ["Ctrl+C copies", press("c", { ctrlKey: true }), inCell, { kind: "copy" }],
    ["Cmd+C copies", press("c", { metaKey: true }), inCell, { kind: "copy" }],
    ["Ctrl+C is left alone at a checkbox", press("c", { ctrlKey: true }), atCheckbox, null],
    ["Ctrl+V is left to the browser", press("v", { ctrlKey: true }), inCell, null],
    ["a character with Alt is left to the browser", press("a", { altKey: true }), inCell, null],
    ["Enter sorts in a heading", press("Enter"), inHead, { kind: "sort" }],
    ["Shift+Enter sorts by a further column", press("Enter", { shiftKey: true }), inHead, { kind: "sort" }],
    ["a character does nothing in a heading", press("a"), inHead, null],
    ["Escape does nothing", press("Escape"), inCell, null],
  ])("%s", (_, key, active, action) => {
    expect(keyAction(key, active, size)).toEqual(action);
  });
});

describe("what a grid asks for", () => {
  it("comes back from an address as it was", () => {
    const query = {
      conditions: [
        { column: "body", operator: "contains", value: "a.b=c&d, ünï\n" },
        { column: "id", operator: "gte", value: "-5" },
      ] as const,
      sort: ["-id", "body"],
      search: "red shoes",
    };
    expect(queryOf(new URLSearchParams(queryParameters(query).toString()))).toEqual(query);
    expect(queryOf(new URLSearchParams("f=nonsense&f=a.like.b&sort=;drop"))).toEqual({
      conditions: [],
      sort: [],
      search: "",
    });
  });

  it("has values of the columns' types, and conditions that may come twice", () => {
    const columns = [column("id", "integer"), column("body", "text"), column("done", "boolean")];
    const filter = (operator: "in" | "ne" | "is_null" | "eq", name: string, value: string) =>
      filterOf([{ column: name, operator, value }], columns);
    expect(filterOf([], columns)).toEqual({ filter: {} });
    expect(filter("in", "id", "1, 2")).toEqual({ filter: { $and: [{ id: { in: [1, 2] } }] } });
    expect(filter("is_null", "body", "false")).toEqual({ filter: { $and: [{ body: { is_null: false } }] } });
    expect(filter("eq", "done", "true")).toEqual({ filter: { $and: [{ done: { eq: true } }] } });
    const wrong = { column: "id", operator: "ne", value: "x" } as const;
    expect(filterOf([wrong], columns)).toEqual({ wrong });
    expect(filter("eq", "gone", "1")).toHaveProperty("wrong");
    const twice = [1, 2].map((value) => ({ column: "id", operator: "ne", value: String(value) }) as const);
    expect(filterOf(twice, columns)).toEqual({ filter: { $and: [{ id: { ne: 1 } }, { id: { ne: 2 } }] } });
  });

  it("is sorted upwards, downwards, and not at all", () => {
    expect(sortedBy([], "a", false)).toEqual(["a"]);
    expect(sortedBy(["a"], "a", false)).toEqual(["-a"]);
    expect(sortedBy(["-a"], "a", false)).toEqual([]);
    expect(sortedBy(["b"], "a", false)).toEqual(["a"]);
    expect(sortedBy(["b"], "a", true)).toEqual(["b", "a"]);
    expect(sortedBy(["b", "a"], "a", true)).toEqual(["b", "-a"]);
  });
});

describe("rows", () => {
  it("have keys of one column or several, or none", () => {
    expect(primaryKeyOf({ primary_key: ["id"] }, { id: 7, body: "a" })).toEqual({ id: 7 });
    expect(primaryKeyOf({ primary_key: ["a", "b"] }, { a: 1, b: "x" })).toEqual({ a: 1, b: "x" });
    expect(primaryKeyOf({ primary_key: [] }, { a: 1 })).toBeNull();
    expect(primaryKeyOf({ primary_key: ["id"] }, { body: "hidden key" })).toBeNull();
    const both = { primary_key: ["a", "b"] };
    expect(rowId(both, { a: "1", b: "2" })).not.toBe(rowId({ primary_key: ["a"] }, { a: "1,2" }));
    expect(rowId(both, { a: 1, b: 2 })).not.toBe(rowId(both, { a: "1", b: 2 }));
    expect(rowId(both, { a: 1, b: null })).toBeNull();
    expect(keyLabel({ a: 1, b: "x" })).toBe("1 · x");
  });

  it("are changed only in what was changed in their forms", () => {
    const columns = [column("id", "integer"), column("body", "text"), column("n", "integer")];
    const row = { id: 1, body: "a", n: 5 };
    const value = (text: string) => ({ mode: "value", text }) as const;
    expect(formValues(columns, { n: value("5"), body: value("b") }, row)).toEqual({ values: { body: "b" } });
    expect(formValues(columns, { n: { mode: "null" } }, row)).toEqual({ values: { n: null } });
    expect(formValues(columns, { n: value("five") }, row)).toEqual({ problems: { n: "integer" } });
    expect(formValues(columns, { body: { mode: "kept" }, n: value("1") }, null)).toEqual({
      values: { n: 1 },
    });
  });

  it("get defaults that are shown as they are written", () => {
    expect(defaultText(column("a", "text"))).toBeNull();
    expect(defaultText({ ...column("a", "text"), default: { sql: "unixepoch()" } })).toBe("unixepoch()");
    expect(defaultText({ ...column("a", "text"), default: { value: "member" } })).toBe('"member"');
  });
});
