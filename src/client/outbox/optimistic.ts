import type { Change } from "../live/changes.js";
import type { Terms } from "../live/overlays.js";
import type { PushedOperation } from "../operations.js";
import { passes } from "./passes.js";

type Fields = Readonly<Record<string, unknown>>;

/** A mutation whose rows the server has not told of. */
export interface Untold {
  readonly operations: readonly PushedOperation[];
  /** Since when it is on its way to the server, as `seen` counts; null where it is not. */
  readonly sentAt: number | null;
  /** What the server has answered; null before it has. */
  readonly answer: {
    /** What each operation answers with; null for what the caller may not read. */
    readonly rows: readonly (Fields | null)[];
    /** When, as `seen` counts. */
    readonly at: number;
  } | null;
}

/**
 * The rows of a list as they are with mutations that the server has not told of, each in its order: rows that are created
 * and pass the filters, rows with what was changed, and without those that are deleted. Such rows have `_pending`. `seen`
 * says since when a row is what it is: what was answered before that is in it already. Where a row comes that has the values
 * of one that is being created, it is taken for that one: lists may be told of it before the push is answered.
 */
export function withUntold(
  table: string,
  terms: Terms,
  rows: readonly Change[],
  mutations: readonly Untold[],
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
        // Without its key it is another row than all others.
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
      // Where columns decide that are not in the list's rows, the row stays.
      if (operation.op === "update" && (isIn === true || isIn === undefined))
        found.set(name, { ...before, row: selected(row, terms) });
      else found.delete(name);
    }
  return [...found.values()];
}

/** The columns of the table's key, where something here tells them. */
function keyColumns(
  table: string,
  rows: readonly Change[],
  mutations: readonly Untold[],
): readonly string[] | null {
  const operations = mutations.flatMap((mutation) => mutation.operations);
  const named = operations.find((each) => each.table === table && each.op !== "create");
  const key = rows[0]?.key ?? (named as { readonly key?: Fields } | undefined)?.key;
  return key === undefined ? null : Object.keys(key);
}

/** Names a row of a table by its key. */
const nameOf = (key: Fields): string =>
  JSON.stringify(Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1)));

const picked = (fields: Fields, columns: readonly string[]): Fields =>
  Object.fromEntries(columns.filter((column) => column in fields).map((column) => [column, fields[column]]));

/** Whether a row has those of the values of which it has the columns; one of them at least. */
function hasValues(row: Fields, values: Fields): boolean {
  const columns = Object.keys(values).filter((column) => column in row);
  const text = (fields: Fields) => JSON.stringify(columns.map((column) => fields[column]));
  return columns.length > 0 && text(row) === text(values);
}

const selected = (row: Fields, { select }: Terms): Fields =>
  select === undefined ? row : picked(row, [...select, "_pending"]);

/** Values, with those that are taken from an earlier operation; without those that only the server knows. */
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
