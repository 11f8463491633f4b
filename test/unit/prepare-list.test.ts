import { expect, it } from "vitest";
import { isRefusal } from "../../src/http/refusal.js";
import { Memo } from "../../src/platform/memo.js";
import { plainTable } from "../../src/project/plain-table.js";
import { TRUE } from "../../src/rules/fold.js";
import { plainCatalogTable } from "../../src/schema/catalog.js";
import { nothingUnsupported } from "../../src/schema/physical/unsupported.js";
import { columnName, tableName } from "../../src/sqlite/names.js";
import { BriefTries } from "../../src/tables/execution/brief-tries.js";
import type { CursorState } from "../../src/tables/list/cursor.js";
import { type ListSource, prepareList } from "../../src/tables/list/prepare-list.js";
import { parseListRequest } from "../../src/tables/request/list-request.js";
import { ManualClock } from "../support/manual-clock.js";

const columns = ["id", "label"].map((name) => ({
  name: columnName(name),
  type: "text" as const,
  notNull: true,
  default: null,
  check: null,
  references: null,
  managed: null,
  renamedFrom: null,
}));
const table = plainTable(tableName("notes"), new Map(columns.map((column) => [column.name, column])), [
  columns[0]!.name,
]);
const catalog = {
  tables: new Map([[table.name, plainCatalogTable(table)]]),
  answerBytesMax: 1_000_000,
  pageBytesMax: 1_000_000,
  imageBytesMax: null,
  statementsMax: null,
  unsupported: nothingUnsupported,
  hasMixedTexts: false,
};

const source = (): ListSource => ({
  access: { key: "notes read", table, catalog, rule: TRUE, readable: table.columns, preview: null },
  scanLimit: 100,
  metered: true,
  prepared: new Memo(100_000),
  briefTries: new BriefTries(new ManualClock()),
  tables: { find: () => null },
});

function prepared(from: ListSource, parameters: [string, string][], cursor: Partial<CursorState> = {}) {
  const request = parseListRequest(parameters, table.columns, new Map());
  if (isRefusal(request)) throw new Error(request.message);
  const window = { after: null, upTo: null, counted: false, skip: 0, ...cursor.window };
  const state = { parameters, offset: 0, total: 0, choice: "best" as const, order: [], ...cursor, window };
  return prepareList({ ...request, expansions: [] }, state, from, new Map());
}

const textOf = (list: ReturnType<typeof prepared>) =>
  isRefusal(list) ? list.code : list.list.whole("short").page.statement.text;

it("requests that differ in values alone share their SQL, and bind their own", () => {
  const from = source();
  const lists = ["a", "b"].map((value) => prepared(from, [["where[label]", value]]));
  expect(textOf(lists[0]!)).toBe(textOf(lists[1]!));
  const [a, b] = lists.map((list) => (isRefusal(list) ? [] : list.values.map((part) => part.get("filter.0"))));
  expect([a!.find(Boolean), b!.find(Boolean)]).toEqual(["a", "b"]);
});

it.each([
  [
    ["where[label]", "a"],
    ["filter[label][ne]", "a"],
  ],
  [
    ["filter[label][contains]", "a"],
    ["filter[label][starts_with]", "a"],
  ],
  [
    ["filter[label][is_null]", "true"],
    ["filter[label][is_null]", "false"],
  ],
  [
    ["where[label]", "a"],
    ["where[id]", "a"],
  ],
  [
    ["filter[label][in]", "a,b"],
    ["where[label]", "a"],
  ],
  [
    ["sort", "label"],
    ["sort", "-label"],
  ],
  [
    ["select", "id"],
    ["select", "label"],
  ],
] as [string, string][][])("%s and %s do not share it", (one, other) => {
  const from = source();
  expect(textOf(prepared(from, [one!]))).not.toBe(textOf(prepared(from, [other!])));
});

it("a cursor of another order is refused, whichever of the two comes first", () => {
  const window = { after: '["a"]', upTo: null, counted: true, skip: 0 };
  const [good, stale] = [
    { window, order: ["id"] },
    { window, order: ["label"] },
  ];
  for (const order of [
    [good, stale],
    [stale, good],
  ]) {
    const from = source();
    const codes = order.map((cursor) => textOf(prepared(from, [], cursor)) === "invalid_cursor");
    expect(codes).toEqual(order.map((cursor) => cursor === stale));
  }
});

it("fewer rows are tried in the event loop the more comparisons test each of them", () => {
  const limits = [1, 10, 11, 50].map((count) => {
    const filters = Array.from({ length: count }, (_, i): [string, string] => [
      `filter[$or][${i}][label][starts_with]`,
      "a",
    ]);
    const bound = prepared({ ...source(), scanLimit: 100_000 }, filters);
    return isRefusal(bound) ? bound.code : bound.list.brief()?.("short").plan.scanLimit;
  });
  expect(limits).toEqual([500, 500, 250, 100]);
});
