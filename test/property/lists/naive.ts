import { compareStored, type Row, toWire, type Value } from "../support/values.js";
import type { Query, QueryFilter } from "./query.js";
import { fold, type TableSpec } from "./tables.js";

/** Every row that the query selects, in its order (interface, section 4). `rows` are in the order of insertion. */
export function evaluateQuery(spec: TableSpec, query: Query, rows: readonly Row[]): readonly Row[] {
  const order = [
    ...query.sort,
    ...spec.primaryKey
      .filter((key) => !query.sort.some(({ column }) => column === key))
      .map((column) => ({ column, descending: false })),
  ];
  const comparing = (column: string) => {
    const { collation } = spec.columns[column]!;
    return (a: Value, b: Value) => compareStored(fold(a, collation), fold(b, collation));
  };
  return rows
    .filter((row) =>
      query.filters.every((filter) => matches(filter, row[filter.column]!, comparing(filter.column))),
    )
    .sort((a, b) => {
      for (const { column, descending } of order) {
        const difference = comparing(column)(a[column]!, b[column]!);
        if (difference !== 0) return descending ? -difference : difference;
      }
      return 0;
    });
}

/** A NULL matches `is_null` alone. */
function matches(filter: QueryFilter, value: Value, compare: typeof compareStored): boolean {
  if (filter.operator === "is_null") return (value === null) === filter.value;
  if (value === null) return false;
  switch (filter.operator) {
    case "eq":
      return compare(value, filter.value) === 0;
    case "ne":
      return compare(value, filter.value) !== 0;
    case "lt":
      return compare(value, filter.value) < 0;
    case "lte":
      return compare(value, filter.value) <= 0;
    case "gt":
      return compare(value, filter.value) > 0;
    case "gte":
      return compare(value, filter.value) >= 0;
    case "in":
      return filter.values.some((each) => compare(value, each) === 0);
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
