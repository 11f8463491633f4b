import { useEffect, useRef, useState } from "preact/hooks";
import type { Page } from "../../client/index.js";
import type { SchemaTable } from "../../wire/schema-in-force.js";
import type { As } from "../server/as.js";
import { returns } from "../server/console-fetch.js";
import { session } from "../server/session-state.js";
import type { TableRow } from "../server/table-row.js";
import { clientTable } from "../server/tables.js";
import { filterOf, type GridQuery, sortedColumn } from "./list-query.js";

/** The rows of a table that the grid has loaded so far, and how loading them goes on. */
export interface LoadedRows {
  readonly rows: readonly TableRow[];
  readonly total: number | null;
  readonly isTruncated: boolean;
  readonly isBusy: boolean;
  readonly hasMore: boolean;
  readonly error: unknown;
  /** Loads the next page, unless a page is being loaded or there is none. */
  readonly more: () => void;
  readonly reload: () => void;
  readonly setRows: (change: (rows: readonly TableRow[]) => readonly TableRow[]) => void;
}

const pageSize = 200;
const nothing = {
  rows: [] as readonly TableRow[],
  total: null as number | null,
  isTruncated: false,
  isBusy: true,
  hasMore: true,
  error: null as unknown,
};

/**
 * The list to ask the server for; or as `wrong` the condition that names no column of the table, or whose text is not a
 * value of its column's type.
 */
export function listRequestOf({ conditions, sort, search }: GridQuery, table: SchemaTable) {
  const found = filterOf(conditions, table.columns);
  if ("wrong" in found) return found;
  const known = sort.filter((term) => table.columns.some(({ name }) => name === sortedColumn(term)));
  return { list: { filter: found.filter, sort: known, ...(search !== "" && { search }) } };
}

/**
 * Loads the rows of a table page by page. Starts again from the first page when the table, the query or the caller
 * changes, and when the server can be reached again.
 */
export function useRows(table: SchemaTable, query: GridQuery, as: As | null): LoadedRows {
  const seenBy = JSON.stringify(as);
  const [found, setState] = useState({ ...nothing, seenBy });
  // The rows that one caller sees are never shown as those of another.
  const state = found.seenBy === seenBy ? found : nothing;
  const [count, setCount] = useState(0);
  const next = useRef<() => void>(() => {});
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const asked = listRequestOf(query, table);
    setState((before) => ({ ...nothing, seenBy, rows: before.seenBy === seenBy ? before.rows : [] }));
    if ("wrong" in asked) {
      setState({ ...nothing, seenBy, isBusy: false, hasMore: false });
      return;
    }
    const list = { ...asked.list, limit: pageSize } as object;
    const pages = clientTable(table.name, { as, isPreviewed: true }).pages(list, {
      signal,
    }) as AsyncGenerator<Page<TableRow>, void>;
    let isBusy = false;
    let isFirst = true;
    next.current = () => {
      if (isBusy || signal.aborted) return;
      isBusy = true;
      setState((before) => ({ ...before, isBusy: true, error: null }));
      pages
        .next()
        .then(({ value: page }) => {
          if (signal.aborted || !page) return;
          const wasFirst = isFirst;
          isFirst = false;
          const { total, truncated, next_cursor: cursor } = page.meta;
          setState(({ rows }) => ({
            seenBy,
            rows: wasFirst ? page.data : [...rows, ...page.data],
            total,
            isTruncated: truncated === true,
            isBusy: false,
            hasMore: cursor !== undefined,
            error: null,
          }));
          isBusy = false;
          // If none of the rows that the server has examined match, a page is empty although more pages follow.
          if (page.data.length === 0 && cursor !== undefined) next.current();
        })
        .catch((error: unknown) => {
          if (signal.aborted) return;
          setState((before) => ({
            ...before,
            rows: isFirst ? [] : before.rows,
            isBusy: false,
            hasMore: false,
            error,
          }));
        });
    };
    next.current();
    return () => controller.abort();
  }, [table, JSON.stringify(query), seenBy, count, returns.value, session.value?.user.id]);
  return {
    ...state,
    more: () => state.hasMore && !state.isBusy && next.current(),
    reload: () => setCount((before) => before + 1),
    setRows: (change) => setState((before) => ({ ...before, rows: change(before.rows) })),
  };
}
