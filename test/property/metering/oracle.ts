import { compare, compareRows, type Filter, matches, type SortTerm, withKey } from "../support/evaluate.js";
import type { Row, Value } from "../support/values.js";

/**
 * What docs/reference/metering.md says of access paths and visits, word by word, over rows in memory: nothing of the server's
 * is used.
 */
export interface OracleTable {
  readonly columns: readonly string[];
  readonly primaryKey: readonly string[];
  /** The INTEGER PRIMARY KEY, if the key is one. */
  readonly rowidAlias: string | null;
  /** As the database lists them, by name. */
  readonly indexes: readonly OracleIndex[];
  /** In the order of the rowid. */
  rows: Row[];
}

export interface OracleIndex {
  readonly columns: readonly { readonly name: string; readonly descending: boolean }[];
  readonly unique: boolean;
}

/** A condition that a rule leaves for the rows. */
export type Term =
  | { readonly kind: "equality"; readonly column: string; readonly value: NonNullable<Value> }
  /** Decided once, before any row is visited: visits, and whether it holds. */
  | { readonly kind: "gate"; readonly visits: number; readonly holds: boolean }
  | {
      readonly kind: "judge";
      /** Of probes that depend on no row. */
      readonly visitsOnce: number;
      /** Of the row, that it reads. */
      readonly columns: readonly string[];
      /** Of probes that depend on the row; null for a rule without any. */
      readonly visits: ((row: Row) => number) | null;
      readonly holds: (row: Row) => boolean;
      /** By which its rows are reached from the caller; none where it has to be asked of each row. */
      readonly ways?: readonly OracleWay[];
    };

/** From the caller to the rows in which a column has one of some values. */
export interface OracleWay {
  readonly column: string;
  readonly values: readonly Value[];
  /** Rows that were found on the way to the values. */
  readonly links: number;
}

export interface ListRequest {
  readonly filters: readonly Filter[];
  readonly sort: readonly SortTerm[];
  readonly limit: number;
  readonly offset: number;
}

interface Condition {
  readonly columns: readonly string[];
  readonly holds: (row: Row) => boolean;
  readonly equality: string | null;
  readonly membership: string | null;
  readonly range: { readonly column: string; readonly lower: boolean } | null;
  readonly visits: ((row: Row) => number) | null;
}

function ofFilter(filter: Filter): Condition {
  const { column, operator } = filter;
  const isLower = operator === "gt" || operator === "gte";
  const isUpper = operator === "lt" || operator === "lte";
  const isEqual = operator === "eq" || (operator === "is_null" && filter.value);
  return {
    columns: [column],
    holds: (row) => matches(filter, row),
    equality: isEqual ? column : null,
    membership: operator === "in" ? column : null,
    range: isLower || isUpper ? { column, lower: isLower } : null,
    visits: null,
  };
}

interface Path {
  readonly served: readonly Condition[];
  readonly ordered: boolean;
  readonly rank: readonly number[];
}

type Order = readonly SortTerm[];

/** A b-tree: the columns by which it is sorted, and how many of them can be sought by. */
interface Walk {
  readonly columns: OracleIndex["columns"];
  readonly seekable: number;
  readonly unique: boolean;
}

function walksOf(table: OracleTable): readonly Walk[] {
  const rowid = { name: table.rowidAlias ?? "rowid", descending: false };
  const itself = { columns: [rowid], seekable: table.rowidAlias === null ? 0 : 1, unique: true };
  const indexes = table.indexes.map(({ columns, unique }) => ({
    columns: columns.some(({ name }) => name === rowid.name) ? columns : [...columns, rowid],
    seekable: columns.length,
    unique,
  }));
  return [itself, ...indexes];
}

function pathOf(walk: Walk, conditions: readonly Condition[], order: Order, seeksByList: boolean): Path {
  const served: Condition[] = [];
  const constant = new Set<string>();
  let at = 0;
  let byList = false;
  for (; at < walk.seekable && !byList; at++) {
    const { name } = walk.columns[at]!;
    const equal = conditions.find(({ equality }) => equality === name);
    const seek = equal ?? conditions.find(({ membership }) => seeksByList && membership === name);
    if (seek === undefined) break;
    served.push(seek);
    if (equal === undefined) byList = true;
    else constant.add(name);
  }
  const seeks = served.length;
  if (!byList && at < walk.seekable) {
    const bounds = conditions.filter(({ range }) => range?.column === walk.columns[at]!.name);
    for (const lower of [true, false]) {
      const bound = bounds.find(({ range }) => range!.lower === lower);
      if (bound !== undefined) served.push(bound);
    }
  }
  const free = order.filter(({ column }) => !constant.has(column));
  const holdsNull = served.some(({ equality, holds }) => equality !== null && holds({ [equality]: null }));
  const unique = walk.unique && walk.seekable > 0 && constant.size === walk.seekable && !holdsNull;
  const rest = walk.columns.slice(at);
  const yields = [false, true].some((backwards) =>
    free.every(({ column, descending }, i) => {
      const walked = rest[i];
      return walked !== undefined && walked.name === column && (walked.descending !== backwards) === descending;
    }),
  );
  const ordered = !byList && (unique || yields);
  return { served, ordered, rank: [Number(unique), seeks, Number(ordered), served.length - seeks] };
}

/** First the most equalities, then the order that is asked for, then a range; a whole unique key before all. */
function bestPath(table: OracleTable, conditions: readonly Condition[], order: Order, orderedOnly = false): Path {
  const all = walksOf(table).map((walk) => pathOf(walk, conditions, order, !orderedOnly));
  const inOrder = all.filter(({ ordered }) => ordered);
  const paths = orderedOnly && inOrder.length > 0 ? inOrder : all;
  return paths.reduce((best, path) => {
    const at = path.rank.findIndex((value, i) => value !== best.rank[i]);
    return at !== -1 && path.rank[at]! > best.rank[at]! ? path : best;
  });
}

export interface Counted {
  readonly rowsRead: number;
  readonly total: number;
  readonly returned: number;
  /** What the page that a cursor reaches costs; null where no row comes behind this one. */
  readonly next: { readonly rowsRead: number; readonly returned: number } | null;
}

/** Walks the rows of a list: its first page, and the second. */
export function countList(table: OracleTable, terms: readonly Term[], request: ListRequest): Counted {
  const gates = terms.filter((term) => term.kind === "gate");
  const judges = terms.filter((term) => term.kind === "judge");
  const once = [...gates.map(({ visits }) => visits), ...judges.map(({ visitsOnce }) => visitsOnce)].reduce(
    (a, b) => a + b,
    0,
  );
  if (gates.some(({ holds }) => !holds)) return { rowsRead: once, total: 0, returned: 0, next: null };
  const conditions: Condition[] = [
    ...request.filters.map(ofFilter),
    ...terms.flatMap((term): Condition[] => {
      const base = { membership: null, range: null, visits: null };
      if (term.kind === "equality")
        return [
          {
            ...base,
            columns: [term.column],
            equality: term.column,
            holds: (row) => compare("=", row[term.column]!, term.value) === true,
          },
        ];
      return term.kind === "judge"
        ? [{ ...base, columns: term.columns, equality: null, holds: term.holds, visits: term.visits }]
        : [];
    }),
  ];
  const order = totalOrder(table, request);
  const path = bestPath(table, conditions, order);
  const { served, ordered } = path;
  const [{ ways } = { ways: undefined }] = judges;
  const isSought = served.some(({ equality, membership }) => (equality ?? membership) !== null);
  if (ways !== undefined && !isSought) return countByWays(table, ways, request);
  const rest = conditions.filter((condition) => !served.includes(condition));
  const cheap = rest.filter(({ visits }) => visits === null);
  const candidates = table.rows
    .filter((row) => served.every(({ holds }) => holds(row)))
    .sort((a, b) => compareRows(order, a, b));
  // Probes are asked only about rows that pass what needs none.
  const probed = (row: Row) =>
    cheap.every(({ holds }) => holds(row)) ? rest.reduce((sum, { visits }) => sum + (visits?.(row) ?? 0), 0) : 0;
  const visitsOf = (rows: readonly Row[]) => rows.reduce((sum, row) => sum + 1 + probed(row), 0);
  const authorized = candidates.filter((row) => rest.every(({ holds }) => holds(row)));
  const groups = groupsOf(table, path, rest);
  // One of each group is judged for all.
  const counting =
    groups === null ? visitsOf(candidates) : candidates.length + groups.reduce((sum, row) => sum + probed(row), 0);
  const { limit, offset } = request;
  const beyond = authorized[offset + limit];
  const measured = measures(request) ? candidates.length : 0;
  // In order, the page is walked up to and with the row that shows that there is a next one.
  const walked = ordered && beyond !== undefined ? candidates.slice(0, candidates.indexOf(beyond) + 1) : candidates;
  return {
    rowsRead: once + measured + counting + visitsOf(walked),
    total: authorized.length,
    returned: authorized.slice(offset, offset + limit).length,
    next:
      beyond === undefined
        ? null
        : { rowsRead: once + nextPage(), returned: Math.min(limit, authorized.length - offset - limit) },
  };

  /** The rows behind the last one of the first page. */
  function nextPage(): number {
    const last = candidates.indexOf(authorized[offset + limit - 1]!);
    const behind = candidates.slice(last + 1);
    // To sort them, all are looked at again, twice; probes are asked about those behind the page alone.
    if (!ordered) return 2 * (candidates.length + visitsOf(behind) - behind.length);
    const end = authorized[offset + 2 * limit];
    return visitsOf(end === undefined ? behind : candidates.slice(last + 1, candidates.indexOf(end) + 1));
  }
}

/**
 * The rows that ways lead to: counted in no order, then walked in the order that is asked for, or sorted. A row that two
 * ways lead to is met twice. Whether the caller may read a row is known by its way.
 */
function countByWays(table: OracleTable, ways: readonly OracleWay[], request: ListRequest): Counted {
  const { filters, limit, offset } = request;
  const order = totalOrder(table, request);
  const isReached = (way: OracleWay, row: Row) =>
    way.values.some((value) => compare("=", row[way.column]!, value) === true);
  const met = ways
    .flatMap((way) => table.rows.filter((row) => isReached(way, row)))
    .sort((a, b) => compareRows(order, a, b));
  const listed = [...new Set(met)].filter((row) => filters.every((filter) => matches(filter, row)));
  const links = ways.reduce((sum, way) => sum + way.links, 0);
  const ordered = ways.every((way) => leadsInOrder(table, way, request));
  const last = listed[offset + limit - 1];
  const beyond = listed[offset + limit];
  const upTo = (row: Row | undefined) => (row === undefined ? met.length : met.lastIndexOf(row) + 1);
  const walked = (from: number, to: Row | undefined) => (ordered ? upTo(to) - from : met.length);
  return {
    rowsRead: links + (measures(request) ? met.length : 0) + met.length + walked(0, beyond),
    total: listed.length,
    returned: listed.slice(offset, offset + limit).length,
    next:
      beyond === undefined
        ? null
        : {
            rowsRead: links + (ordered ? 0 : met.length) + walked(upTo(last), listed[offset + 2 * limit]),
            returned: Math.min(limit, listed.length - offset - limit),
          },
  };
}

/** Whether an index has the rows of each value in the order; NULLs have no place by which rows could be merged. */
function leadsInOrder(table: OracleTable, { column }: OracleWay, request: ListRequest): boolean {
  const order = totalOrder(table, request);
  const isNullable = (name: string) => !table.primaryKey.includes(name);
  const fixed = request.filters.filter(({ operator }) => operator === "eq").map((filter) => filter.column);
  if (order.some((term) => isNullable(term.column))) return false;
  return walksOf(table).some(({ columns, seekable, unique }) => {
    const names = columns.slice(0, seekable).map(({ name }) => name);
    const at = names.findIndex((name) => name !== column && !fixed.includes(name));
    const sought = at === -1 ? seekable : at;
    if (!names.slice(0, sought).includes(column)) return false;
    if (sought === seekable && unique) return true;
    const free = order.filter((term) => !names.slice(0, sought).includes(term.column) || term.column === column);
    return [false, true].some((backwards) =>
      free.every((term, i) => {
        const walked = columns[sought + i];
        return walked?.name === term.column && (walked.descending !== backwards) === term.descending;
      }),
    );
  });
}

/**
 * A row of each group that is alike in all that conditions read, where an index brings them together; null where rows are
 * judged one by one.
 */
function groupsOf(table: OracleTable, { served, ordered }: Path, rest: readonly Condition[]): Row[] | null {
  const columns = [...new Set(rest.flatMap((condition) => condition.columns))];
  const isServed = table.indexes.some(
    (index) =>
      index.columns.length >= columns.length + Number(index.unique) &&
      index.columns.slice(0, columns.length).every(({ name }) => columns.includes(name)),
  );
  if (served.length > 0 || !ordered || rest.length === 0 || !isServed) return null;
  return [...new Map(table.rows.map((row) => [columns.map((column) => String(row[column])).join(), row])).values()];
}

/**
 * The first page of a list that no rule limits, of which a request may examine `scanLimit` rows: null where more would have
 * to be sorted.
 */
export function countWindow(
  table: OracleTable,
  request: ListRequest,
  scanLimit: number,
): { readonly rowsRead: number; readonly page: Pick<Counted, "total" | "returned"> | null } {
  const conditions = request.filters.map(ofFilter);
  const order = totalOrder(table, request);
  const candidatesOf = ({ served }: Path) =>
    table.rows.filter((row) => served.every(({ holds }) => holds(row))).sort((a, b) => compareRows(order, a, b));
  const { limit, offset } = request;
  let path = bestPath(table, conditions, order);
  let before = 0;
  if (!path.ordered && candidatesOf(path).length > scanLimit) {
    // That they are too many is seen at the one that is one too many.
    before = (scanLimit + 1) * (measures(request) ? 2 : 1);
    path = bestPath(table, conditions, order, true);
    if (!path.ordered) return { rowsRead: before, page: null };
  }
  const candidates = candidatesOf(path);
  const rest = conditions.filter((condition) => !path.served.includes(condition));
  const window = path.ordered ? candidates.slice(0, scanLimit) : candidates;
  const authorized = window.filter((row) => rest.every(({ holds }) => holds(row)));
  const isUnconditional = conditions.length === 0;
  const beyond = authorized[offset + limit];
  const counted = isUnconditional ? candidates.length : window.length;
  const walked = path.ordered && beyond !== undefined ? window.indexOf(beyond) + 1 : window.length;
  const mayEnd = beyond === undefined ? window.length >= scanLimit : !isUnconditional && counted >= scanLimit;
  // Where the window ends has to be found, up to the row behind it.
  const toItsEnd = path.ordered && mayEnd ? Math.min(candidates.length, scanLimit + 1) : 0;
  return {
    rowsRead: before + (measures(request) ? window.length : 0) + counted + walked + toItsEnd,
    page: {
      total: isUnconditional ? candidates.length : authorized.length,
      returned: authorized.slice(offset, offset + limit).length,
    },
  };
}

/** Whether the text that a `contains` searches is measured first. */
function measures({ filters }: ListRequest): boolean {
  return filters.some(({ operator }) => operator === "contains");
}

function totalOrder(table: OracleTable, { sort }: ListRequest): Order {
  return untilKeyIsWhole(table, withKey(sort, table.primaryKey));
}

function untilKeyIsWhole({ primaryKey }: OracleTable, order: Order): Order {
  const missing = new Set(primaryKey);
  const end = order.findIndex(({ column }) => missing.delete(column) && missing.size === 0);
  return order.slice(0, end + 1);
}
