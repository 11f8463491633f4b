import { evaluateQuery } from "../lists/naive.js";
import { fold, type TableSpec } from "../lists/tables.js";
import { compareStored, type Row, toWire, type Value } from "../support/values.js";
import { type Aggregate, isRounded, nameOf, type Result } from "./query.js";

/** A group as the answer must show it. */
export interface ExpectedGroup {
  /** By name, as JSON; of `rounded` ones roughly. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** How far the doubles of these results may be from what is shown; infinite where they may be anything. */
  readonly rounded: ReadonlyMap<string, number>;
}

/** Every group that the aggregate has over these rows, in its order. */
export function evaluateAggregate(
  spec: TableSpec,
  aggregate: Aggregate,
  admitted: readonly Row[],
): readonly ExpectedGroup[] {
  const groups = new Map<string, Row[]>();
  for (const row of evaluateQuery(spec, aggregate.rows, admitted)) {
    const key = aggregate.groups.map((column) => textOf(folded(spec, column, row[column]!))).join("|");
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  if (aggregate.groups.length === 0 && groups.size === 0) groups.set("", []);
  const order = [
    ...aggregate.sort,
    ...aggregate.groups
      .filter((group) => !aggregate.sort.some(({ column }) => column === group))
      .map((column) => ({ column, descending: false })),
  ];
  return [...groups.values()]
    .map((rows) => ({ rows, places: placesOf(spec, aggregate, rows) }))
    .sort((a, b) => {
      for (const { column, descending } of order) {
        const difference = compareStored(a.places.get(column)!, b.places.get(column)!);
        if (difference !== 0) return descending ? -difference : difference;
      }
      return 0;
    })
    .map(({ rows }) => shownGroup(spec, aggregate, rows));
}

const textOf = (value: Value) => (value instanceof Uint8Array ? `x${[...value]}` : `${typeof value} ${value}`);
const folded = (spec: TableSpec, column: string, value: Value) => fold(value, spec.columns[column]!.collation);

/** What groups are ordered by: values of groups without regard to what their collation does not tell apart. */
function placesOf(spec: TableSpec, { groups, results }: Aggregate, rows: readonly Row[]): ReadonlyMap<string, Value> {
  return new Map([
    ...groups.map((column) => [column, folded(spec, column, rows[0]![column]!)] as const),
    ...results.map((result) => [nameOf(result), resultOf(spec, result, rows)] as const),
  ]);
}

function shownGroup(spec: TableSpec, { groups, results }: Aggregate, rows: readonly Row[]): ExpectedGroup {
  const typeOf = (column: string) => spec.columns[column]!.type;
  return {
    shown: Object.fromEntries([
      ...groups.map((column) => [column, toWire(typeOf(column), extreme(valuesOf(column, rows), -1))] as const),
      ...results.map((result) => {
        const value = resultOf(spec, result, rows);
        const isValue = result.compute === "min" || result.compute === "max";
        return [nameOf(result), toWire(isValue ? typeOf(result.column!) : "integer", value)] as const;
      }),
    ]),
    rounded: new Map(
      results
        .filter((result) => isRounded(spec, result))
        .map((result) => [nameOf(result), toleranceOf(valuesOf(result.column!, rows) as number[])]),
    ),
  };
}

const valuesOf = (column: string, rows: readonly Row[]) =>
  rows.map((row) => row[column]!).filter((value) => value !== null);

function resultOf(spec: TableSpec, { compute, column }: Result, rows: readonly Row[]): Value {
  if (column === null) return BigInt(rows.length);
  const values = valuesOf(column, rows);
  switch (compute) {
    case "count":
      return BigInt(values.length);
    case "count_distinct":
      return BigInt(new Set(values.map((value) => textOf(folded(spec, column, value)))).size);
    case "min":
      return extreme(values, -1);
    case "max":
      return extreme(values, 1);
    case "sum":
    case "avg": {
      if (values.length === 0) return null;
      const sum = values.reduce((a, b) => (a as number) + (b as number)) as bigint | number;
      return compute === "sum" ? sum : Number(sum) / values.length;
    }
  }
}

/** The least (-1) or the greatest (1) of the values, texts by their bytes; null of none. */
function extreme(values: readonly Value[], sign: -1 | 1): Value {
  if (values.length === 0) return null;
  return values.reduce((a, b) => (Math.sign(compareStored(b, a)) === sign ? b : a));
}

function toleranceOf(values: readonly number[]): number {
  return values.map(Math.abs).reduce((a, b) => a + b, 0) * 1e-9;
}
