import type { CollectionConfig, PendingMutation } from "@tanstack/db";
import type { Client } from "./client.js";
import type { LiveState } from "./live/changes.js";
import type { Operation } from "./operations.js";
import type { LiveQuery } from "./query.js";

/** Options of `svcCollectionOptions`: the client, the table, and which rows and columns the collection holds. */
export interface SvcCollectionOptions<Row extends object> extends Pick<LiveQuery<Row>, "where" | "filter" | "select"> {
  /** A client that `createClient` has made. */
  readonly client: Pick<Client<never>, "follow"> & { readonly batch: unknown };
  /** A table that keeps history (`docs/sync.md#which-tables`). */
  readonly table: string;
  /** The columns of the primary key; the default is `id`. */
  readonly key?: (keyof Row & string) | readonly (keyof Row & string)[];
  /** The collection's id in TanStack DB, by default the table's name. */
  readonly id?: string;
  /** Called with the state of the collection: whether its rows are up to date, or why not. */
  readonly onState?: (state: LiveState) => void;
}

/** What identifies a row in a collection: the key column's value, or a JSON array of the values of several. */
export type CollectionKey = string | number;

type Fields = Readonly<Record<string, unknown>>;
type Insert<Row extends object> = {
  readonly transaction: { readonly mutations: readonly PendingMutation<Row>[] };
};

/** How many writes one batch request may have (`docs/reference/http.md#batch`). */
const batchMax = 100;

/**
 * After the server has accepted a write, the collection shows the row as the user wrote it until the server has sent
 * it, at most for so many milliseconds.
 */
const unconfirmedMs = 5_000;

/**
 * Makes the options for `createCollection` of TanStack DB (https://tanstack.com/db). The collection holds the rows of a
 * table that the signed-in user may read, and is kept up to date (`docs/guides/client.md#tanstack-db`). A row that is
 * inserted, updated or deleted in the collection shows so immediately, and is taken back if the server refuses it. The
 * rows of one TanStack DB transaction are sent in batches of up to 100, one after the other; each is one transaction of
 * the server. The type argument is the type of rows; without it, rows have any columns.
 */
export function svcCollectionOptions<Row extends object = Record<string, unknown>>(
  options: SvcCollectionOptions<NoInfer<Row>>,
): CollectionConfig<Row, CollectionKey> {
  const { client, table, key = "id", id = table, onState, where, filter, select } = options;
  const columns: readonly string[] = [key].flat();
  const all = client as unknown as Client<Record<never, never>>;
  const keyOf = (fields: Fields): CollectionKey =>
    columns.length === 1
      ? (fields[columns[0]!] as CollectionKey)
      : JSON.stringify(columns.map((column) => fields[column]));
  const keyFieldsOf = (fields: Fields) => Object.fromEntries(columns.map((column) => [column, fields[column]]));
  const waiting = new Map<CollectionKey, Set<() => void>>();
  /** Resolves once the server has sent a change of the row, or after `unconfirmedMs`. */
  const confirmedOf = (of: CollectionKey) =>
    new Promise<void>((resolve) => {
      const all = waiting.get(of) ?? new Set();
      const done = () => {
        clearTimeout(timer);
        all.delete(done);
        if (all.size === 0) waiting.delete(of);
        resolve();
      };
      const timer = setTimeout(done, unconfirmedMs);
      waiting.set(of, all.add(done));
    });
  const write = async (
    { transaction }: Insert<Row>,
    operationOf: (mutation: {
      readonly original: Fields;
      readonly modified: Fields;
      readonly changes: Fields;
    }) => Operation,
  ) => {
    const mutations = transaction.mutations as unknown as (Parameters<typeof operationOf>[0] & {
      readonly key: CollectionKey;
    })[];
    for (let from = 0; from < mutations.length; from += batchMax) {
      const written = mutations.slice(from, from + batchMax);
      const confirmed = written.map(({ key: of }) => confirmedOf(of));
      await all.batch(written.map(operationOf));
      await Promise.all(confirmed);
    }
  };
  return {
    id,
    getKey: (row) => keyOf(row as Fields),
    sync: {
      rowUpdateMode: "full",
      sync: ({ begin, write, commit, truncate, markReady, markError }) => {
        let isReady = false;
        const terms = { ...(where && { where }), ...(filter && { filter }), ...(select && { select }) };
        return client.follow({ [table]: terms }, (state, step) => {
          onState?.(state);
          if (state.status === "refused" && !isReady) markError(state.error);
          if (step === null) return;
          begin();
          if (step.isReset) truncate();
          for (const { op, key: of, row } of step.changes)
            if (op === "remove") write({ type: "delete", key: keyOf(of) });
            else write({ type: op, value: row as Row });
          commit();
          for (const { key: of } of step.changes) for (const done of waiting.get(keyOf(of)) ?? []) done();
          if (state.status === "live" && !isReady) {
            isReady = true;
            markReady();
          }
        });
      },
    },
    onInsert: (given) => write(given, ({ modified: values }) => ({ op: "create", table, values })),
    onUpdate: (given) =>
      write(given, ({ original, changes: set }) => ({
        op: "update",
        table,
        key: keyFieldsOf(original),
        set,
      })),
    onDelete: (given) => write(given, ({ original }) => ({ op: "delete", table, key: keyFieldsOf(original) })),
  };
}
