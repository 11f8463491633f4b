import type { ListPlan } from "../list/list-plan.js";
import { armed, servedSql, tableSource } from "./candidates.js";
import { commaList, integer, internalName, name, param, Slot, type Sql, sql, sum } from "./fragment.js";
import type { Gate } from "./gate.js";

/**
 * The cost of a byte that is searched: this number, plus 1 for each byte of the text that is looked for.
 * `searchCostMax` limits the sum.
 */
const searchedByteCost = 300;
/**
 * How much the `contains` filters of a request may cost together: for each filter the bytes that it searches, in all
 * rows of a window that the index finds, times the cost of a byte. `docs/reference/limits.md#requests` says how long
 * that takes.
 */
const searchCostMax = 80_000_000_000;

/** How a list's statement finds out, before it searches, what its `contains` filters would cost. */
export interface SearchBudget {
  /**
   * The gate of the list's statement, which is then closed, so that no row is read, also where the cost is over the
   * budget.
   */
  readonly gate: Gate;
  /**
   * A JSON array `[rows that would be searched, whether the cost is within the budget]`, or NULL where nothing is
   * measured.
   */
  readonly measured: Sql;
}

/**
 * The budget for a list's `contains` filters. SQLite's `instr` compares the text at every place, so the cost grows with
 * both lengths. Only the first page of a window (rows that are counted as one) is measured: the pages after it search
 * what is left of the same rows.
 */
export function searchBudget(plan: ListPlan, gate: Gate): SearchBudget {
  const { searches, window } = plan;
  if (searches.length === 0 || window.counted) return { gate, measured: sql`NULL` };
  const bytes = searches.map((_, i) => internalName("s", i));
  const costs = searches.map(({ text }, i) => {
    const each = sql`(${integer(searchedByteCost)} + octet_length(${param(new Slot(text.name))}))`;
    return sql`ifnull(sum(_w.${bytes[i]!}), 0) * ${each}`;
  });
  const fits = sql`${sum(costs)} <= ${integer(searchCostMax)}`;
  const isOpen = sql`(SELECT fits FROM _searched)`;
  return {
    gate: {
      ...gate,
      ctes: [
        ...gate.ctes,
        sql`_searched AS MATERIALIZED (SELECT count(*) AS n, ${fits} AS fits FROM (${sizes(plan, bytes, gate)}) AS _w)`,
      ],
      limited: (limit) => sql`CASE WHEN ${isOpen} THEN ${gate.limited(limit)} ELSE 0 END`,
      counted: (count) => sql`CASE WHEN ${isOpen} THEN ${gate.counted(count)} ELSE 0 END`,
    },
    measured: sql`(SELECT json_array(n, fits) FROM _searched)`,
  };
}

/**
 * A SELECT of how many bytes each `contains` filter would search, for each row of the window that the index finds.
 * SQLite knows the lengths without reading the texts.
 */
function sizes(plan: ListPlan, names: readonly Sql[], gate: Gate): Sql {
  const { path, scanLimit, searches } = plan;
  const list = searches.map(({ column }, i) => sql`octet_length(_t.${name(column)}) AS ${names[i]!}`);
  const select = sql`SELECT ${commaList(list)} FROM ${tableSource(plan)}`;
  const limit = (rows: number) => sql`LIMIT ${gate.limited(integer(rows))}`;
  return path.ordered
    ? armed(plan, select, limit(scanLimit))
    : sql`${select} WHERE ${servedSql(path.served)} ${limit(scanLimit + 1)}`;
}
