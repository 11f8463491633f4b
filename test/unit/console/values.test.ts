import { describe, expect, it } from "vitest";
import { csvOf, jsonOf } from "../../../src/console/grid/rows-as-text.js";
import { cellText, editText, isPreview, managedTime, parseValue } from "../../../src/console/grid/value.js";
import { visiblePieces } from "../../../src/console/parts/visible-text.js";
import type { ColumnTypeName } from "../../../src/wire/columns.js";
import type { SchemaColumn } from "../../../src/wire/schema-in-force.js";

describe("values as they are typed", () => {
  it.each<[ColumnTypeName, string, unknown]>([
    ["text", " as it is ", " as it is "],
    ["text", "", ""],
    ["integer", " 7 ", 7],
    ["integer", "-0", 0],
    ["integer", "+12", 12],
    ["integer", "9007199254740991", 9007199254740991],
    ["integer", "9007199254740993", "9007199254740993"],
    ["integer", "-9223372036854775808", "-9223372036854775808"],
    ["real", ".5", 0.5],
    ["real", "-1e-3", -0.001],
    ["boolean", "true", true],
    ["json", '{"a": [1, null]}', { a: [1, null] }],
    ["json", '"text"', "text"],
    ["json", "null", null],
    ["blob", "AAEC", "AAEC"],
  ])("%s %j is %j", (type, typed, value) => {
    expect(parseValue(type, typed)).toEqual({ value });
  });

  it.each<[ColumnTypeName, string, string]>([
    ["integer", "", "integer"],
    ["integer", "1.0", "integer"],
    ["integer", "1e3", "integer"],
    ["integer", "9223372036854775808", "integer_range"],
    ["real", "", "real"],
    ["real", "Infinity", "real"],
    ["real", "1e999", "real"],
    ["real", "1,5", "real"],
    ["boolean", "TRUE", "boolean"],
    ["boolean", "1", "boolean"],
    ["json", "{a: 1}", "json"],
    ["json", "", "json"],
    ["blob", "AAE", "base64"],
    ["blob", "AA-_", "base64"],
  ])("%s %j is refused: %s", (type, typed, problem) => {
    expect(parseValue(type, typed)).toEqual({ problem });
  });

  it("come back as they were from the text that a field begins with", () => {
    for (const [type, value] of [
      ["text", "a\nb"],
      ["integer", "9007199254740993"],
      ["real", 0.1],
      ["boolean", false],
      ["json", { deep: [{ a: "b" }] }],
      ["blob", "AAEC"],
    ] as const)
      expect(parseValue(type, editText(type, value))).toEqual({ value });
  });
});

describe("values in cells", () => {
  it("are one line, and no longer than a cell can show", () => {
    expect(cellText("json", { a: 1 })).toBe('{"a":1}');
    expect(cellText("text", "x".repeat(1000))).toHaveLength(301);
    expect(cellText("blob", "AAEC")).toBe("3 B");
    expect(cellText("blob", "A".repeat(4096))).toBe("3.0 KB");
  });

  it("are beginnings where the server has sent no more", () => {
    expect(cellText("text", { $preview: "long", bytes: 2_000_000 })).toBe("long…");
    expect(cellText("blob", { $preview: "AAEC", bytes: 2_000_000 })).toBe("1.9 MB");
    expect(isPreview({ $preview: "a", bytes: 1 })).toBe(true);
    for (const other of [null, "a", { $preview: "a" }, { $preview: 1, bytes: 1 }, { $preview: "a", bytes: 1, c: 1 }])
      expect(isPreview(other)).toBe(false);
  });

  it("are times where the server sets them", () => {
    const column = (type: ColumnTypeName, managed: SchemaColumn["managed"]): SchemaColumn => ({
      name: "at",
      type,
      managed,
      not_null: true,
      primary_key: false,
      default: null,
      check: null,
      references: null,
      generated: false,
    });
    expect(managedTime(column("integer", "created_at"), 1790000000)?.toISOString()).toBe("2026-09-21T14:13:20.000Z");
    expect(managedTime(column("text", "updated_at"), "2026-01-31T12:00:00.000Z")?.getTime()).toBe(1769860800000);
    expect(managedTime(column("text", "updated_at"), "soon")).toBeNull();
    expect(managedTime(column("integer", null), 1790000000)).toBeNull();
  });
});

describe("rows as files", () => {
  it("are CSV with quotes where they are needed, and NULL told from an empty text", () => {
    const rows = [
      { id: 1, body: 'say "hi", twice', extra: { a: [1] }, at: null },
      { id: 2, body: "", extra: null, at: "two\nlines" },
    ];
    expect(csvOf(["id", "body", "extra", "at"], rows)).toBe(
      'id,body,extra,at\r\n1,"say ""hi"", twice","{""a"":[1]}",\r\n2,"",,"two\nlines"\r\n',
    );
  });

  it("hold nothing that a spreadsheet would run", () => {
    const bodies = ["=1+1", "+1", "-1", "@a", "\tx", "-1.5", "- a"];
    expect(
      csvOf(
        ["body"],
        bodies.map((body) => ({ body })),
      ),
    ).toBe("body\r\n'=1+1\r\n'+1\r\n-1\r\n'@a\r\n'\tx\r\n-1.5\r\n'- a\r\n");
    expect(csvOf(["n"], [{ n: -3 }])).toBe("n\r\n-3\r\n");
  });

  it("are JSON, a row a line", () => {
    expect(jsonOf([])).toBe("[]\n");
    expect(JSON.parse(jsonOf([{ a: 1 }, { a: "=1" }]))).toEqual([{ a: 1 }, { a: "=1" }]);
  });
});

describe("texts of others", () => {
  it("show what could not be seen as marks", () => {
    const shown = (text: string) => visiblePieces(text).map(({ text: piece, isMark }) => (isMark ? [piece] : piece));
    expect(shown("plain <b>text</b> אבג")).toEqual(["plain <b>text</b> אבג"]);
    expect(shown("a\u202eb")).toEqual(["a", ["U+202E"], "b"]);
    expect(shown("\u0007\u001b[0m")).toEqual([["␇"], ["␛"], "[0m"]);
    expect(shown("a\nb\tc")).toEqual(["a", ["↵"], "b", ["⇥"], "c"]);
    expect(shown("zero\u200bwidth\ufeff")).toEqual(["zero", ["U+200B"], "width", ["U+FEFF"]]);
    expect(shown("\ud800")).toEqual([["U+D800"]]);
    expect(shown("👩‍💻")).toEqual(["👩", ["U+200D"], "💻"]);
    expect(shown("")).toEqual([]);
  });
});
