import { describe, expect, it } from "vitest";
import { SvcError } from "../../../src/client/index.js";
import { eachRow, someOf } from "../../../src/console/screens/data/each-row.js";
import { planPaste } from "../../../src/console/screens/data/plan-paste.js";
import type { TableRow } from "../../../src/console/server/table-row.js";
import type { SchemaColumn, SchemaTable } from "../../../src/wire/schema-in-force.js";
import { column } from "./column.js";

const columns = [
  column("id", "integer", { not_null: true }),
  column("name", "text"),
  column("amount", "integer"),
  column("isOpen", "boolean"),
  column("size", "real", { not_null: true }),
];
const table = { name: "things", primary_key: ["id"], columns } as unknown as SchemaTable;
const rows: readonly TableRow[] = [
  { id: 1, name: "a", amount: 1, isOpen: true, size: 0.5 },
  { id: 2, name: "b", amount: 2, isOpen: false, size: 1 },
];

/** Plans to paste lines of cells into the rows, from the column with this name on. */
function plan(from: string, cells: readonly (readonly string[])[], of: readonly TableRow[] = rows) {
  const at = columns.findIndex(({ name }) => name === from);
  const isWritable = ({ name }: SchemaColumn) => name !== "id";
  const { changes, leftOut } = planPaste({ table, columns: columns.slice(at), rows: of, isWritable }, cells);
  return { changes: changes.map(({ row, values }) => [row.id, values]), leftOut };
}

describe("pasted cells", () => {
  it("are values of their columns, and only what differs is changed", () => {
    const cells = [
      ["a", "10"],
      ["b", "2"],
    ];
    expect(plan("name", cells)).toEqual({ changes: [[1, { amount: 10 }]], leftOut: [] });
  });

  it("are NULL where they are empty, but for texts and for columns that may not be NULL", () => {
    expect(plan("name", [["", "", "", ""]])).toEqual({
      changes: [[1, { name: "", amount: null, isOpen: null }]],
      leftOut: ["size of 1: Not a number."],
    });
  });

  it.each([
    ["TRUE", true],
    ["True", true],
    ["true", true],
    ["FALSE", false],
    [" false ", false],
  ])("%j is a boolean, as spreadsheets copy it", (text, value) => {
    expect(plan("isOpen", [[text]], [{ ...rows[0], isOpen: null }]).changes).toEqual([[1, { isOpen: value }]]);
  });

  it("are left out, with the reason, where they are no values of their columns", () => {
    expect(plan("amount", [["x", "yes"], ["7"]])).toEqual({
      changes: [[2, { amount: 7 }]],
      leftOut: ["amount of 1: Not an integer.", "isOpen of 1: Either true or false."],
    });
  });

  it("are left out where a value of which only the beginning is loaded would be replaced", () => {
    const long = { $preview: "x".repeat(200), bytes: 1000 };
    expect(plan("name", [["mine", "7"]], [{ ...rows[0], name: long }])).toEqual({
      changes: [[1, { amount: 7 }]],
      leftOut: ["name of 1: Only its beginning is loaded. Change it in the row."],
    });
  });

  it("are left out below the last row, right of the last column, and in columns that cannot be changed", () => {
    expect(plan("id", [["9", "c"], [], ["9"]])).toEqual({
      changes: [[1, { name: "c" }]],
      leftOut: ["1 row below the last one that is loaded", "id, which cannot be changed here"],
    });
    expect(plan("size", [["2", "3", "4"]])).toEqual({
      changes: [[1, { size: 2 }]],
      leftOut: ["2 columns right of the last one"],
    });
  });

  it("of lines of several lengths leave alone what a shorter line does not reach", () => {
    const cells = [["x"], ["y", "5"]];
    expect(plan("name", cells).changes).toEqual([
      [1, { name: "x" }],
      [2, { name: "y", amount: 5 }],
    ]);
  });
});

describe("rows that are acted on one after the other", () => {
  const reasonOf = (row: number, error: unknown) => `${row}: ${(error as Error).message}`;
  /** Acts on four rows, of which the second fails. */
  async function acted(error: Error, signal?: AbortSignal, onRow = (_: number) => {}) {
    const done: number[] = [];
    const act = async (row: number) => {
      if (row === 2) throw error;
      done.push(row);
      onRow(row);
    };
    return { leftOut: await eachRow([1, 2, 3, 4], act, { reasonOf, signal }), done };
  }

  it("go on after one that fails, which is named", async () => {
    expect(await acted(new SvcError(409, "conflict", "taken"))).toEqual({
      leftOut: ["2: taken"],
      done: [1, 3, 4],
    });
  });

  it.each([0, 401])("end where the others would fail too, by status %d", async (status) => {
    const error = new SvcError(status, "over", "over");
    expect(await acted(error)).toEqual({ leftOut: ["2: over", "2 rows after it"], done: [1] });
  });

  it("end before the next one when that is asked for", async () => {
    const controller = new AbortController();
    const stop = (row: number) => row === 3 && controller.abort();
    expect(await acted(new Error("no"), controller.signal, stop)).toEqual({
      leftOut: ["2: no", "1 row, as you cancelled"],
      done: [1, 3],
    });
  });

  it("have their first reasons named, and the others counted", () => {
    expect(someOf(["a", "b", "c", "d", "e"])).toBe("a; b; c; d; e");
    expect(someOf(["a", "b", "c", "d", "e", "f"])).toBe("a; b; c; d; e; 1 reason more");
  });
});
