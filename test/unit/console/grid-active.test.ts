import { describe, expect, it } from "vitest";
import { activeAt, foundAgain } from "../../../src/console/grid/active-cell.js";
import { indexesWith } from "../../../src/console/grid/visible-range.js";

describe("the active cell of a grid", () => {
  const [rows, columns] = [
    ["a", "b", "c"],
    ["id", "name", "amount"],
  ];
  const active = activeAt({ row: 1, column: 1 }, rows, columns);
  it.each([
    ["is the same where nothing has changed", rows, columns, 1, 1],
    ["goes on with its row, below a new one", ["new", ...rows], columns, 2, 1],
    ["goes on with its row, where the one above is gone", ["b", "c"], columns, 0, 1],
    ["is the row that comes after its own, where that is gone", ["a", "c"], columns, 1, 1],
    ["is the last row, where its own and those below are gone", ["a"], columns, 0, 1],
    ["goes on with its column", rows, ["name", "amount"], 1, 0],
    ["is the last column, where its own and those to the right are gone", rows, ["id"], 1, 0],
  ])("%s", (_, rowsNow, columnsNow, row, column) => {
    const found = foundAgain(active, rowsNow, columnsNow);
    expect(found).toEqual(activeAt({ row, column }, rowsNow, columnsNow));
    expect(foundAgain(found, rowsNow, columnsNow)).toBe(found);
  });

  it("stays in the row of headings and in the column of checkboxes", () => {
    const heading = activeAt({ row: -1, column: 2 }, rows, columns);
    expect(foundAgain(heading, ["new"], columns)).toBe(heading);
    const checkbox = activeAt({ row: 2, column: -1 }, rows, columns);
    expect(foundAgain(checkbox, ["c"], [])).toMatchObject({ row: 0, column: -1 });
  });

  it("keeps its place among rows that have no ids", () => {
    const nameless = activeAt({ row: 1, column: 0 }, [null, null], columns);
    expect(foundAgain(nameless, [null, null, null], columns)).toBe(nameless);
    expect(foundAgain(nameless, [null], columns)).toMatchObject({ row: 0 });
  });
});

describe("the row that is edited", () => {
  it.each([
    [null, [3, 4]],
    [4, [3, 4]],
    [0, [0, 3, 4]],
    [5, [3, 4, 5]],
  ])("%j is drawn where rows 3 and 4 are in view", (edited, drawn) => {
    expect(indexesWith({ first: 3, end: 5 }, edited)).toEqual(drawn);
  });
});
