import type { Memo } from "../../platform/memo.js";
import type { Expression } from "../../rules/ast.js";
import { asShown } from "../access/as-shown.js";
import type { CursorState } from "../list/cursor.js";
import {
  briefBytesMax,
  briefComparedMax,
  briefJudgedMax,
  keyValues,
  type ListSource,
  parseCursorKey,
  shapeOfFilters,
  slotsOf,
  writtenOut,
} from "../list/prepare-list.js";
import { closedListRule, type ListPlan, openListRule, type PathChoice, planList } from "../plan/list-plan.js";
import type { Counted } from "../plan/plan-check.js";
import type { AggregateRequest } from "../request/aggregate-request.js";
import { type AggregatePlan, aggregateStatement } from "../sql/aggregate.js";
import { pageValues } from "../sql/page-slots.js";
import type { SlotValues, Sql } from "../sql-text/fragment.js";

/**
 * What all aggregates use that one caller requests of one table: the caller's access, the scan limit and the aggregates
 * that were prepared before. `ListSource` is the counterpart for lists.
 */
export type AggregateSource = Omit<ListSource, "prepared" | "metered" | "tables"> & {
  readonly prepared: Memo<PreparedAggregate | null>;
};

/** The plan and the SQL statements of an aggregate, without values. Requests that differ only in values share them. */
export interface PreparedAggregate {
  readonly plan: AggregatePlan;
  readonly whole: Counted<Sql>;
  /** The aggregate with limits so low that it takes some milliseconds at most; null where it may take longer. */
  readonly brief: { readonly plan: AggregatePlan; readonly page: Counted<Sql> } | null;
  /**
   * Whether requests are computed without trying `brief` first. Set when a request has reached the limits of `brief`
   * and no index or way narrows its rows down, because requests with other values would then reach them, too. Cleared
   * when a request turns out to examine few rows.
   */
  isLong: boolean;
}

/** A prepared aggregate together with the values of one request, which fill the placeholders of its statement. */
export interface BoundAggregate {
  readonly aggregate: PreparedAggregate;
  readonly values: readonly SlotValues[];
}

/**
 * Plans a page of groups and makes its SQL statement, or takes both from an earlier request that differs only in
 * values. They cannot be shared where the values of the filters decide a part of the read rule. `callerValues` has the
 * values of `auth.id`, `auth.email`, `auth.email_verified` and `now()`.
 */
export function prepareAggregate(
  request: AggregateRequest,
  { window }: CursorState,
  choice: PathChoice,
  { access, scanLimit, prepared }: AggregateSource,
  callerValues: SlotValues,
): BoundAggregate {
  const { table, catalog } = access;
  const after = parseCursorKey(window.after);
  const { filterValues } = request;
  const filters = request.filters.map((filter) => asShown(filter, table.name, catalog, filterValues));
  const make = (rule: Expression): PreparedAggregate =>
    preparedOf({
      rows: unordered(
        planList(table, rule, filters, null, {
          catalog,
          scanLimit,
          briefTableMax: null,
          metered: true,
          preview: null,
          wide: "carried",
          copies: false,
          comparedBytesMax: null,
          choice,
          match: null,
          output: [],
          expansions: [],
          window: { after: null, upTo: null, counted: false },
        }),
      ),
      groups: request.groups,
      results: request.results,
      order: request.order,
      after: slotsOf("after", after),
    });
  const shape = access.key && `${access.key}\n${shapeOf(request, filters)}\n${choice} ${writtenOut(after)}`;
  const shared = prepared.get(shape, () => {
    const rule = openListRule(request, access);
    return rule && make(rule);
  });
  return {
    aggregate: shared ?? make(closedListRule(request, access, callerValues)),
    values: [callerValues, filterValues, pageValues(request.limit, 0), keyValues("after", after)],
  };
}

/** Returns the plan without its order: an aggregate examines all rows, in whichever order. */
function unordered(plan: ListPlan): ListPlan {
  return { ...plan, path: { ...plan.path, ordered: false } };
}

function preparedOf(plan: AggregatePlan): PreparedAggregate {
  return { plan, whole: aggregateStatement(plan), brief: briefOf(plan), isLong: false };
}

function briefOf(plan: AggregatePlan): PreparedAggregate["brief"] {
  const { rows } = plan;
  if (rows.searches.length > 0) return null;
  const answerBytesMax = Math.min(rows.catalog.answerBytesMax, briefBytesMax);
  const brief: AggregatePlan = {
    ...plan,
    rows: {
      ...rows,
      scanLimit: Math.min(rows.scanLimit, briefJudgedMax(rows.path.rest)),
      comparedBytesMax: briefComparedMax,
      catalog: { ...rows.catalog, answerBytesMax },
    },
  };
  const page = aggregateStatement(brief);
  // No brief aggregate where it is not known how many rows an `exists` of the rule looks up: it may have to read a
  // whole table for each row.
  return page.exact ? { plan: brief, page } : null;
}

/** The shape of a request, by which prepared aggregates are kept: requests that differ only in values share it. */
function shapeOf({ groups, results, order }: AggregateRequest, filters: readonly Expression[]): string {
  return [
    groups.map(({ name }) => name).join(),
    results.map(({ compute, column }) => `${compute} ${column?.name ?? "*"}`).join(),
    order.map(({ at, descending }) => `${at} ${descending}`).join(),
    shapeOfFilters(filters),
  ].join("\n");
}
