import { compareStored, type Row, toWire, type Value } from "../support/values.js";
import type { Query, QueryFilter } from "./query.js";
import type { TableSpec } from "./tables.js";

/** Every row that the query selects, in its order (interface, section 4). `rows` are in the order of insertion. */
export function evaluateQuery(spec: TableSpec, query: Query, rows: readonly Row[]): readonly Row[] {
  const order = [
    ...query.sort,
    ...spec.primaryKey
      .filter((key) => !query.sort.some(({ column }) => column === key))
      .map((column) => ({ column, descending: false })),
  ];
  return rows
    .filter((row) => query.filters.every((filter) => matches(filter, row[filter.column]!)))
    .sort((a, b) => {
      for (const { column, descending } of order) {
        const difference = compareStored(a[column]!, b[column]!);
        if (difference !== 0) return descending ? -difference : difference;
      }
      return 0;
    });
}

/** A NULL matches `is_null` alone. */
function matches(filter: QueryFilter, value: Value): boolean {
  if (filter.operator === "is_null") return (value === null) === filter.value;
  if (value === null) return false;
  switch (filter.operator) {
    case "eq":
      return compareStored(value, filter.value) === 0;
    case "ne":
      return compareStored(value, filter.value) !== 0;
    case "lt":
      return compareStored(value, filter.value) < 0;
    case "lte":
      return compareStored(value, filter.value) <= 0;
    case "gt":
      return compareStored(value, filter.value) > 0;
    case "gte":
      return compareStored(value, filter.value) >= 0;
    case "in":
      return filter.values.some((each) => compareStored(value, each) === 0);
    case "contains":
      return (value as string).includes(filter.value);
    case "starts_with":
      return (value as string).startsWith(filter.value);
  }
}

/** A row as a response shows it. */
export function shown(spec: TableSpec, select: readonly string[] | null, row: Row): Record<string, unknown> {
  const columns = select ?? Object.keys(spec.columns);
  return Object.fromEntries(columns.map((name) => [name, toWire(spec.columns[name]!.type, row[name]!)]));
}
