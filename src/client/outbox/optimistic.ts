import type { Change } from "../live/changes.js";
import type { Terms } from "../live/overlays.js";
import type { PushedOperation } from "../operations.js";
import { passes } from "./passes.js";

type Fields = Readonly<Record<string, unknown>>;

/** A mutation whose effect on rows the server may not have told live lists of yet. */
export interface UnconfirmedMutation {
  readonly operations: readonly PushedOperation[];
  /** Since when it is on its way to the server, on the scale of `seen` of `withUnconfirmed`; null if it is not. */
  readonly sentAt: number | null;
  /** Null before the server has answered. */
  readonly answer: {
    /** As `rows` of MutationResult. */
    readonly rows: readonly (Fields | null)[];
    /** When the answer came, on the scale of `seen` of `withUnconfirmed`. */
    readonly at: number;
  } | null;
}

/**
 * Applies mutations that the server may not have told of yet to the rows of a live list, in their order. Created rows
 * that pass the list's filters are added. Rows of an unanswered mutation get `_pending`. `seen` says since when a row
 * is as it is: an answered mutation is not applied to a row that was told after the answer. Live lists may be told of a
 * created row before its push is answered. So as long as its key is unknown, a row that is told with the same values is
 * taken for it.
 */
export function withUnconfirmed(
  table: string,
  terms: Terms,
  rows: readonly Change[],
  mutations: readonly UnconfirmedMutation[],
  seen: (change: Change) => number,
): readonly Change[] {
  const columns = keyColumns(table, rows, mutations);
  const found = new Map(rows.map((change) => [nameOf(change.key), change]));
  const taken = new Set<Change>();
  for (const [i, { operations, sentAt, answer }] of mutations.entries())
    for (const [j, operation] of operations.entries()) {
      if (operation.table !== table) continue;
      const answered = answer?.rows[j];
      const mark = answer === null && { _pending: true };
      if (operation.op === "create") {
        const values = answered ?? resolved(operation.values, operations);
        const known = columns?.every((column) => column in values) ? columns : null;
        // A new row whose key is not known yet gets a key that no other row has.
        const key = known === null ? { "": `${i}.${j}` } : picked(values, known);
        const row = { ...values, ...mark };
        const told =
          known === null && sentAt !== null
            ? rows.find((each) => !taken.has(each) && seen(each) >= sentAt && hasValues(each.row!, values))
            : undefined;
        if (told !== undefined) taken.add(told);
        else if (!found.has(nameOf(key)) && passes(row, terms) === true)
          found.set(nameOf(key), { table, op: "insert", key, row: selected(row, terms) });
        continue;
      }
      const name = nameOf(resolved(operation.key, operations));
      const before = found.get(name);
      if (before === undefined || (answer !== null && seen(before) >= answer.at)) continue;
      const changes = operation.op === "delete" ? {} : (answered ?? resolved(operation.set, operations));
      const row = { ...before.row, ...changes, ...mark };
      const isIn = passes(row, terms);
      // If the filters depend on columns that the rows lack here, the updated row stays in the list.
      if (operation.op === "update" && (isIn === true || isIn === undefined))
        found.set(name, { ...before, row: selected(row, terms) });
      else found.delete(name);
    }
  return [...found.values()];
}

/** The table's key columns, taken from a row or from a mutation; null if neither shows them. */
function keyColumns(
  table: string,
  rows: readonly Change[],
  mutations: readonly UnconfirmedMutation[],
): readonly string[] | null {
  const operations = mutations.flatMap((mutation) => mutation.operations);
  const named = operations.find((each) => each.table === table && each.op !== "create");
  const key = rows[0]?.key ?? (named as { readonly key?: Fields } | undefined)?.key;
  return key === undefined ? null : Object.keys(key);
}

/** Does not depend on the order of the key's columns. */
const nameOf = (key: Fields): string => JSON.stringify(Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1)));

const picked = (fields: Fields, columns: readonly string[]): Fields =>
  Object.fromEntries(columns.filter((column) => column in fields).map((column) => [column, fields[column]]));

/** Compares in those columns that the row has here. False if it has none of them. */
function hasValues(row: Fields, values: Fields): boolean {
  const columns = Object.keys(values).filter((column) => column in row);
  const text = (fields: Fields) => JSON.stringify(columns.map((column) => fields[column]));
  return columns.length > 0 && text(row) === text(values);
}

const selected = (row: Fields, { select }: Terms): Fields =>
  select === undefined ? row : picked(row, [...select, "_pending"]);

/** Replaces each `$ref` by the value that it refers to. Leaves out columns whose value only the server knows. */
function resolved(values: Fields, operations: readonly PushedOperation[]): Fields {
  return Object.fromEntries(
    Object.entries(values).flatMap(([column, value]) => {
      const found = known(value, operations);
      return found === undefined ? [] : [[column, found]];
    }),
  );
}

function known(value: unknown, operations: readonly PushedOperation[]): unknown {
  const reference = (value as { readonly $ref?: unknown } | null)?.$ref;
  if (typeof reference !== "string") return value;
  const [, at, column] = /^(\d+)\.(.*)$/.exec(reference) ?? [];
  const from = operations[Number(at)];
  const fields: Fields = {
    ...(from?.op === "create" ? from.values : { ...from?.key, ...(from as { set?: Fields })?.set }),
  };
  return column === undefined ? undefined : known(fields[column], operations.slice(0, Number(at)));
}
