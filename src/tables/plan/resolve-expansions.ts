import { quoted } from "../../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import type { Column } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import type { RequestedExpansions } from "../request/expand.js";
import { columnOf } from "../request/filters.js";
import { notComparable, parseSelect, parseSort, type SortTerm } from "../request/list-request.js";
import type { RequestValue } from "../request/request-value.js";
import { chooseAccessPath, rowKeyOf } from "./access-path.js";
import type { BackwardRows, Expansion, ExpansionStep, ReadAccess, ReadableTables } from "./expansion.js";
import { totalOrder } from "./order.js";

const stepsMax = 3;
const expansionsMax = 10;
const innerLimitDefault = 10;
const innerLimitMax = 100;
/**
 * How many rows the backward expansions of a page may show at most. A request is refused if the list's limit times the
 * sum of their own limits is more.
 */
const innerRowsMax = 10_000;

/**
 * Resolves the expansions that a request asks for to tables and columns (`docs/reference/http.md#expand`). `limit` is
 * that of the list. A column that the caller may not read gets the same refusal as one that does not exist. Where the
 * caller may read no row of a table, expansions that pass the table find nothing.
 */
export function resolveExpansions(
  asked: RequestedExpansions,
  access: ReadAccess,
  tables: ReadableTables,
  limit: number,
): readonly Expansion[] | Refusal {
  if (asked.size > expansionsMax) return badRequest(`expand: more than ${expansionsMax} paths`);
  const known = new Map<string, ExpansionStep>();
  const expansions: Expansion[] = [];
  for (const [path, options] of asked) {
    const expansion = expansionOf(path, options, access, tables, known);
    if (isRefusal(expansion)) return expansion;
    expansions.push(expansion);
  }
  const inner = expansions.reduce((sum, { steps }) => sum + (steps?.at(-1)?.rows?.limit ?? 0), 0);
  return limit * inner > innerRowsMax
    ? badRequest(`expand: the limit times those inside of it is more than ${innerRowsMax}`)
    : expansions;
}

/**
 * Makes the expansion of one path. `known` has the steps that earlier paths have made, by the part of the path that
 * leads to each: paths that begin alike share these steps.
 */
function expansionOf(
  path: string,
  options: ReadonlyMap<string, RequestValue>,
  access: ReadAccess,
  tables: ReadableTables,
  known: Map<string, ExpansionStep>,
): Expansion | Refusal {
  const references = referencesOf(path, access, tables);
  if (isRefusal(references)) return references;
  const last = references.at(-1)!;
  const shown = shownBy(options, last);
  if (isRefusal(shown)) return shown;
  const expansion = { path, isBackward: last.isBackward, counts: shown.counts };
  if (references.some(({ access }) => access === null)) return { ...expansion, steps: null };
  const steps: ExpansionStep[] = [];
  for (const reference of references) {
    const before = known.get(reference.path);
    const step = before ?? stepOf(reference, shown);
    if (isRefusal(step)) return step;
    if (before === undefined) {
      known.set(reference.path, step);
      steps.at(-1)?.inner.push(step);
    }
    steps.push(step);
  }
  steps.at(-1)!.output = shown.select ?? [...last.readable.values()];
  return { ...expansion, steps };
}

/** A reference of the schema that a path of `expand` follows, in one direction or the other. */
interface FoundReference {
  /** The part of the path up to this reference and including it. */
  readonly path: string;
  readonly isBackward: boolean;
  readonly from: Column;
  readonly to: Column;
  readonly before: ReadAccess | null;
  readonly access: ReadAccess | null;
  readonly readable: ReadonlyMap<string, Column>;
}

/**
 * Finds the references that a path of `expand` names, one or more; a refusal where a part of the path is no reference
 * that the caller may follow, or where the path is too deep or goes on after a backward reference.
 */
function referencesOf(path: string, access: ReadAccess, tables: ReadableTables): readonly FoundReference[] | Refusal {
  const names = path.split(".");
  const found: FoundReference[] = [];
  let row: { readonly table: string; readonly access: ReadAccess | null; readonly readable: Readable } = {
    table: access.table.name,
    access,
    readable: access.readable,
  };
  for (let at = 0; at < names.length; ) {
    const before = found.at(-1);
    if (before?.isBackward)
      return badRequest(
        `expand: ${quoted(path)}: nothing can follow ${before.path}, which leads to any number of rows`,
      );
    if (found.length === stepsMax) return badRequest(`expand: ${quoted(path)} is more than ${stepsMax} deep`);
    const reference = row.readable.has(names[at]!)
      ? forwardFrom(row.readable.get(names[at]!)!, tables)
      : backwardTo(row.table, row.readable, names[at]!, names[at + 1], tables);
    if (isRefusal(reference)) return reference;
    at += reference.isBackward ? 2 : 1;
    found.push({ ...reference, path: names.slice(0, at).join("."), before: row.access });
    row = reference;
  }
  return found;
}

type Readable = ReadonlyMap<string, Column>;
type Reached = Omit<FoundReference, "path" | "before"> & { readonly table: string };

function forwardFrom(from: Column, tables: ReadableTables): Reached | Refusal {
  const { references } = from;
  if (references === null) return badRequest(`expand: ${from.name} is no reference`);
  if (references.table === "$users")
    return badRequest(`expand: ${from.name} refers to $users, which cannot be expanded`);
  const there = tables.find(references.table);
  if (there === null) return badRequest(`expand: ${from.name} refers to a table that cannot be read`);
  if (isRefusal(there)) return there;
  const to = columnOf(references.column, there.readable);
  return isRefusal(to) ? to : { ...there, table: references.table, isBackward: false, from, to };
}

function backwardTo(
  table: string,
  readable: Readable,
  name: string,
  column: string | undefined,
  tables: ReadableTables,
): Reached | Refusal {
  const there = tables.find(name);
  if (there === null) return unknownColumn(name);
  if (isRefusal(there)) return there;
  if (column === undefined)
    return badRequest(
      `expand: ${quoted(name)}: the column that refers to ${table} has to follow, as in ${name}.<column>`,
    );
  const to = columnOf(column, there.readable);
  if (isRefusal(to)) return to;
  if (to.references?.table !== table) return badRequest(`expand: ${name}.${column} does not refer to ${table}`);
  const from = columnOf(to.references.column, readable);
  return isRefusal(from) ? from : { ...there, table: name, isBackward: true, from, to };
}

const unknownColumn = (name: string) => badRequest(`unknown column ${quoted(name)}`);

/** The options of a path, parsed: how many and which rows to show at its end, and which of their columns. */
interface EndOptions {
  readonly limit: number;
  readonly sort: readonly SortTerm[];
  readonly select: readonly Column[] | null;
  readonly counts: boolean;
}

function shownBy(
  options: ReadonlyMap<string, RequestValue>,
  { path, isBackward, readable }: FoundReference,
): EndOptions | Refusal {
  const limit = options.get("limit")?.count() ?? (options.has("limit") ? 0 : innerLimitDefault);
  if (limit < 1 || limit > innerLimitMax)
    return badRequest(`expand: ${path}: limit: expected an integer from 1 to ${innerLimitMax}`);
  const counts = options.get("count")?.flag() ?? (options.has("count") ? null : false);
  if (counts === null) return badRequest(`expand: ${path}: count: expected true or false`);
  const ofMany = ["limit", "sort", "count"].find((option) => options.has(option));
  if (!isBackward && ofMany !== undefined) return badRequest(`expand: ${path}: ${ofMany}: there is one row at most`);
  const sort = options.has("sort") ? parseSort(options.get("sort")!, readable) : { sort: [] };
  const select = options.has("select") ? parseSelect(options.get("select")!, readable) : {};
  if (isRefusal(sort)) return sort;
  if (isRefusal(select)) return select;
  return { limit, counts, ...sort, select: select.select ?? null };
}

/** Makes the step that follows a reference; a refusal where its columns cannot be compared, or no index finds rows. */
function stepOf(
  { path, isBackward, from, to, before, access }: FoundReference,
  { limit, sort, counts }: EndOptions,
): ExpansionStep | Refusal {
  const { table, catalog } = access!;
  const physical = catalog.tables.get(table.name);
  const compared = [to, ...(isBackward ? sort.map(({ column }) => column) : [])];
  const refusal =
    notComparable(compared, catalog.unsupported.columns.get(table.name)) ??
    notComparable([from], catalog.unsupported.columns.get(before!.table.name));
  if (refusal !== null) return refusal;
  const isSought: Expression = {
    kind: "compare",
    operator: "=",
    left: { kind: "column", source: "row", column: to.name },
    right: { kind: "given", name: "expand.from" },
  };
  const whole = totalOrder(table, isBackward ? sort : [], physical);
  const conditions = { filters: [isSought], rule: [] };
  const { index, served, ordered, order } = chooseAccessPath(table, catalog, conditions, whole, false);
  const rowKey = rowKeyOf(table, physical);
  const isServed = served.length === 1 && rowKey !== null && comparesAlike(from, before!, to, access!);
  if (!isServed) return badRequest(`expand: ${path}: no index serves ${table.name}.${to.name}`);
  // Rows can be read one after the other in their order (`isLazy`) only if no column of the order can be NULL, because
  // a row's place in the order is compared by `<` and `=`.
  const isWalked = rowKey.length === 1 && order.length > 0 && order.every(({ nullable }) => !nullable);
  const isLazy = ordered && !counts && isWalked;
  const rows: BackwardRows | null = isBackward ? { limit, order, rowKey, counts, isLazy } : null;
  return { from, to, access: access!, index, output: [], rows, inner: [] };
}

/**
 * Whether values of the two columns that are equal in one column are equal in the other, too. In tables that other
 * programs made, the two ends of a reference can be of different types or collations.
 */
function comparesAlike(a: Column, { catalog, table }: ReadAccess, b: Column, there: ReadAccess): boolean {
  const [one, other] = [catalog.tables.get(table.name), catalog.tables.get(there.table.name)];
  return (
    a.type === b.type &&
    one?.affinities.get(a.name) === other?.affinities.get(b.name) &&
    one?.collations.get(a.name) === other?.collations.get(b.name)
  );
}
