import { expect, test, vi } from "vitest";
import { dataOf } from "../../support/client.js";
import { Random } from "../support/random.js";
import {
  elementsOf,
  type Operation,
  type Outcome,
  operationsOf,
  separately,
  shown,
  type Values,
} from "./operations.js";
import { World } from "./world.js";

const queries = Number(process.env.QUERIES ?? 40);
vi.setConfig({ testTimeout: 900_000 + 10 * queries * 500 });

/** What is told of a mutation. */
interface Result {
  readonly status: "applied" | "conflict" | "rejected";
  readonly operation?: number;
  readonly error?: { readonly code: string };
  readonly fields?: readonly string[];
  readonly rows?: readonly (Values | null)[];
}

function outcomeOf({ status, operation, error, fields, rows }: Result): Outcome {
  if (status === "applied") return { refused: null, rows: rows!.map(shown) };
  const refused = { at: operation!, code: error!.code };
  return status === "conflict" ? { refused, fields: fields!, rows: [] } : { refused, rows: [] };
}

/** A push shows nothing of a row that may not be read, where a request shows its key. */
function asPushed(outcome: Outcome, operations: readonly Operation[]): Outcome {
  const rows = outcome.rows.map((row, i) =>
    operations[i]!.op !== "delete" && Object.keys(row as object).length === 1 ? null : row,
  );
  return { ...outcome, rows };
}

/** Takes rows to be what they are, or what they may have been. */
async function based(random: Random, world: World, caller: number, operation: Operation): Promise<Operation> {
  const id = operation.key?.id;
  if (typeof id !== "number" || random.chance(0.5)) return operation;
  const got = await world.as(caller).get(`/api/${operation.table}/${id}`);
  const row = got.status === 200 ? dataOf<Values>(got) : { name: "a", n: 3, owner: "ann", hidden: null };
  const columns = random.some(
    ["name", "owner", "n", "real", "hidden"].filter((column) => column in row),
    random.int(1, 3),
  );
  const base = Object.fromEntries(columns.map((column) => [column, row[column]]));
  if (random.chance(0.3)) base.name = random.pick(["a", "b", null]);
  return { ...operation, base };
}

test(`${queries} pushes do what their mutations do as requests of their own`, async () => {
  const random = new Random(Random.seedOfRun());
  const one = await World.open();
  const other = await World.open();
  const lastIds = [0, 0];
  for (let i = 0; i < queries; i++) {
    const caller = random.int(0, 1);
    const mutations: (readonly Operation[])[] = [];
    for (let left = random.int(1, 3); left > 0; left--) {
      const operations = operationsOf(random, random.int(1, 4));
      mutations.push(await Promise.all(operations.map((each) => based(random, one, caller, each))));
    }
    const first = lastIds[caller]! + 1;
    const body = {
      client: "c",
      mutations: mutations.map((operations, at) => ({ id: first + at, operations })),
    };
    const answer = await one.as(caller).post("/api/_svc/push", body);
    const said = `${JSON.stringify(body)}\n${answer.text}`;
    expect(answer.status, said).toBe(200);
    const { last_id, results } = dataOf<{ last_id: number; results: readonly Result[] }>(answer);
    lastIds[caller] = last_id;
    expect([last_id, results.length], said).toEqual([first + mutations.length - 1, mutations.length]);
    for (const [at, operations] of mutations.entries()) {
      const outcome = await separately(other, elementsOf(operations, other.as(caller)));
      expect(outcomeOf(results[at]!), `mutation ${at} of ${said}`).toEqual(asPushed(outcome, operations));
    }
    expect(await one.state(), said).toEqual(await other.state());
    if (random.chance(0.3)) {
      const again = dataOf<{ results: readonly Result[] }>(await one.as(caller).post("/api/_svc/push", body));
      for (const [at, { status }] of again.results.entries())
        expect(status, said).toBe(results[at]!.status === "applied" ? "duplicate" : results[at]!.status);
      expect(await one.state(), said).toEqual(await other.state());
    }
  }
});
