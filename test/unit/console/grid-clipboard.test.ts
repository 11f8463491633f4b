import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { copiedCell, pastedCells } from "../../../src/console/grid/clipboard-cells.js";

describe("a cell that is copied", () => {
  it("is one cell with the same text when it is pasted", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom('"', "\t", "\r", "\n", "a", " ") }),
    );
    fc.assert(
      fc.property(text, (value) => {
        expect(pastedCells(copiedCell(value))).toEqual([[value]]);
      }),
    );
  });

  it("is one of several cells with the same text when they are pasted", () => {
    const text = fc.string({ unit: fc.constantFrom('"', "\t", "\r", "\n", "a"), minLength: 1 });
    const cells = fc.array(fc.tuple(text, text), { minLength: 1 });
    fc.assert(
      fc.property(cells, (rows) => {
        const copied = rows.map((row) => row.map(copiedCell).join("\t")).join("\r\n");
        expect(pastedCells(copied)).toEqual(rows);
      }),
    );
  });

  it.each([
    ["plain", "plain"],
    ["", ""],
    ['5" pipe', '5" pipe'],
    ['"so-called', '"""so-called"'],
    ["a\tb", '"a\tb"'],
    ['a\r\n"b"', '"a\r\n""b"""'],
    [7, "7"],
    [true, "true"],
    [null, "null"],
    [{ a: "b\tc" }, '{"a":"b\\tc"}'],
  ])("%j", (value, copied) => {
    expect(copiedCell(value)).toBe(copied);
  });
});

describe("cells that are pasted", () => {
  it.each([
    [
      "a\tb\nc\td\n",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    [
      "a\t\r\n\tb",
      [
        ["a", ""],
        ["", "b"],
      ],
    ],
    ['"a\nb"\tc', [["a\nb", "c"]]],
    ['"so-called\tb', [['"so-called', "b"]]],
    ['"a" b', [['"a" b']]],
  ])("%j", (text, cells) => {
    expect(pastedCells(text)).toEqual(cells);
  });
});
