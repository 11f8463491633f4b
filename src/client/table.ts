import type { Metering } from "../wire/metering.js";
import { badCall } from "./error.js";
import type { Expand, Expanded } from "./expand.js";
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
import type { TableTypes } from "./table-types.js";
import type { Call, Send } from "./transport.js";

/**
 * The member `meta` of the server's answer to a list (`docs/reference/http.md#lists`): which page of the list this is,
 * and what reading it has cost.
 */
export interface ListMeta extends Metering {
  readonly limit: number;
  readonly offset: number;
  /**
   * How many rows all pages of the list have together: a lower bound where `truncated` is true, null where the query
   * has `total: "none"`.
   */
  readonly total: number | null;
  readonly next_cursor?: string;
  readonly truncated?: true;
}

/**
 * One page of a list or of an aggregate, as the server answers it: `data` has the rows of the list or the groups of the
 * aggregate.
 */
export interface Page<Row> {
  readonly data: Row[];
  readonly meta: ListMeta;
}

/**
 * What a call with `withMeta: true` returns: `data` is what the same call returns without this option, `meta` what the
 * request has cost.
 */
export interface WithMeta<Data> {
  readonly data: Data;
  readonly meta: Metering;
}

/** Options of every call; `signal` aborts it. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** The type of a row in a list: the columns that `select` names, and what `expand` adds. */
type Listed<T extends TableTypes, Tables, K extends keyof T["row"], E> = [E] extends [never]
  ? Pick<T["row"], K>
  : Expanded<Pick<T["row"], K>, T, Tables, E>;

/**
 * The version of a row, as `ifMatch` takes it: the value of the table's column `managed: version`, or the text of the
 * row's ETag.
 */
export type Version = number | string;

/** Options of a call that changes or deletes one row. */
export interface ChangeOptions extends CallOptions {
  /**
   * The row is changed or deleted only if it still has this version. Otherwise nothing is written, and the call throws
   * SvcPreconditionError.
   */
  readonly ifMatch?: Version;
}

/** Options of `upsert`, which writes rows of which some may exist already (`docs/reference/http.md#upsert`). */
export interface UpsertOptions<Column, Duplicate = "update" | "ignore"> extends CallOptions {
  /**
   * The columns of the primary key or of a unique constraint. A row exists already if the table has one with the same
   * values in these columns.
   */
  readonly onConflict: readonly Column[];
  /** What is done with a row that exists already: `update` gives it the new values, `ignore` leaves it as it is. */
  readonly onDuplicate: Duplicate;
}

type Asked = CallOptions & { readonly withMeta: true };
type Plain = CallOptions & { readonly withMeta?: false };

/**
 * What `Table.live` needs of the client: `feedOf` returns the feed by which rows are received from the server and kept
 * up to date, and `overlays` shows over these rows what is not sent to the server yet.
 */
export interface Live {
  readonly feedOf: (tables: FollowedTables) => Feed;
  readonly overlays: Overlays;
}

/**
 * What a row of a live list has beside its columns: `_pending` is true while writes to the row wait in an outbox for
 * the server's answer (`docs/guides/client.md#the-outbox`).
 */
export interface Unsent {
  readonly _pending?: true;
}

/**
 * The calls to the server's endpoints for one table, under `/api/<table>` (`docs/reference/http.md#endpoints`). A
 * method whose call fails throws SvcError. The type parameter `Tables` has the types of the tables whose rows `expand`
 * can add.
 */
export class Table<T extends TableTypes, Tables = Record<never, never>> {
  readonly #read: Send;
  readonly #write: Send;
  readonly #live: Live;
  readonly #name: string;
  readonly #path: string;

  /**
   * `read` sends calls that may be sent again after a failure, because they change nothing. `write` sends calls that
   * the server must carry out only once.
   */
  constructor(read: Send, write: Send, live: Live, name: string) {
    if (!/^\w+$/.test(name)) throw badCall(`no name of a table: ${name}`);
    this.#read = read;
    this.#write = write;
    this.#live = live;
    this.#name = name;
    this.#path = `/api/${name}`;
  }

  /**
   * Returns the rows of the first page of a list that is not empty; no rows only where the whole list is empty. A page
   * may be empty although rows follow, where the server has examined as many rows as it does for one page and the
   * caller may see none of them (`docs/reference/http.md#the-scan-limit`).
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

  /** Returns one page of a list: another name for `select`. */
  find<K extends keyof T["row"] = keyof T["row"], const E extends Expand<T, Tables> = never>(
    query: ListQuery<T["row"], K, E> = {},
    options: CallOptions = {},
  ): Promise<Page<Listed<T, Tables, K, E>>> {
    return this.select(query, options);
  }

  /**
   * Yields all pages of a list in their order. Each page is requested by the cursor that came with the page before it.
   */
  async *pages<K extends keyof T["row"] = keyof T["row"], const E extends Expand<T, Tables> = never>(
    query: ListQuery<T["row"], K, E> = {},
    options: CallOptions = {},
  ): AsyncGenerator<Page<Listed<T, Tables, K, E>>, void> {
    const next = (cursor: string) => cursorCall(this.#path, cursor);
    yield* this.#pages<Listed<T, Tables, K, E>>(listCall(this.#path, query), next, options);
  }

  /**
   * Keeps a list up to date: calls `listener` with the list's rows as soon as they are known, and again whenever a row
   * or the state of the connection to the server changes. Returns a function that ends this. The table has to keep
   * history (`docs/sync.md#which-tables`). All rows that pass the filters are received from the server; `limit` only
   * limits how many of them `listener` is given.
   */
  live<K extends keyof T["row"] = keyof T["row"]>(
    query: LiveQuery<T["row"], K>,
    listener: (rows: (Pick<T["row"], K> & Unsent)[], state: LiveState) => void,
  ): () => void {
    const { feedOf, overlays } = this.#live;
    const terms = followedTerms(query);
    const { sort = [], limit = Number.POSITIVE_INFINITY } = query;
    const shown = { table: this.#name, terms, sort: [sort].flat() as readonly string[], limit };
    return liveList(feedOf({ [this.#name]: terms }), overlays, shown, listener as never);
  }

  /**
   * Counts and sums the rows that the caller may read, by groups (`docs/reference/http.md#aggregates`), and returns the
   * first page of groups. The groups of a query with `count: ["*"], sum: ["cents"]` have `count` and `sum_cents`.
   */
  async aggregate<const Q extends AggregateQuery<T["row"]>>(
    query: Q & AggregateSort<T["row"], Q>,
    options: CallOptions = {},
  ): Promise<Page<AggregateRow<T["row"], Q>>> {
    return this.#page(getCall(this.#path + aggregatePath, aggregateParameters<T["row"]>(query)), options);
  }

  /**
   * Yields all pages of an aggregate in their order. Each page is requested by the cursor that came with the page
   * before it.
   */
  aggregatePages<const Q extends AggregateQuery<T["row"]>>(
    query: Q & AggregateSort<T["row"], Q>,
    options: CallOptions = {},
  ): AsyncGenerator<Page<AggregateRow<T["row"], Q>>, void> {
    const path = this.#path + aggregatePath;
    const next = (cursor: string) => getCall(path, new URLSearchParams({ cursor }).toString());
    return this.#pages(getCall(path, aggregateParameters<T["row"]>(query)), next, options);
  }

  get(key: T["key"], options: Asked): Promise<WithMeta<T["row"]>>;
  get(key: T["key"], options?: Plain): Promise<T["row"]>;
  async get(key: T["key"], options: Asked | Plain = {}): Promise<unknown> {
    return one(this.#read, { method: "GET", path: this.#pathOf(key) }, options);
  }

  /** Creates a row and returns it; returns only its key where the caller may not read the row. */
  create(row: T["create"], options: Asked): Promise<WithMeta<T["row"]>>;
  create(row: T["create"], options?: Plain): Promise<T["row"]>;
  /** Creates 1 to 1000 rows, either all of them or none, and returns them in the order in which they were given. */
  create(rows: readonly T["create"][], options: Asked): Promise<WithMeta<T["row"][]>>;
  create(rows: readonly T["create"][], options?: Plain): Promise<T["row"][]>;
  create(body: T["create"] | readonly T["create"][], options: Asked | Plain = {}): Promise<unknown> {
    return one(this.#write, { method: "POST", path: this.#path, body }, options);
  }

  /**
   * Writes 1 to 1000 rows of which some may exist already, either all of them or none, and returns them in the order in
   * which they were given. A row that `ignore` leaves as it is, and that the caller may not read, is returned as null.
   */
  upsert(rows: readonly T["create"][], options: UpsertOptions<keyof T["row"], "update">): Promise<T["row"][]>;
  upsert(rows: readonly T["create"][], options: UpsertOptions<keyof T["row"]>): Promise<(T["row"] | null)[]>;
  upsert(
    body: readonly T["create"][],
    { onConflict, onDuplicate, signal }: UpsertOptions<keyof T["row"]>,
  ): Promise<unknown> {
    const parameters = new URLSearchParams({ on_conflict: onConflict.join(), on_duplicate: onDuplicate });
    return one(this.#write, { method: "POST", path: `${this.#path}?${parameters}`, body }, { signal });
  }

  /** Changes a row and returns it; returns only its key where the caller may not read the row. */
  update(key: T["key"], changes: T["update"], options: ChangeOptions & Asked): Promise<WithMeta<T["row"]>>;
  update(key: T["key"], changes: T["update"], options?: ChangeOptions & Plain): Promise<T["row"]>;
  async update(
    key: T["key"],
    body: T["update"],
    options: ChangeOptions & (Asked | Plain) = {},
  ): Promise<unknown> {
    const call = { method: "PATCH", path: this.#pathOf(key), body, headers: matching(options) };
    return one(this.#write, call, options);
  }

  /** Deletes a row and returns its key, as an object of the key columns. */
  delete(key: T["key"], options: ChangeOptions & Asked): Promise<WithMeta<Partial<T["row"]>>>;
  delete(key: T["key"], options?: ChangeOptions & Plain): Promise<Partial<T["row"]>>;
  async delete(key: T["key"], options: ChangeOptions & (Asked | Plain) = {}): Promise<unknown> {
    const call = { method: "DELETE", path: this.#pathOf(key), headers: matching(options) };
    return one(this.#write, call, options);
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
    if (typeof key === "object" && key !== null) {
      const fields = Object.entries(key).map(([name, value]) => [name, keyText(value)] as [string, string]);
      return `${this.#path}/_svc/key?${new URLSearchParams(fields)}`;
    }
    const text = keyText(key);
    if (/^\.{0,2}$/.test(text))
      throw badCall(
        `${JSON.stringify(text)} cannot be part of a path: give the key as an object of its column`,
      );
    return `${this.#path}/${encodeURIComponent(text)}`;
  }
}

const aggregatePath = "/_svc/aggregate";

/**
 * Returns the value of a key column as text for a URL. Throws where the value is missing, which `String` would turn
 * into the text "undefined".
 */
function keyText(value: unknown): string {
  if (value === undefined || value === null) throw badCall("the key is missing");
  const text = String(value);
  if (!text.isWellFormed()) throw badCall("the key holds half of a character");
  return text;
}

/**
 * The header `If-Match` for a change with the option `ifMatch`; no header without the option. Throws where the option
 * is there without a version, because the row would then be changed whatever its version is.
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
