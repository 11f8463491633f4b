import type { Metering } from "../wire/metering.js";
import { badCall } from "./error.js";
import type { Expand, Expanded } from "./expand.js";
import {
  type HistoryOptions,
  historyCall,
  type Seq,
  type StateQuery,
  stateCall,
  stateCursorCall,
  type Versions,
} from "./history.js";
import type { FollowedTables, LiveState } from "./live/changes.js";
import type { Feed } from "./live/feed.js";
import { liveList } from "./live/live-list.js";
import type { Overlays } from "./live/overlays.js";
import {
  type AggregateQuery,
  type AggregateRow,
  type AggregateSort,
  aggregateParameters,
  cursorCall,
  followedTerms,
  getCall,
  type ListQuery,
  type LiveQuery,
  listCall,
} from "./query.js";
import { keyFields, keyText } from "./row-key.js";
import type { TableTypes } from "./table-types.js";
import type { Call, Send } from "./transport.js";

/** The `meta` of a list (`docs/reference/http.md#lists`): which page this is, and what reading it has cost. */
export interface ListMeta extends Metering {
  readonly limit: number;
  readonly offset: number;
  /** How many rows all pages have together: a lower bound if `truncated` is true, null with `total: "none"`. */
  readonly total: number | null;
  readonly next_cursor?: string;
  readonly truncated?: true;
}

/** One page: the rows of a list, or the groups of an aggregate. */
export interface Page<Row> {
  readonly data: Row[];
  readonly meta: ListMeta;
}

/** What a call with `withMeta: true` returns: `data` as without the option, in `meta` what the request has cost. */
export interface WithMeta<Data> {
  readonly data: Data;
  readonly meta: Metering;
}

/** Options of every call; `signal` aborts it. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** The columns that `select` names, and what `expand` adds. */
type Listed<T extends TableTypes, Tables, K extends keyof T["row"], E> = [E] extends [never]
  ? Pick<T["row"], K>
  : Expanded<Pick<T["row"], K>, T, Tables, E>;

/** A row's version, for `ifMatch`: the value of the column `managed: version`, or the text of the row's ETag. */
export type Version = number | string;

/** Options of a call that changes or deletes one row. */
export interface ChangeOptions extends CallOptions {
  /** Changes or deletes the row only if it still has this version. Otherwise throws SvcPreconditionError. */
  readonly ifMatch?: Version;
}

/** Options of `upsert` (`docs/reference/http.md#upsert`). */
export interface UpsertOptions<Column, Duplicate = "update" | "ignore"> extends CallOptions {
  /** The columns of the primary key or a unique constraint. A row that has the same values in them exists already. */
  readonly onConflict: readonly Column[];
  /** What is done with a row that exists: `update` gives it the new values, `ignore` leaves it as it is. */
  readonly onDuplicate: Duplicate;
}

/** A row of `upsert`. One that exists already needs neither its primary key nor the columns that it keeps. */
type Upserted<T extends TableTypes> = T["create"] | T["update"];

type MetaOptions = CallOptions & { readonly withMeta: true };
type Plain = CallOptions & { readonly withMeta?: false };

/**
 * What `Table.live` needs of the client: `feedOf` returns the feed that receives the rows from the server, and
 * `overlays` shows over them what is not sent yet.
 */
export interface Live {
  readonly feedOf: (tables: FollowedTables, isKept: boolean) => Feed;
  readonly overlays: Overlays;
}

/** `_pending` is true while writes to the row wait in an outbox (`docs/guides/client.md#the-outbox`). */
export interface Unsent {
  readonly _pending?: true;
}

/**
 * The endpoints of one table (`docs/reference/http.md#endpoints`). A method whose call fails throws SvcError. `Tables`
 * has the types of the tables whose rows `expand` can add.
 */
export class Table<T extends TableTypes, Tables = Record<never, never>> {
  readonly #read: Send;
  readonly #write: Send;
  readonly #live: Live;
  readonly #name: string;
  readonly #path: string;

  /** `read` may send a call again after a failure. `write` sends calls that the server must carry out only once. */
  constructor(read: Send, write: Send, live: Live, name: string) {
    if (!/^\w+$/.test(name)) throw badCall(`no name of a table: ${name}`);
    this.#read = read;
    this.#write = write;
    this.#live = live;
    this.#name = name;
    this.#path = `/api/${name}`;
  }

  /**
   * Returns the first page of a list that is not empty; no rows only if the whole list is empty. A page may be empty
   * although rows follow, if the server has examined as many rows as it does for one page and the caller may see none
   * of them (`docs/reference/http.md#the-scan-limit`).
   */
  async list<K extends keyof T["row"] = keyof T["row"], const E extends Expand<T, Tables> = never>(
    query: ListQuery<T["row"], K, E> = {},
    options: CallOptions = {},
  ): Promise<Listed<T, Tables, K, E>[]> {
    for await (const { data } of this.pages(query, options)) if (data.length > 0) return data;
    return [];
  }

  /** Returns one page of a list, even if it is empty, with the list's total and the cursor of the next page. */
  async select<K extends keyof T["row"] = keyof T["row"], const E extends Expand<T, Tables> = never>(
    query: ListQuery<T["row"], K, E> = {},
    options: CallOptions = {},
  ): Promise<Page<Listed<T, Tables, K, E>>> {
    return this.#page(listCall(this.#path, query), options);
  }

  /** Another name for `select`. */
  find<K extends keyof T["row"] = keyof T["row"], const E extends Expand<T, Tables> = never>(
    query: ListQuery<T["row"], K, E> = {},
    options: CallOptions = {},
  ): Promise<Page<Listed<T, Tables, K, E>>> {
    return this.select(query, options);
  }

  /** Yields all pages of a list in their order, each by the cursor of the page before it. */
  async *pages<K extends keyof T["row"] = keyof T["row"], const E extends Expand<T, Tables> = never>(
    query: ListQuery<T["row"], K, E> = {},
    options: CallOptions = {},
  ): AsyncGenerator<Page<Listed<T, Tables, K, E>>, void> {
    const next = (cursor: string) => cursorCall(this.#path, cursor);
    yield* this.#pages<Listed<T, Tables, K, E>>(listCall(this.#path, query), next, options);
  }

  /**
   * Keeps a list up to date: calls `listener` with the rows once they are known, and again when a row or the state of
   * the connection changes. Returns a function that ends this. The table has to keep history
   * (`docs/sync.md#which-tables`). All rows that pass the filters are received from the server; `limit` only limits how
   * many `listener` gets.
   */
  live<K extends keyof T["row"] = keyof T["row"]>(
    query: LiveQuery<T["row"], K>,
    listener: (rows: (Pick<T["row"], K> & Unsent)[], state: LiveState) => void,
  ): () => void {
    const { feedOf, overlays } = this.#live;
    const terms = followedTerms(query);
    const { sort = [], limit = Number.POSITIVE_INFINITY, keep = true } = query;
    const shown = { table: this.#name, terms, sort: [sort].flat() as readonly string[], limit };
    return liveList(feedOf({ [this.#name]: terms }, keep), overlays, shown, listener as never);
  }

  /**
   * Counts and sums the rows that the caller may read, by groups (`docs/reference/http.md#aggregates`), and returns the
   * first page of groups. With `count: ["*"], sum: ["cents"]`, groups have `count` and `sum_cents`.
   */
  async aggregate<const Q extends AggregateQuery<T["row"]>>(
    query: Q & AggregateSort<T["row"], Q>,
    options: CallOptions = {},
  ): Promise<Page<AggregateRow<T["row"], Q>>> {
    return this.#page(getCall(this.#path + aggregatePath, aggregateParameters<T["row"]>(query)), options);
  }

  /** Yields all pages of an aggregate in their order, each by the cursor of the page before it. */
  aggregatePages<const Q extends AggregateQuery<T["row"]>>(
    query: Q & AggregateSort<T["row"], Q>,
    options: CallOptions = {},
  ): AsyncGenerator<Page<AggregateRow<T["row"], Q>>, void> {
    const path = this.#path + aggregatePath;
    const next = (cursor: string) => getCall(path, new URLSearchParams({ cursor }).toString());
    return this.#pages(getCall(path, aggregateParameters<T["row"]>(query)), next, options);
  }

  get(key: T["key"], options: MetaOptions): Promise<WithMeta<T["row"]>>;
  get(key: T["key"], options?: Plain): Promise<T["row"]>;
  async get(key: T["key"], options: MetaOptions | Plain = {}): Promise<unknown> {
    return one(this.#read, { method: "GET", path: this.#pathOf(key) }, options);
  }

  /** Returns the new row; only its key if the caller may not read the row. */
  create(row: T["create"], options: MetaOptions): Promise<WithMeta<T["row"]>>;
  create(row: T["create"], options?: Plain): Promise<T["row"]>;
  /** Creates 1 to 1000 rows, all or none, and returns them in the order given. */
  create(rows: readonly T["create"][], options: MetaOptions): Promise<WithMeta<T["row"][]>>;
  create(rows: readonly T["create"][], options?: Plain): Promise<T["row"][]>;
  create(body: T["create"] | readonly T["create"][], options: MetaOptions | Plain = {}): Promise<unknown> {
    return one(this.#write, { method: "POST", path: this.#path, body }, options);
  }

  /**
   * Writes 1 to 1000 rows of which some may exist already, all or none, and returns them in the order given. A row that
   * `ignore` leaves as it is, and that the caller may not read, is returned as null.
   */
  upsert(rows: readonly Upserted<T>[], options: UpsertOptions<keyof T["row"], "update">): Promise<T["row"][]>;
  upsert(rows: readonly Upserted<T>[], options: UpsertOptions<keyof T["row"]>): Promise<(T["row"] | null)[]>;
  /** Writes one row, which may exist already, and returns it. */
  upsert(row: Upserted<T>, options: UpsertOptions<keyof T["row"], "update">): Promise<T["row"]>;
  upsert(row: Upserted<T>, options: UpsertOptions<keyof T["row"]>): Promise<T["row"] | null>;
  upsert(
    body: Upserted<T> | readonly Upserted<T>[],
    { onConflict, onDuplicate, signal }: UpsertOptions<keyof T["row"]>,
  ): Promise<unknown> {
    const parameters = new URLSearchParams({ on_conflict: onConflict.join(), on_duplicate: onDuplicate });
    return one(this.#write, { method: "POST", path: `${this.#path}?${parameters}`, body }, { signal });
  }

  /** Returns the changed row; only its key if the caller may not read the row. */
  update(key: T["key"], changes: T["update"], options: ChangeOptions & MetaOptions): Promise<WithMeta<T["row"]>>;
  update(key: T["key"], changes: T["update"], options?: ChangeOptions & Plain): Promise<T["row"]>;
  async update(
    key: T["key"],
    body: T["update"],
    options: ChangeOptions & (MetaOptions | Plain) = {},
  ): Promise<unknown> {
    const call = { method: "PATCH", path: this.#pathOf(key), body, headers: matching(options) };
    return one(this.#write, call, options);
  }

  /** Deletes a row and returns its key, as an object of the key columns. */
  delete(key: T["key"], options: ChangeOptions & MetaOptions): Promise<WithMeta<Partial<T["row"]>>>;
  delete(key: T["key"], options?: ChangeOptions & Plain): Promise<Partial<T["row"]>>;
  async delete(key: T["key"], options: ChangeOptions & (MetaOptions | Plain) = {}): Promise<unknown> {
    const call = { method: "DELETE", path: this.#pathOf(key), headers: matching(options) };
    return one(this.#write, call, options);
  }

  /**
   * Returns a page of the versions of one row, or of all rows, the newest first (`docs/reference/http.md#history`). The
   * table has to keep history.
   */
  async history(key?: T["key"] | null, options: HistoryOptions & CallOptions = {}): Promise<Versions<T>> {
    const { signal, ...query } = options;
    return (await this.#read({ ...historyCall(this.#path, key ?? null, query), signal })) as Versions<T>;
  }

  /**
   * Returns the rows as they were at a moment, in the order of their key, at most `limit` of them
   * (`docs/reference/http.md#state`). The table has to keep history.
   */
  async state<K extends keyof T["row"] = keyof T["row"]>(
    query: StateQuery<T["row"], K>,
    options: CallOptions = {},
  ): Promise<Pick<T["row"], K>[]> {
    const rows: Pick<T["row"], K>[] = [];
    const limit = query.limit ?? rowsByDefault;
    let call: Call | null = stateCall(this.#path, query);
    while (call !== null && rows.length < limit) {
      const page: Page<Pick<T["row"], K>> = await this.#page(call, options);
      rows.push(...page.data.slice(0, limit - rows.length));
      const { next_cursor: cursor } = page.meta;
      call = cursor === undefined ? null : stateCursorCall(this.#path, cursor);
    }
    return rows;
  }

  /**
   * Writes the row back as it was after an entry of its history, and returns it (`docs/reference/http.md#restore`). `seq`
   * is that of a version.
   */
  async restore(key: T["key"], seq: Seq, options: CallOptions = {}): Promise<T["row"]> {
    const call = { method: "POST", path: `${this.#path}/_svc/restore`, body: { key, seq } };
    return (await one(this.#write, call, options)) as T["row"];
  }

  async *#pages<Row>(
    first: Call,
    next: (cursor: string) => Call,
    options: CallOptions,
  ): AsyncGenerator<Page<Row>, void> {
    let call: Call | null = first;
    while (call !== null) {
      const page: Page<Row> = await this.#page(call, options);
      yield page;
      const { next_cursor: cursor } = page.meta;
      call = cursor === undefined ? null : next(cursor);
    }
  }

  async #page<Row>(call: Call, { signal }: CallOptions): Promise<Page<Row>> {
    return (await this.#read({ ...call, signal })) as Page<Row>;
  }

  #pathOf(key: unknown): string {
    if (typeof key === "object" && key !== null) return `${this.#path}/_svc/key?${new URLSearchParams(keyFields(key))}`;
    const text = keyText(key);
    if (/^\.{0,2}$/.test(text))
      throw badCall(`${JSON.stringify(text)} cannot be part of a path: give the key as an object of its column`);
    return `${this.#path}/${encodeURIComponent(text)}`;
  }
}

const aggregatePath = "/_svc/aggregate";

/** How many rows `state` returns without a limit, as a list does. */
const rowsByDefault = 50;

/**
 * The header `If-Match`; none without the option `ifMatch`. Throws if the option has no version, because the row would
 * then be changed whatever its version is.
 */
function matching(options: ChangeOptions): Readonly<Record<string, string>> {
  if (!("ifMatch" in options)) return {};
  const { ifMatch } = options;
  if (ifMatch === undefined || ifMatch === null) throw badCall("ifMatch: the version is missing");
  const text = String(ifMatch);
  return { "If-Match": /^\d+$/.test(text) ? `"${text}"` : text };
}

async function one(
  send: Send,
  call: Call,
  { signal, withMeta = false }: { readonly signal?: AbortSignal | undefined; readonly withMeta?: boolean },
): Promise<unknown> {
  const { data, meta = {} } = await send({ ...call, signal });
  return withMeta ? { data, meta } : data;
}
