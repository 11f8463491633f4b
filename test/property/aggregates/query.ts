import { type Query, randomQuery, spell } from "../lists/query.js";
import type { TableSpec } from "../lists/tables.js";
import type { SortTerm } from "../support/evaluate.js";
import type { Random } from "../support/random.js";
import type { Row } from "../support/values.js";

/** What an aggregate asks for, before it is spelled. */
export interface Aggregate {
  /** The filters and their groups; it has no sort and no select. */
  readonly rows: Query;
  readonly groups: readonly string[];
  readonly results: readonly Result[];
  /** By names of groups and results. */
  readonly sort: readonly SortTerm[];
}

export interface Result {
  readonly compute: "count" | "count_distinct" | "sum" | "avg" | "min" | "max";
  /** Null for `count=*`. */
  readonly column: string | null;
}

export const nameOf = ({ compute, column }: Result) => (column === null ? "count" : `${compute}_${column}`);

/** Whether a result is a double that hangs on the order in which reals were added up. */
export const isRounded = (spec: TableSpec, { compute, column }: Result) =>
  (compute === "sum" || compute === "avg") && spec.columns[column!]!.type === "real";

export function randomAggregate(random: Random, spec: TableSpec, rows: readonly Row[]): Aggregate {
  const comparable = columnsOf(spec, ["integer", "real", "text", "boolean", "blob"]);
  const groups = random.some(comparable, random.pick([0, 0, 1, 1, 1, 2, 3]));
  const asked = random.times(random.int(groups.length === 0 ? 1 : 0, 5), () => randomResult(random, spec));
  const results = [...new Map(asked.map((result) => [nameOf(result), result])).values()];
  const sortable = [...groups, ...results.filter((result) => !isRounded(spec, result)).map(nameOf)];
  const sorted = random.chance(0.5) ? random.some(sortable, random.int(1, 3)) : [];
  return {
    rows: { ...randomQuery(random, spec, rows), sort: [], select: null },
    groups,
    results,
    sort: sorted.map((column) => ({ column, descending: random.chance(0.5) })),
  };
}

function randomResult(random: Random, spec: TableSpec): Result {
  const compute = random.pick(["count", "count_distinct", "sum", "sum", "avg", "min", "max"] as const);
  if (compute === "count")
    return { compute, column: random.chance(0.5) ? null : random.pick(Object.keys(spec.columns)) };
  const isNumeric = compute === "sum" || compute === "avg";
  const types = isNumeric ? ["integer", "real"] : ["integer", "real", "text", "boolean", "blob"];
  return { compute, column: random.pick(columnsOf(spec, types)) };
}

function columnsOf(spec: TableSpec, types: readonly string[]): readonly string[] {
  return Object.keys(spec.columns).filter((name) => types.includes(spec.columns[name]!.type));
}

/** The query string. */
export function spellAggregate(
  random: Random,
  spec: TableSpec,
  { rows, groups, results, sort }: Aggregate,
  limit: number | null,
): string {
  const filters = spell(random, spec, rows, { limit, offset: null });
  const lists = new Map<string, string[]>();
  for (const { compute, column } of results) lists.set(compute, [...(lists.get(compute) ?? []), column ?? "*"]);
  if (groups.length > 0) lists.set("group", [...groups]);
  if (sort.length > 0)
    lists.set(
      "sort",
      sort.map(({ column, descending }) => `${descending ? "-" : ""}${column}`),
    );
  const own = random.shuffled([...lists].map(([name, values]) => `${name}=${values.join(",")}`)).join("&");
  return `${filters === "" ? "?" : `${filters}&`}${own}`;
}
