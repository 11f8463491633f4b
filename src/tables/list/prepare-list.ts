import { isRefusal, Refusal } from "../../http/refusal.js";
import type { SqlValue } from "../../platform/database.js";
import type { Memo } from "../../platform/memo.js";
import type { Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import type { Access } from "../access.js";
import type { Counted } from "../plan-check.js";
import { type Given, type GivenValues, Slot, type Sql } from "../sql/fragment.js";
import { listStatement, pageValues } from "../sql/list.js";
import { storedOf } from "../sql/wire.js";
import type { CursorState } from "./cursor.js";
import { type ListPlan, openRuleBeside, planList, ruleBeside } from "./list-plan.js";
import type { ListRequest } from "./list-request.js";
import type { Key, OrderTerm } from "./order.js";
import { filterShape, filterValues } from "./planned-filter.js";

export interface PrepareContext {
  readonly table: Table;
  readonly access: Access;
  readonly catalog: Catalog;
  readonly scanLimit: number;
  readonly metered: boolean;
  readonly lists: Memo<PreparedList | Refusal | null>;
  /** Who calls, and when. */
  readonly given: GivenValues;
}

/** One page, ready to be sent as soon as its values are given. */
export interface PreparedList {
  readonly plan: ListPlan;
  readonly page: Counted<Sql>;
}

export interface BoundList {
  readonly list: PreparedList;
  readonly given: Given;
}

/** Requests of one shape share their plan and its SQL, unless the values of their filters decide something in the rule. */
export function prepareList(
  request: ListRequest,
  state: CursorState,
  context: PrepareContext,
): BoundList | Refusal {
  const { table, access, catalog, lists } = context;
  const physical = catalog.tables.get(table.name);
  if (!state.order.every((name) => table.columns.has(name) || name === physical?.rowid)) return outOfDate;
  const after = keyOf(state.window.after);
  const upTo = keyOf(state.window.upTo);
  const make = (rule: Expression) => preparedBy(rule, request, state, { after, upTo }, context);
  const shape = access.key && `${access.key}\n${shapeOf(request, state, { after, upTo }, physical)}`;
  const shared = lists.get(shape, () => {
    const rule = openRuleBeside(request.filters, access.rule, table.name, catalog);
    return rule && make(rule);
  });
  const list = shared ?? make(ruleBeside(request.filters, access.rule, table.name, catalog, context.given));
  if (isRefusal(list)) return list;
  const given = [
    context.given,
    filterValues(request.filters),
    pageValues(request.limit, state.window.skip),
    keyValues("after", after),
    keyValues("upTo", upTo),
  ];
  return { list, given };
}

interface WindowKeys {
  readonly after: readonly SqlValue[] | null;
  readonly upTo: readonly SqlValue[] | null;
}

function preparedBy(
  rule: Expression,
  request: ListRequest,
  { window, order, orderedOnly }: CursorState,
  { after, upTo }: WindowKeys,
  context: PrepareContext,
): PreparedList | Refusal {
  const { table, access } = context;
  const output = request.select ?? [...access.readable.values()];
  const keys = { after: slotsOf("after", after), upTo: slotsOf("upTo", upTo) };
  const { catalog, scanLimit, metered } = context;
  const plan = planList(table, rule, request, {
    catalog,
    scanLimit,
    metered,
    orderedOnly,
    output,
    window: { ...keys, counted: window.counted },
  });
  // The order's columns depend on the path, and the path on the rules as they are now.
  if (after !== null && !isSameOrder(order, plan.path.order)) return outOfDate;
  return { plan, page: listStatement(plan) };
}

/** The same text for pages that differ in given values alone. */
function shapeOf(
  { filters, select, sort }: ListRequest,
  state: CursorState,
  keys: WindowKeys,
  physical: CatalogTable | undefined,
): string {
  const { window, order, orderedOnly } = state;
  return [
    `${window.counted} ${orderedOnly} ${writtenOut(keys.after)} ${writtenOut(keys.upTo)}`,
    select === null ? "*" : select.map(({ name }) => name).join(),
    sort.map(({ column, descending }) => `${column.name} ${descending}`).join(),
    order.join(),
    ...filters.map((filter) => filterShape(filter, physical)),
  ].join("\n");
}

/** NULL, and what not every database takes as a parameter. */
const isWrittenOut = (value: SqlValue) =>
  value === null || (typeof value === "number" && !Number.isFinite(value));
const writtenOut = (key: readonly SqlValue[] | null) =>
  key?.map((value) => isWrittenOut(value) && String(value));

type KeyName = keyof WindowKeys;
const keySlot = (name: KeyName, i: number) => `${name}.${i}`;

function slotsOf(name: KeyName, key: readonly SqlValue[] | null): Key | null {
  return key === null
    ? null
    : key.map((value, i) => (isWrittenOut(value) ? value : new Slot(keySlot(name, i))));
}

function keyValues(name: KeyName, key: readonly SqlValue[] | null): GivenValues {
  return new Map((key ?? []).map((value, i) => [keySlot(name, i), value]));
}

const outOfDate = new Refusal("invalid_cursor", "the rules have changed since the cursor was made");

function isSameOrder(names: readonly string[], order: readonly OrderTerm[]): boolean {
  return names.length === order.length && order.every(({ column }, i) => column.name === names[i]);
}

/** A key out of a cursor, which the server sealed. */
function keyOf(text: string | null): readonly SqlValue[] | null {
  return text === null ? null : (JSON.parse(text) as unknown[]).map(storedOf);
}
