import { badCall } from "./error.js";
import { getCall, type ListQuery, listParameters } from "./query.js";
import { keyFields, keyText } from "./row-key.js";
import type { TableTypes } from "./table-types.js";
import type { Call } from "./transport.js";

/** The number of an entry of the change log. For users who are not administrators it is an opaque text. */
export type Seq = number | string;

/** One version of a row (`docs/reference/http.md#history`). */
export interface RowVersion<T extends TableTypes> {
  readonly seq: Seq;
  /** When the change was made, in ISO 8601; null if it is not known. */
  readonly at: string | null;
  /** The columns of the primary key. */
  readonly key: Partial<T["row"]>;
  readonly op: "insert" | "update" | "delete";
  /** Who made the change; null where that is not known, or not for the caller to know. */
  readonly by: { readonly kind: string; readonly id: string | null } | null;
  /** For an update, the columns that it changed. */
  readonly changed: readonly string[] | null;
  /** The row after the change; null after a deletion. */
  readonly row: T["row"] | null;
}

/** A page of versions, the newest first. */
export interface Versions<T extends TableTypes> {
  readonly data: RowVersion<T>[];
  readonly meta: {
    readonly limit: number;
    /** The first moment that the log still knows. */
    readonly floor: Seq;
    readonly next_cursor?: string;
  };
}

/** Which versions are returned. A moment is a time in ISO 8601 or the `seq` of an entry. */
export interface HistoryOptions {
  readonly since?: Seq;
  readonly until?: Seq;
  /** How many versions a page has at most: 1 to 1000; the default is 50. */
  readonly limit?: number;
  /** `meta.next_cursor` of the page before, without the other options. */
  readonly cursor?: string;
}

/** Which rows `state` returns, as they were at the moment `at`: a time in ISO 8601, or the `seq` of an entry. */
export interface StateQuery<Row, K extends keyof Row = keyof Row>
  extends Pick<ListQuery<Row, K>, "where" | "filter" | "select" | "limit"> {
  readonly at: Seq;
}

export function historyCall(path: string, key: unknown, { cursor, ...options }: HistoryOptions): Call {
  if (cursor !== undefined) return getCall(`${path}/_svc/history`, new URLSearchParams({ cursor }).toString());
  const parameters = new URLSearchParams();
  if (typeof key === "object" && key !== null)
    for (const [name, value] of keyFields(key)) parameters.append(`where[${name}]`, value);
  else if (key !== null) parameters.append("key", keyText(key));
  for (const [name, value] of Object.entries(options)) if (value !== undefined) parameters.append(name, String(value));
  return getCall(`${path}/_svc/history`, parameters.toString());
}

export function stateCall<Row, K extends keyof Row>(path: string, { at, ...query }: StateQuery<Row, K>): Call {
  if (at === undefined || at === null) throw badCall("at: the value is missing");
  const parameters = new URLSearchParams(listParameters<Row, K>(query));
  parameters.append("at", String(at));
  return getCall(`${path}/_svc/state`, parameters.toString());
}

export function stateCursorCall(path: string, cursor: string): Call {
  return getCall(`${path}/_svc/state`, new URLSearchParams({ cursor }).toString());
}
