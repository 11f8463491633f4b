import type { ColumnType } from "../../../src/sqlite/column-type.js";
import type { Filter, Group, SortTerm } from "../support/evaluate.js";
import type { Random } from "../support/random.js";
import { isSafe, type Row, toText, toWire, type Value } from "../support/values.js";
import type { TableSpec } from "./tables.js";

/** What a list request asks for, before it is spelled. */
export interface Query {
  readonly filters: readonly Filter[];
  /** Groups beside the filters: it has no filters of its own. */
  readonly groups: Group | null;
  readonly sort: readonly SortTerm[];
  readonly select: readonly string[] | null;
}

const comparisons = ["eq", "eq", "eq", "ne", "lt", "lte", "gt", "gte"] as const;

export function randomQuery(random: Random, spec: TableSpec, rows: readonly Row[]): Query {
  const howMany = random.pick([0, 0, 1, 1, 1, 2, 2, 3, 4]);
  const columns = Object.keys(spec.columns);
  return {
    filters: randomFilters(random, spec, rows, howMany),
    groups: random.chance(0.3) ? randomGroups(random, spec, rows) : null,
    sort: randomSort(random, spec),
    select: random.chance(0.3) ? random.some(columns, random.int(1, columns.length)) : null,
  };
}

function randomFilters(random: Random, spec: TableSpec, rows: readonly Row[], count: number): Filter[] {
  const filters = new Map<string, Filter>();
  for (let i = 0; i < count; i++) {
    const filter = randomFilter(random, spec, rows);
    filters.set(`${filter.column} ${filter.operator}`, filter);
  }
  return [...filters.values()];
}

/** With fewer filters than a request may have. */
function randomGroups(random: Random, spec: TableSpec, rows: readonly Row[]): Group {
  const groups = { ...randomGroup(random, spec, rows, 1), filters: [] };
  return filterCount(groups) > 40 ? randomGroups(random, spec, rows) : groups;
}

function filterCount({ filters, or, and, not }: Group): number {
  const inner = [...or, ...and, ...(not === null ? [] : [not])];
  return filters.length + inner.reduce((sum, group) => sum + filterCount(group), 0);
}

function randomGroup(random: Random, spec: TableSpec, rows: readonly Row[], depth: number): Group {
  const some = (count: number) => random.times(count, () => randomGroup(random, spec, rows, depth + 1));
  const isDeep = depth > 3 || (depth > 1 && random.chance(0.6));
  return {
    filters: randomFilters(random, spec, rows, random.int(1, 2)),
    or: isDeep ? [] : some(random.int(depth === 1 ? 1 : 0, 3)),
    and: isDeep ? [] : some(random.int(0, 1)),
    not: isDeep || random.chance(0.5) ? null : some(1)[0]!,
  };
}

function randomFilter(random: Random, spec: TableSpec, rows: readonly Row[]): Filter {
  // Half of them lead an index or the key, so that paths differ.
  const leading = [spec.primaryKey, ...spec.indexes.map(({ columns }) => columns)]
    .flatMap((columns) => columns.slice(0, 2))
    .map((column) => column.replace(/^-/, ""));
  const column = random.pick(leading.length > 0 && random.chance(0.5) ? leading : Object.keys(spec.columns));
  const { type } = spec.columns[column]!;
  const known = () => knownValue(random, column, rows);
  if (type === "json" || random.chance(0.15)) return { column, operator: "is_null", value: random.chance(0.5) };
  if (type === "text" && random.chance(0.25))
    return {
      column,
      operator: random.pick(["contains", "icontains", "starts_with"]),
      value: partOf(random, known() as string),
    };
  if (type !== "blob" && random.chance(0.2))
    return {
      column,
      operator: random.pick(["in", "in", "not_in"]),
      values: random.times(listLength(random), () => known()),
    };
  return { column, operator: random.pick(comparisons), value: varied(random, known()) };
}

function listLength(random: Random): number {
  return random.chance(0.05) ? random.int(100, 1000) : random.int(1, 6);
}

function knownValue(random: Random, column: string, rows: readonly Row[]): NonNullable<Value> {
  const present = rows.filter((row) => row[column] !== null);
  return random.pick(present)[column]!;
}

/** Mostly the value itself, sometimes its neighbour. */
function varied(random: Random, value: NonNullable<Value>): Value {
  if (random.chance(0.75)) return value;
  const step = random.pick([-1, 1]);
  if (typeof value === "bigint") return BigInt.asIntN(64, value + BigInt(step));
  if (typeof value === "number") return value + step;
  if (typeof value === "string") return random.chance(0.5) ? `${value} ` : partOf(random, value);
  return value;
}

function partOf(random: Random, value: string): string {
  const characters = [...value];
  return characters.slice(0, random.int(0, Math.min(3, characters.length))).join("");
}

/** Often the order of an index, read forwards or backwards, with or without the key behind it. */
function randomSort(random: Random, spec: TableSpec): Query["sort"] {
  const sortable = Object.keys(spec.columns).filter((column) => spec.columns[column]!.type !== "json");
  if (random.chance(0.25)) return [];
  if (random.chance(0.45)) return orderOfIndex(random, spec);
  return random.some(sortable, random.int(1, 4)).map((column) => ({ column, descending: random.chance(0.5) }));
}

function orderOfIndex(random: Random, spec: TableSpec): Query["sort"] {
  const walks = [spec.primaryKey, ...spec.indexes.map(({ columns }) => columns)].filter(
    (columns) => columns.length > 0,
  );
  if (walks.length === 0) return [];
  const columns = random.pick(walks);
  const walked = [...columns, ...spec.primaryKey.filter((key) => !columns.includes(key))];
  const backwards = random.chance(0.4);
  const terms = walked.slice(random.chance(0.2) ? 1 : 0, random.int(1, walked.length)).map((column) => ({
    column: column.replace(/^-/, ""),
    descending: column.startsWith("-") !== backwards,
  }));
  return terms.filter((term, i) => terms.findIndex(({ column }) => column === term.column) === i);
}

/** The query string, in one of the spellings that the interface offers. */
export function spell(
  random: Random,
  spec: TableSpec,
  { filters, groups, sort, select }: Query,
  page: { readonly limit: number | null; readonly offset: number | null },
): string {
  const parameters: [string, string][] = [
    ...filters.map((filter) => spellFilter(random, spec, filter)),
    ...(groups === null ? [] : spellGroup(random, spec, "filter", groups)),
  ];
  if (sort.length > 0)
    parameters.push(["sort", sort.map(({ column, descending }) => `${descending ? "-" : ""}${column}`).join(",")]);
  if (select !== null) parameters.push(["select", select.join(",")]);
  if (page.limit !== null) parameters.push(["limit", String(page.limit)]);
  if (page.offset !== null && (page.offset > 0 || random.chance(0.1))) parameters.push(["offset", String(page.offset)]);
  const encoded = random.shuffled(parameters).map((pair) => pair.map((part) => encode(random, part)).join("="));
  return encoded.length === 0 ? "" : `?${encoded.join("&")}`;
}

/** The same list as a JSON body. */
export function asBody(
  spec: TableSpec,
  { filters, groups, sort, select }: Query,
  page: { readonly limit: number | null; readonly offset: number },
): object {
  const own = groups ?? { filters: [], or: [], and: [], not: null };
  return {
    filter: groupBody(spec, { ...own, filters: [...filters, ...own.filters] }),
    ...(sort.length > 0 && {
      sort: sort.map(({ column, descending }) => `${descending ? "-" : ""}${column}`),
    }),
    ...(select !== null && { select }),
    ...(page.limit !== null && { limit: page.limit }),
    offset: page.offset,
  };
}

function groupBody(spec: TableSpec, { filters, or, and, not }: Group): object {
  const body: Record<string, Record<string, unknown>> = {};
  for (const filter of filters) {
    const { type } = spec.columns[filter.column]!;
    // The value of is_null is no value of the column.
    const wire = (value: Value) => (typeof value === "boolean" ? value : toWire(type, value));
    const operand = "values" in filter ? filter.values.map(wire) : wire(filter.value);
    body[filter.column] = { ...body[filter.column], [filter.operator]: operand };
  }
  const inner = (groups: readonly Group[]) => groups.map((group) => groupBody(spec, group));
  return {
    ...body,
    ...(or.length > 0 && { $or: inner(or) }),
    ...(and.length > 0 && { $and: inner(and) }),
    ...(not !== null && { $not: groupBody(spec, not) }),
  };
}

function encode(random: Random, part: string): string {
  const encoded = encodeURIComponent(part);
  return random.chance(0.5) ? encoded.replaceAll("%20", "+") : encoded;
}

function spellGroup(random: Random, spec: TableSpec, prefix: string, group: Group): [string, string][] {
  const inner = (word: string, groups: readonly Group[]) =>
    groups.flatMap((each, i) => spellGroup(random, spec, `${prefix}[${word}][${i}]`, each));
  return [
    ...group.filters.map((filter) => spellFilter(random, spec, filter, prefix)),
    ...inner("$or", group.or),
    ...inner("$and", group.and),
    ...(group.not === null ? [] : spellGroup(random, spec, `${prefix}[$not]`, group.not)),
  ];
}

function spellFilter(random: Random, spec: TableSpec, filter: Filter, prefix = "filter"): [string, string] {
  const { column, operator } = filter;
  const name = `${prefix}[${column}][${operator}]`;
  if (operator === "in" || operator === "not_in")
    return [name, spellList(random, spec.columns[column]!.type, filter.values)];
  const shorthand = prefix === "filter" && operator === "eq" && random.chance(0.5);
  return [shorthand ? `where[${column}]` : name, toText(filter.value)];
}

function spellList(random: Random, type: ColumnType, values: readonly Value[]): string {
  const plain = values.map(toText);
  const needsJson = plain.some((text) => text.includes(",")) || plain[0]!.startsWith("[");
  if (!needsJson && random.chance(0.7)) return plain.join(",");
  return JSON.stringify(values.map((value) => (isJsonValue(type, value) ? jsonValue(value) : toText(value))));
}

function isJsonValue(type: ColumnType, value: Value): boolean {
  if (typeof value === "bigint") return isSafe(value);
  // Beyond 2^53 an integer in JSON text is refused, whatever the column's type is.
  if (typeof value === "number") return !/^-?\d+$/.test(String(value)) || Number.isSafeInteger(value);
  return type === "boolean";
}

function jsonValue(value: Value): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
