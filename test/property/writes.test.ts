import { expect, test, vi } from "vitest";
import { type Answer, type Client, client, dataOf } from "../support/client.js";
import { member, rowsOf } from "../support/people.js";
import { serve, type TestServer } from "../support/server.js";
import { Random } from "./support/random.js";

const queries = Number(process.env.QUERIES ?? 60);
vi.setConfig({ testTimeout: 60_000 + queries * 500 });

/** A rule that looks into its own table makes each row a statement; the others are one statement where that is possible. */
const schema = `
plain:
  columns: &columns
    id: { type: integer, primary_key: true }
    name: { type: text, unique: true }
    owner: { type: text }
    n: { type: integer, default: 3, check: "n < 9" }
    real: { type: real }
    note: { type: json }
    hidden: { type: boolean }
    version: { type: integer, managed: version }
looking:
  history: forever
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text, unique: true }
    owner: { type: text }
    n: { type: integer, default: 3, check: "n < 9" }
    real: { type: real }
    note: { type: json }
    hidden: { type: boolean }
    version: { type: integer, managed: version }
`.replace("&columns", "");
const rules = (create: string) => `
read = "row.hidden is null or row.owner = auth.id"
create = "${create}"
update = "row.owner = auth.id and new.n != 7"
delete = "row.owner = auth.id"
`;
const config = `
[rules.plain]${rules("new.n != 7 and new.owner is not null")}
[rules.looking]${rules("new.n != 7 and not exists(looking other where other.n = 5 and new.n = 5)")}
[rules.plain.columns.id]
write = "authenticated"
[rules.looking.columns.id]
write = "authenticated"
`;

type Values = Readonly<Record<string, unknown>>;
type Table = "plain" | "looking";
interface Operation {
  readonly op: "create" | "update" | "delete";
  readonly table: Table;
  readonly key?: { readonly id: number };
  readonly values?: Values;
  readonly set?: Values;
}

/** What a request is refused for, and at which element; null where it is not. */
type Refused = { readonly at: number; readonly code: string } | null;
/** What a request has come to: as one, or as the requests of its elements. */
interface Outcome {
  readonly refused: Refused;
  readonly rows: readonly unknown[];
}

const names = ["a", "b", "c", "d", "A", "é😀", '"\\'];

class World {
  constructor(
    readonly server: TestServer,
    private readonly by: readonly Client[],
  ) {}

  static async open(): Promise<World> {
    const server = await serve({ schema, config });
    const people = [await member(server, "ann"), await member(server, "ben")];
    return new World(
      server,
      people.map(({ bearer }) => client(server, bearer)),
    );
  }

  as(caller: number): Client {
    return this.by[caller]!;
  }

  /** All rows but their versions, which begin at random. */
  async state(): Promise<unknown> {
    const of = (table: Table) =>
      rowsOf(
        this.server,
        `SELECT id, name, owner, n, typeof(n), real, typeof(real), note, hidden FROM ${table} ORDER BY id`,
      );
    return [await of("plain"), await of("looking")];
  }

  async put(state: unknown): Promise<void> {
    const statements = (["plain", "looking"] as const).flatMap((table, i) => [
      { sql: `DELETE FROM ${table}`, params: [] },
      ...(state as (readonly (string | number | null)[])[][])[i]!.map(
        ([id, name, owner, n, , real, , note, hidden]) => ({
          sql: `INSERT INTO ${table} (id, name, owner, n, real, note, hidden, version) VALUES (?, ?, ?, ?, ?, ?, ?, 1)`,
          params: [id!, name!, owner!, n!, real!, note!, hidden!],
        }),
      ),
    ]);
    await this.server.database.batch(statements);
  }
}

function valuesOf(random: Random): Record<string, unknown> {
  const values: Record<string, unknown> = {
    owner: random.pick(["ann", "ann", "ben", "ben", null]),
    name: random.pick([...names, null]),
  };
  if (random.chance(0.5)) values.n = random.pick([0, 1, 2, 5, 5, 6, 7, 9, null]);
  if (random.chance(0.3)) values.id = random.int(1, 12);
  if (random.chance(0.3)) values.real = random.pick([0, 1, 0.1, 1e300, 5e-324, 0.1 + 0.2, -2.5, 1e18, null]);
  if (random.chance(0.3)) values.note = random.pick([null, 1, "x", [1, { a: "b" }], { $ref: "0.id" }]);
  if (random.chance(0.2)) values.hidden = random.pick([true, false, null]);
  return values;
}

function operationOf(random: Random): Operation {
  const table = random.pick(["plain", "looking"] as const);
  const op = random.pick(["create", "create", "update", "delete"] as const);
  const { id: _, ...set } = valuesOf(random);
  const key = { id: random.int(1, 12) };
  if (op === "create") return { op, table, values: valuesOf(random) };
  return op === "update" ? { op, table, key, set } : { op, table, key };
}

function outcomeOf(answer: Answer): Outcome {
  if (answer.status < 300) return { refused: null, rows: [dataOf(answer)].flat().map(shown) };
  const { error } = answer.body as { error: { code: string; message: string } };
  const [, at = "0"] = /^(?:row|operation) (\d+): /.exec(error.message) ?? [];
  return { refused: { at: Number(at), code: error.code }, rows: [] };
}

function shown(row: unknown): unknown {
  if (row === null) return null;
  const { version: _, ...others } = row as Record<string, unknown>;
  return others;
}

/** Sends elements one after the other; where one is refused, the state before all of them is put back. */
async function separately(world: World, requests: readonly (() => Promise<Answer>)[]): Promise<Outcome> {
  const before = await world.state();
  const rows: unknown[] = [];
  for (const [at, request] of requests.entries()) {
    const { refused, rows: more } = outcomeOf(await request());
    if (refused !== null) {
      await world.put(before);
      return { refused: { at, code: refused.code }, rows: [] };
    }
    rows.push(...more);
  }
  return { refused: null, rows };
}

function sent(by: Client, { op, table, key, values, set }: Operation): Promise<Answer> {
  if (op === "create") return by.post(`/api/${table}`, values);
  return op === "update" ? by.patch(`/api/${table}/${key!.id}`, set) : by.delete(`/api/${table}/${key!.id}`);
}

/** A request of several elements, and the same elements as requests of their own. */
interface Case {
  readonly said: string;
  readonly together: (by: Client) => Promise<Answer>;
  readonly apart: (by: Client) => readonly (() => Promise<Answer>)[];
}

function caseOf(random: Random, key: string): Case {
  const headers: Record<string, string> = random.chance(0.3) ? { "Idempotency-Key": key } : {};
  const table = random.pick(["plain", "looking"] as const);
  const count = random.int(1, 5);
  if (random.chance(0.35)) {
    const operations = random.times(count, () => operationOf(random));
    return {
      said: `batch ${JSON.stringify({ operations, headers })}`,
      together: (by) => by.post("/api/_svc/batch", { operations }, headers),
      apart: (by) => operations.map((each) => () => sent(by, each)),
    };
  }
  const isUpsert = random.chance(0.5);
  const duplicate = random.pick(["update", "ignore"]);
  const path = `/api/${table}${isUpsert ? `?on_conflict=name&on_duplicate=${duplicate}` : ""}`;
  const seen = new Set<unknown>();
  // The same key twice in one upsert is refused, whatever is in the table.
  const rows = random
    .times(count, () => valuesOf(random))
    .filter(({ name }) => !isUpsert || name === null || (!seen.has(name) && seen.add(name)));
  return {
    said: `POST ${path} ${JSON.stringify({ rows, headers })}`,
    together: (by) => by.post(path, rows, headers),
    apart: (by) => rows.map((row) => () => by.post(path, row)),
  };
}

test(`${queries} requests of several writes do what their elements do one after the other`, async () => {
  const random = new Random(Random.seedOfRun());
  const one = await World.open();
  const other = await World.open();
  for (let i = 0; i < queries; i++) {
    const each = caseOf(random, `k${i}`);
    const caller = random.int(0, 1);
    const answer = await each.together(one.as(caller));
    const expected = await separately(other, each.apart(other.as(caller)));
    expect(outcomeOf(answer), `${each.said}\n${answer.text}`).toEqual(expected);
    const state = await one.state();
    expect(state, each.said).toEqual(await other.state());
    if (random.chance(0.5) && answer.status < 300 && each.said.includes("Idempotency-Key")) {
      const again = await each.together(one.as(caller));
      expect(again.headers.get("Idempotency-Replayed"), each.said).toBe("true");
      expect([again.status, outcomeOf(again)], each.said).toEqual([answer.status, outcomeOf(answer)]);
    }
    const id = random.int(1, 12);
    await versioned(one, random.pick(["plain", "looking"] as const), id, caller, random.chance(0.5));
    expect(await one.state()).toEqual(state);
    expect(await rowsOf(one.server, "SELECT * FROM _staged")).toEqual([]);
  }
});

/** A PATCH under a version of another time is refused, and changes nothing; one that changes nothing raises the version. */
async function versioned(
  world: World,
  table: Table,
  id: number,
  caller: number,
  isCurrent: boolean,
): Promise<void> {
  const by = world.as(caller);
  const path = `/api/${table}/${id}`;
  const got = await by.get(path);
  const row = got.status === 200 ? dataOf<{ owner: string; n: number | null; version: number }>(got) : null;
  const tag = isCurrent && row !== null ? `"${row.version}"` : '"-1"';
  const patch = { owner: ["ann", "ben"][caller] };
  const answer = await by.patch(path, patch, { "If-Match": tag });
  if (row === null) expect([403, 404], answer.text).toContain(answer.status);
  else if (row.owner !== patch.owner || row.n === null) expect(answer.status, answer.text).toBe(403);
  else if (!isCurrent) expect(answer.status, answer.text).toBe(412);
  else expect(answer.headers.get("ETag"), answer.text).toBe(`"${row.version + 1}"`);
}
