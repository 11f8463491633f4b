import { describe, expect, it } from "vitest";
import { withIndex } from "../../../src/console/screens/schema/add-index.js";
import { drawingOf } from "../../../src/console/screens/schema/layout.js";
import { lineDiff, shownLines } from "../../../src/console/screens/schema/line-diff.js";
import { textProblems } from "../../../src/console/screens/schema/problems.js";
import { seriesOf } from "../../../src/console/screens/usage/series.js";
import type { SchemaTable } from "../../../src/wire/schema-in-force.js";

describe("two texts beside each other", () => {
  const diff = (a: string, b: string) => lineDiff(a, b).map(({ kind, text }) => `${kind[0]} ${text}`);

  it("show which lines went and came", () => {
    expect(diff("a\nb\nc", "a\nx\nc\nd")).toEqual(["s a", "r b", "a x", "s c", "a d"]);
    expect(diff("a", "a")).toEqual(["s a"]);
    expect(diff("", "a\nb")).toEqual(["r ", "a a", "a b"]);
    expect(diff("a\na\nb", "a\nb")).toEqual(["s a", "r a", "s b"]);
  });

  it("make either text again", () => {
    const [a, b] = ["1\n2\n3\n4\n5\n6", "0\n2\n3\nx\n5\n6\n7"];
    const lines = lineDiff(a, b);
    const without = (kind: string) => lines.filter((line) => line.kind !== kind).map(({ text }) => text);
    expect(without("added").join("\n")).toBe(a);
    expect(without("removed").join("\n")).toBe(b);
  });

  it("leave out what is far from a change", () => {
    const text = Array.from({ length: 20 }, (_, i) => `${i}`);
    const shown = shownLines(lineDiff(text.join("\n"), text.with(10, "x").join("\n")), 2);
    expect(shown.map((line) => line?.text ?? "…")).toEqual(["…", "8", "9", "10", "x", "11", "12", "…"]);
    expect(shownLines(lineDiff("a", "a"))).toEqual([null]);
  });
});

it("problems keep the lines that belong to them", () => {
  expect(
    textProblems(
      "svc.schema.yaml:60: column 1: Implicit keys\n\nhns\n^\nsvc.schema.yaml: notes: unknown\nsvc.toml:3: a",
    ),
  ).toEqual([
    { line: 60, message: "column 1: Implicit keys\n\nhns\n^" },
    { line: null, message: "notes: unknown" },
    { line: 3, message: "a" },
  ]);
});

describe("an index more", () => {
  const columns = "  columns:\n    id: { type: integer, primary_key: true }\n";

  it("is written under its table", () => {
    expect(withIndex(`notes:\n${columns}\ntags:\n${columns}`, "notes", ["a"])).toBe(
      `notes:\n${columns}  indexes: [{ columns: [a] }]\n\ntags:\n${columns}`,
    );
    expect(withIndex(`notes:\n${columns}`, "notes", ["a", "b"])).toContain("  indexes: [{ columns: [a, b] }]");
  });

  it("stands beside the others", () => {
    expect(withIndex(`notes:\n${columns}  indexes: [{ columns: [a] }] # why\n`, "notes", ["b"])).toContain(
      "  indexes: [{ columns: [a] }, { columns: [b] }] # why",
    );
    expect(withIndex(`notes:\n${columns}  indexes: []\n`, "notes", ["b"])).toContain("indexes: [{ columns: [b] }]");
    expect(withIndex(`notes:\n${columns}  indexes:\n    - { columns: [a] }\n`, "notes", ["b"])).toContain(
      "  indexes:\n    - { columns: [b] }\n    - { columns: [a] }",
    );
  });

  it("is not guessed where its place is not found", () => {
    const text = `notes: { columns: {} }\n`;
    expect(withIndex(text, "notes", ["a"])).toBe(text);
    expect(withIndex(`notes:\n${columns}`, "note", ["a"])).toBe(`notes:\n${columns}`);
  });
});

describe("a drawing", () => {
  const table = (name: string, ...refers: string[]): SchemaTable =>
    ({
      name,
      primary_key: ["id"],
      columns: ["id", ...refers].map((column) => ({
        name: column,
        references: refers.includes(column) ? { table: column, column: "id" } : null,
      })),
    }) as unknown as SchemaTable;

  it("has tables right of what they refer to, and an arrow for each reference that leads to a table", () => {
    const { boxes, arrows } = drawingOf([table("c", "b"), table("b", "a"), table("a"), table("d", "$users")]);
    const x = Object.fromEntries(boxes.map((box) => [box.table.name, box.x]));
    expect(x.a).toBeLessThan(x.b!);
    expect(x.b).toBeLessThan(x.c!);
    expect(x.d).toBe(x.a);
    expect(arrows.map(({ from, to }) => [from, to])).toEqual(
      expect.arrayContaining([
        ["c", "b"],
        ["b", "a"],
      ]),
    );
    expect(arrows).toHaveLength(2);
  });

  it("ends where tables refer to each other or to themselves, and overlaps nowhere", () => {
    const many = Array.from({ length: 60 }, (_, i) => table(`t${i}`, `t${(i * 7) % 60}`, `t${i}`));
    const { boxes } = drawingOf([table("a", "b"), table("b", "a"), ...many]);
    expect(boxes).toHaveLength(62);
    for (const one of boxes)
      for (const other of boxes)
        if (one !== other && one.x === other.x)
          expect(one.y + one.height <= other.y || other.y + other.height <= one.y).toBe(true);
    expect(drawingOf([]).boxes).toEqual([]);
  });
});

it("a chart has 0 for days without requests, and nothing for days with a gap", () => {
  const day = (key: string, read: number) => ({
    key,
    requests: 1,
    rows_read: read,
    rows_written: 1,
    rows_returned: 0,
    unknown_reads: 0,
  });
  const gap = { at: "2026-01-03T09:00:00.000Z", reason: "crash", attempts_max: 10 };
  const from = Date.UTC(2026, 0, 1) / 1000;
  const series = seriesOf([day("2026-01-01", 5), day("2026-01-03", 7)], [gap], from, from + 4 * 86_400);
  expect(series.read).toEqual([5, 0, null, 0]);
  expect(series.written).toEqual([1, 0, null, 0]);
  expect(series.days).toHaveLength(4);
});
