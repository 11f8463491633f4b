/** A plain model of what mutations do: rows as objects, judged one operation after the other. */

export const schema = `
docs:
  history: forever
  columns:
    id: { type: text, primary_key: true }
    title: { type: text, not_null: true }
    n: { type: integer, not_null: true, check: "n >= 0" }
notes:
  history: forever
  columns:
    id: { type: text, primary_key: true }
    owner: { type: text, not_null: true }
    text: { type: text, not_null: true }
    parent: { type: text }
sealed:
  columns: { id: { type: integer, primary_key: true } }
`;

export const rules = `
[rules.docs]
read = "authenticated"
create = "authenticated"
update = "authenticated"
delete = "authenticated"
[rules.notes]
read = "row.owner = auth.id"
create = "new.owner = auth.id"
update = "row.owner = auth.id"
delete = "row.owner = auth.id"
`;

export type Table = "docs" | "notes";
export type Row = Readonly<Record<string, unknown>>;

/** An operation as it is sent. */
export type Operation =
  | { readonly op: "create"; readonly table: string; readonly values: Row }
  | {
      readonly op: "update";
      readonly table: string;
      readonly key: { readonly id: string };
      readonly set: Row;
      readonly base?: Row;
    }
  | {
      readonly op: "delete";
      readonly table: string;
      readonly key: { readonly id: string };
      readonly base?: Row;
    };

/** What a mutation has to come to. */
export type Verdict =
  | { readonly status: "applied"; readonly rows: readonly Row[] }
  | { readonly status: "conflict"; readonly operation: number; readonly fields: readonly string[] }
  | { readonly status: "rejected"; readonly operation: number; readonly code: string };

/** By table and id; null where there is no such row. */
export type RowAt = (table: Table, id: string) => Row | null;

/** A row that a mutation has written; null for one that it has deleted. */
export interface Written {
  readonly table: Table;
  readonly id: string;
  readonly row: Row | null;
}

/** What a mutation comes to on these rows, and which rows it writes if it is applied. */
export function judge(
  operations: readonly Operation[],
  caller: string,
  before: RowAt,
): { readonly verdict: Verdict; readonly written: readonly Written[] } {
  // What can be told without looking at rows is told first, whatever the operations before it do.
  const malformed = operations.findIndex(({ table }) => table !== "docs" && table !== "notes");
  if (malformed !== -1) {
    const code = operations[malformed]!.table === "sealed" ? "forbidden" : "not_found";
    return { verdict: { status: "rejected", operation: malformed, code }, written: [] };
  }
  const written: Written[] = [];
  const rows: Row[] = [];
  const now: RowAt = (table, id) => {
    const own = written.findLast((each) => each.table === table && each.id === id);
    return own === undefined ? before(table, id) : own.row;
  };
  for (const [operation, asked] of operations.entries()) {
    const done = carriedOut(asked, caller, now, rows);
    if ("code" in done) return { verdict: { status: "rejected", operation, code: done.code }, written: [] };
    if ("fields" in done) return { verdict: { status: "conflict", operation, fields: done.fields }, written: [] };
    written.push(done);
    rows.push(done.row ?? { id: done.id });
  }
  return { verdict: { status: "applied", rows }, written };
}

/** The row that an operation writes, the code of its refusal, or the columns that are not as its base says. */
function carriedOut(
  asked: Operation,
  caller: string,
  now: RowAt,
  earlier: readonly Row[],
): Written | { readonly code: string } | { readonly fields: readonly string[] } {
  const table = asked.table as Table;
  if (asked.op === "create") {
    const values = Object.fromEntries(
      Object.entries(asked.values).map(([column, value]) => [column, resolved(value, earlier)]),
    );
    const id = values.id as string;
    const row = table === "notes" ? { parent: null, ...values } : values;
    return refusal(table, row, caller) ?? (now(table, id) === null ? { table, id, row } : { code: "conflict" });
  }
  const { key, base } = asked;
  const found = now(table, key.id);
  if (found === null || (table === "notes" && found.owner !== caller)) return { code: "not_found" };
  const fields = Object.keys(base ?? {}).filter((column) => base![column] !== found[column]);
  if (fields.length > 0) return { fields };
  const row = asked.op === "delete" ? null : { ...found, ...asked.set };
  return (row && refusal(table, row, caller)) ?? { table, id: key.id, row };
}

/** Why a row may not be like this. */
function refusal(table: Table, row: Row, caller: string): { readonly code: string } | null {
  if (table === "notes") return row.owner === caller ? null : { code: "forbidden" };
  return (row.n as number) < 0 ? { code: "bad_request" } : null;
}

function resolved(value: unknown, earlier: readonly Row[]): unknown {
  const path = (value as { $ref?: string } | null)?.$ref;
  if (path === undefined) return value;
  const [at, column] = path.split(".");
  return earlier[Number(at)]![column!];
}

/** What each row was, transaction by transaction: `at(n)` is after the first `n` of them. */
export class Timeline {
  readonly #rows = new Map<string, { readonly from: number; readonly row: Row | null }[]>();
  length = 0;

  /** One more transaction. */
  add(written: readonly Written[]): void {
    this.length++;
    for (const { table, id, row } of written) {
      const states = this.#rows.get(`${table} ${id}`) ?? [];
      this.#rows.set(`${table} ${id}`, states);
      states.push({ from: this.length, row });
    }
  }

  at(transaction: number): RowAt {
    return (table, id) => {
      const states = this.#rows.get(`${table} ${id}`) ?? [];
      let [from, to] = [0, states.length];
      while (from < to) {
        const middle = (from + to) >> 1;
        if (states[middle]!.from <= transaction) from = middle + 1;
        else to = middle;
      }
      return states[from - 1]?.row ?? null;
    };
  }

  /** Everything that a row has been from a transaction on. */
  since(transaction: number, table: Table, id: string): readonly (Row | null)[] {
    const later = (this.#rows.get(`${table} ${id}`) ?? []).filter(({ from }) => from > transaction);
    return [this.at(transaction)(table, id), ...later.map(({ row }) => row)];
  }

  /** The rows of a table by now, in the order of their ids. */
  rows(table: Table): readonly Row[] {
    return [...this.#rows]
      .filter(([name]) => name.startsWith(`${table} `))
      .map(([, states]) => states.at(-1)!.row)
      .filter((row) => row !== null)
      .sort((a, b) => ((a.id as string) < (b.id as string) ? -1 : 1));
  }
}
