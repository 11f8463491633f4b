import type { Answer, Client } from "../../support/client.js";
import { dataOf } from "../../support/client.js";
import type { Random } from "../support/random.js";
import { type Table, tables, type World } from "./world.js";

export type Values = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly op: "create" | "update" | "delete";
  readonly table: Table;
  readonly key?: Values;
  readonly values?: Values;
  readonly set?: Values;
  /** What the row is taken to be. */
  readonly base?: Values;
}

/** What a request is refused for, and at which element; null where it is not. */
export type Refused = { readonly at: number; readonly code: string } | null;
/** What a request has come to: as one, or as the requests of its elements. */
export interface Outcome {
  readonly refused: Refused;
  /** The columns of the row that are not what they were taken to be. */
  readonly fields?: readonly string[];
  readonly rows: readonly unknown[];
}

const names = ["a", "b", "c", "d", "A", "é😀", '"\\\\'];

export function valuesOf(random: Random): Record<string, unknown> {
  const values: Record<string, unknown> = {
    owner: random.pick(["ann", "ann", "ben", "ben", null]),
    name: random.pick([...names, null]),
  };
  if (random.chance(0.5)) values.n = random.pick([0, 1, 2, 2, 5, 5, 6, 7, 9, null]);
  if (random.chance(0.3)) values.id = random.int(1, 12);
  if (random.chance(0.3)) values.real = random.pick([0, 1, 0.1, 1e300, 5e-324, 0.1 + 0.2, -2.5, 1e18, null]);
  if (random.chance(0.3)) values.note = random.pick([null, 1, "x", [1, { a: "b" }], { $ref: "0.id" }]);
  if (random.chance(0.2)) values.hidden = random.pick([true, false, null]);
  return values;
}

export function operationOf(random: Random): Operation {
  const table = random.pick(tables);
  const op = random.pick(["create", "create", "update", "delete"] as const);
  const { id: _, ...set } = valuesOf(random);
  const key = { id: random.int(1, 12) };
  if (op === "create") return { op, table, values: valuesOf(random) };
  return op === "update" ? { op, table, key, set } : { op, table, key };
}

/** Operations, one of which may refer to a column of an earlier one's result. */
export function operationsOf(random: Random, count: number): readonly Operation[] {
  const operations = random.times(count, () => operationOf(random));
  const by = random.int(1, Math.max(1, count - 1));
  const at = random.int(0, by - 1);
  const referring = operations[by];
  if (referring === undefined || operations[at]!.op === "delete" || random.chance(0.4)) return operations;
  const column = random.pick(["id", "name", "owner", "n", "real"]);
  const $ref = `${at}.${column}`;
  const referred = (operation: Operation): Operation => {
    if (column === "id" && operation.key !== undefined) return { ...operation, key: { id: { $ref } } };
    if (operation.values !== undefined) return { ...operation, values: { ...operation.values, [column]: { $ref } } };
    return operation.set === undefined || column === "id"
      ? operation
      : { ...operation, set: { ...operation.set, [column]: { $ref } } };
  };
  return operations.map((operation, i) => (i === by ? referred(operation) : operation));
}

/** The columns that operations after number `at` refer to in its result. */
function referredIn(operations: readonly Operation[], at: number) {
  return operations.flatMap(({ key, values, set }, by) =>
    Object.entries({ ...key, ...values, ...set }).flatMap(([column, value]) =>
      column !== "note" && (value as { $ref?: string } | null)?.$ref?.startsWith(`${at}.`)
        ? [{ by, column: (value as { $ref: string }).$ref.split(".")[1]! }]
        : [],
    ),
  );
}

function resolved(operation: Operation, rows: readonly unknown[]): Operation {
  const values = (of: Values | undefined): Values | undefined =>
    of &&
    Object.fromEntries(
      Object.entries(of).map(([column, value]) => {
        const path = column === "note" ? undefined : (value as { $ref?: string } | null)?.$ref?.split(".");
        return [column, path === undefined ? value : (rows[Number(path[0])] as Values)[path[1]!]];
      }),
    );
  const { op, table, key, values: given, set } = operation;
  return { op, table, key: values(key)!, values: values(given)!, set: values(set)! };
}

export function outcomeOf(answer: Answer): Outcome {
  if (answer.status < 300) return { refused: null, rows: [dataOf(answer)].flat().map(shown) };
  const { error } = answer.body as { error: { code: string; message: string } };
  const [, at = "0"] = /^(?:row|operation) (\d+): /.exec(error.message) ?? [];
  return { refused: { at: Number(at), code: error.code }, rows: [] };
}

export function shown(row: unknown): unknown {
  if (row === null) return null;
  const { version: _, ...others } = row as Record<string, unknown>;
  return others;
}

/** A request for an element, given the rows of those before it. */
export type Element = (rows: readonly unknown[]) => Promise<Outcome>;

/** Sends elements one after the other; where one is refused, the state before all of them is put back. */
export async function separately(world: World, elements: readonly Element[]): Promise<Outcome> {
  const before = await world.state();
  const rows: unknown[] = [];
  for (const [at, element] of elements.entries()) {
    const { refused, rows: more, ...others } = await element(rows);
    if (refused !== null) {
      await world.put(before);
      return { ...others, refused: { ...refused, at: refused.at === 0 ? at : refused.at }, rows: [] };
    }
    rows.push(...more);
  }
  return { refused: null, rows };
}

export type Headers = Readonly<Record<string, string>>;

/** The headers of an element of a request that has these. */
export function headersOf(headers: Headers, at: number): Headers {
  const key = headers["Idempotency-Key"];
  return key === undefined ? headers : { ...headers, "Idempotency-Key": `${key}.${at}` };
}

/** A row that an operation has answered, as the trigger `itself` has left it: that is what a reference to it stands for. */
function asLeft({ op, table }: Operation, row: Values): Values {
  return op === "create" && table === "triggered" && row?.n === 1 ? { ...row, real: 8.5 } : row;
}

/** The requests that operations of one transaction are. */
export function elementsOf(operations: readonly Operation[], by: Client, headers: Headers = {}): readonly Element[] {
  return operations.map((operation, at) => async (rows) => {
    const left = rows.map((row, i) => asLeft(operations[i]!, row as Values));
    const outcome = await sent(by, resolved(operation, left), operation.base, headersOf(headers, at));
    const [row] = outcome.rows as readonly Values[];
    // What the caller was not shown cannot be referred to.
    const missing = referredIn(operations, at).find(({ column }) => row !== undefined && !(column in row));
    return missing === undefined ? outcome : { refused: { at: missing.by, code: "bad_request" }, rows: [] };
  });
}

async function sent(by: Client, operation: Operation, base: Values | undefined, headers: Headers): Promise<Outcome> {
  if (base === undefined) return outcomeOf(await request(by, operation, headers));
  const path = pathOf(operation);
  const got = await by.get(path);
  // A row that may not be read is as one that is not there.
  if (got.status !== 200) return { refused: { at: 0, code: "not_found" }, rows: [] };
  const current = dataOf<Values>(got);
  const fields = Object.keys(base).filter((column) => JSON.stringify(base[column]) !== JSON.stringify(current[column]));
  const outcome = outcomeOf(await request(by, operation, headers));
  if (fields.length === 0 || outcome.refused?.code === "forbidden") return outcome;
  return { refused: { at: 0, code: "conflict" }, fields, rows: [] };
}

const pathOf = ({ table, key }: Operation) => `/api/${table}/${(key as { id: number }).id}`;

function request(by: Client, operation: Operation, headers: Headers): Promise<Answer> {
  const { op, table, values, set } = operation;
  if (op === "create") return by.post(`/api/${table}`, values, headers);
  return op === "update" ? by.patch(pathOf(operation), set, headers) : by.delete(pathOf(operation), headers);
}
