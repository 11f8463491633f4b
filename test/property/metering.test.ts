import { expect, test, vi } from "vitest";
import { receiptRows } from "../support/receipts.js";
import {
  type Action,
  type Chat,
  mayRead,
  type Person,
  readTerms,
  readVisits,
  serveChat,
  type TableName,
  writeVerdict,
} from "./metering/chat.js";
import { countList, countWindow, type ListRequest, type OracleTable } from "./metering/oracle.js";
import type { Filter } from "./support/evaluate.js";
import { Random } from "./support/random.js";
import { type Row, toText, toWire, type Value } from "./support/values.js";

/**
 * Receipts against an evaluator that walks rows one by one. `SEED=… REQUESTS=… npx vitest run
 * test/property/metering.test.ts` repeats or prolongs a run, `METERING_TARGET=workerd` runs it on D1.
 */
const seed = Random.seedOfRun();
const requests = Number(process.env.REQUESTS ?? 300);
const target = process.env.METERING_TARGET;
vi.setConfig({ testTimeout: 900_000 + 10 * requests * 60 });

/** The counts of a receipt; null is not known. */
interface Expected {
  readonly status: number;
  readonly read: number | null;
  readonly written: number;
  readonly returned: number;
}

interface Asked {
  readonly person: Person;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly expected: Expected;
  readonly total?: number;
  /** Of the page that the answer's cursor reaches. */
  readonly next?: { readonly read: number | null; readonly returned: number } | null;
  /** What a success changes in the rows that the evaluator knows. */
  readonly apply?: () => void;
}

const tableNames = ["rooms", "members", "messages", "messages", "loose"] as const;

function randomRequest(random: Random, chat: Chat): Asked {
  const name = random.pick(tableNames);
  const person = random.pick(chat.people);
  switch (random.pick(["list", "list", "list", "get", "create", "update", "delete"] as const)) {
    case "list":
      return list(random, chat, name, person);
    case "get":
      return get(random, chat, name, person);
    case "create":
      return create(random, chat, name, person);
    case "update":
      return change(random, chat, name, person, "update");
    case "delete":
      // Some rows have to stay, for other requests to be about.
      return chat.tables[name].rows.length < 6
        ? get(random, chat, name, person)
        : change(random, chat, name, person, "delete");
  }
}

function randomList(random: Random, table: OracleTable): ListRequest {
  const chosen = random.some(table.columns, random.pick([0, 0, 1, 1, 2, 3]));
  const sorted = random.some(table.columns, random.pick([0, 0, 1, 1, 2]));
  return {
    filters: chosen.flatMap((column) => randomFilter(random, table, column)),
    sort: sorted.map((column) => ({ column, descending: random.chance(0.5) })),
    limit: random.pick([1, 3, 10, 200]),
    offset: random.pick([0, 0, 0, 2]),
  };
}

function list(random: Random, chat: Chat, name: TableName, person: Person): Asked {
  const table = chat.tables[name];
  const request = randomList(random, table);
  const { filters } = request;
  const terms = readTerms(chat, name, person, filters);
  const counted = countList(table, terms ?? [], request);
  const read = terms === null ? null : counted.rowsRead;
  const path = `/api/${name}?${queryOf(request)}`;
  const base = { person, method: "GET", path };
  const expected = { status: 200, read, written: 0, returned: counted.returned };
  const { next } = counted;
  if (terms !== null)
    return {
      ...base,
      expected,
      total: counted.total,
      next: next && { read: next.rowsRead, returned: next.returned },
    };
  const admitted = countList(
    table,
    [
      {
        kind: "judge",
        columns: ["grp"],
        visitsOnce: 0,
        visits: null,
        holds: (row) => mayRead(chat, name, person, row),
      },
    ],
    request,
  );
  return { ...base, expected: { ...expected, returned: admitted.returned }, total: admitted.total };
}

function randomFilter(random: Random, table: OracleTable, column: string): Filter[] {
  const present = table.rows.map((row) => row[column]!).filter((value) => value !== null);
  if (present.length === 0) return [];
  const value = () => random.pick(present) as NonNullable<Value>;
  switch (random.pick(["eq", "eq", "eq", "gt", "lt", "in", "is_null", "contains"] as const)) {
    case "eq":
      return [{ column, operator: "eq", value: value() }];
    case "gt":
      return [{ column, operator: "gt", value: value() }];
    case "lt":
      return [{ column, operator: "lt", value: value() }];
    case "in":
      return [{ column, operator: "in", values: random.times(random.int(1, 4), value) }];
    case "is_null":
      return [{ column, operator: "is_null", value: true }];
    case "contains": {
      const text = value();
      return typeof text === "string" && text !== ""
        ? [{ column, operator: "contains", value: text.slice(-random.int(1, 2)) }]
        : [];
    }
  }
}

function queryOf({ filters, sort, limit, offset }: ListRequest): string {
  const parameters = new URLSearchParams();
  for (const filter of filters) {
    const text = "values" in filter ? filter.values.map(toText).join(",") : toText(filter.value);
    parameters.append(`filter[${filter.column}][${filter.operator}]`, text);
  }
  if (sort.length > 0)
    parameters.append("sort", sort.map(({ column, descending }) => `${descending ? "-" : ""}${column}`).join(","));
  parameters.append("limit", String(limit));
  parameters.append("offset", String(offset));
  return parameters.toString();
}

function keyPath(name: TableName, { primaryKey }: OracleTable, row: Row): string {
  return `/api/${name}/_svc/key?${new URLSearchParams(Object.fromEntries(primaryKey.map((column) => [column, toText(row[column]!)])))}`;
}

/** A row that is there, or one that is not. */
function someRow(random: Random, { rows, primaryKey }: OracleTable): { readonly row: Row; readonly isThere: boolean } {
  const row = random.pick(rows);
  if (random.chance(0.85)) return { row, isThere: true };
  const [first] = primaryKey as [string];
  const other = typeof row[first] === "bigint" ? 9_999n : "nobody";
  return { row: { ...row, [first]: other }, isThere: false };
}

function get(random: Random, chat: Chat, name: TableName, person: Person): Asked {
  const table = chat.tables[name];
  const { row, isThere } = someRow(random, table);
  const base = { person, method: "GET", path: keyPath(name, table, row) };
  if (!isThere) return { ...base, expected: { status: 404, read: 0, written: 0, returned: 0 } };
  const visits = readVisits(chat, name, person, row);
  const allowed = mayRead(chat, name, person, row);
  const read = visits === null ? null : 1 + visits;
  return { ...base, expected: { status: allowed ? 200 : 403, read, written: 0, returned: Number(allowed) } };
}

let made = 0;

function create(random: Random, chat: Chat, name: TableName, person: Person): Asked {
  const table = chat.tables[name];
  const model = random.pick(table.rows);
  made++;
  const key =
    name === "members" ? { user: `user ${made}` } : { id: name === "loose" ? `new ${made}` : BigInt(10_000 + made) };
  const slug = name === "messages" ? { slug: `made ${made}` } : {};
  const author = name === "messages" && random.chance(0.6) ? { author: person.id } : {};
  const row: Row = { ...model, ...key, ...slug, ...author };
  const base = { person, method: "POST", path: `/api/${name}`, body: json(row) };
  const verdict = writeVerdict(chat, name, "create", person, row, row);
  if (!verdict.allowed) return { ...base, expected: { status: 403, read: verdict.visits, written: 0, returned: 0 } };
  const reading = readVisits(chat, name, person, row);
  const read = reading === null ? null : verdict.visits + reading;
  return {
    ...base,
    expected: { status: 201, read, written: 1, returned: 1 },
    apply: () => void table.rows.push(row),
  };
}

function change(random: Random, chat: Chat, name: TableName, person: Person, action: Exclude<Action, "create">): Asked {
  const table = chat.tables[name];
  const { row, isThere } = someRow(random, table);
  const columns = table.columns.filter((column) => !table.primaryKey.includes(column) && column !== "slug");
  const changed = random.some(columns, random.int(1, columns.length));
  const model = random.pick(table.rows);
  const patch = Object.fromEntries(changed.map((column) => [column, model[column]!]));
  const next: Row = { ...row, ...patch };
  const base = {
    person,
    path: keyPath(name, table, row),
    ...(action === "update" ? { method: "PATCH", body: json(patch) } : { method: "DELETE" }),
  };
  if (!isThere) return { ...base, expected: { status: 404, read: 0, written: 0, returned: 0 } };
  const verdict = writeVerdict(chat, name, action, person, row, next);
  // The row itself, what its rule looks up, and itself again to tell 403 from 404.
  if (!verdict.allowed)
    return { ...base, expected: { status: 403, read: 2 + verdict.visits, written: 0, returned: 0 } };
  const reading = action === "delete" ? 0 : readVisits(chat, name, person, next);
  const at = table.rows.indexOf(row);
  return {
    ...base,
    expected: {
      status: 200,
      read: reading === null ? null : 1 + verdict.visits + reading,
      written: 1,
      returned: 1,
    },
    apply: () => void table.rows.splice(at, 1, ...(action === "delete" ? [] : [next])),
  };
}

function json(row: Row): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(row).map(([column, value]) => [column, toWire("text", value)])),
  );
}

/** `[status, rows_read, rows_written, rows_returned]` of the request that has just been answered. */
async function receiptNow({ server }: Chat): Promise<readonly unknown[]> {
  const [found] = await server.database.query([
    {
      sql: `SELECT status, rows_read, rows_written, rows_returned FROM ${receiptRows} WHERE at = ?`,
      params: [BigInt(server.clock.now())],
    },
  ]);
  return found!.rows[0] ?? [];
}

test(`what ${requests} requests cost is what walking the rows comes to`, async () => {
  const chat = await serveChat(new Random(seed), target);
  const random = new Random(seed).fork(1);
  const { server } = chat;
  let unknown = 0;
  let followed = 0;
  for (let i = 0; i < requests; i++) {
    const asked = randomRequest(random.fork(i), chat);
    const described = `SEED=${seed}, request ${i}: ${asked.method} ${decodeURIComponent(asked.path)} ${asked.body ?? ""} as ${asked.person.id}`;
    server.clock.advance(1);
    const response = await server.request(asked.path, {
      method: asked.method,
      headers: {
        ...asked.person.headers,
        ...(asked.body !== undefined && { "Content-Type": "application/json" }),
      },
      ...(asked.body !== undefined && { body: asked.body }),
    });
    const body = (await response.json()) as { meta?: { total?: number; next_cursor?: string } };
    const [status, read, written, returned] = await receiptNow(chat);
    expect({ status, read, written, returned }, `${described}: ${JSON.stringify(body)}`).toEqual(asked.expected);
    if (asked.total !== undefined) expect(body.meta?.total, described).toBe(asked.total);
    if (read === null) unknown++;
    if (asked.next !== undefined) {
      const cursor = body.meta?.next_cursor;
      expect(cursor !== undefined, described).toBe(asked.next !== null);
      if (asked.next !== null) {
        followed++;
        server.clock.advance(1);
        const path = `${asked.path.replace(/\?.*$/, "")}?cursor=${cursor}`;
        await (await server.request(path, { headers: asked.person.headers })).text();
        const [, nextRead, , nextReturned] = await receiptNow(chat);
        expect({ read: nextRead, returned: nextReturned }, `${described}, second page`).toEqual(asked.next);
      }
    }
    asked.apply?.();
  }
  console.log(
    `${requests} requests and ${followed} second pages, ${unknown} with an unknown count (an exists that no index serves)`,
  );
  // Only `loose` has such a rule, and keys bypass it.
  expect(unknown).toBeGreaterThan(0);
  expect(unknown / requests).toBeLessThan(0.2);
});

test("lists that meet the scan limit cost what walking their windows comes to", async () => {
  const scanLimit = 30;
  const chat = await serveChat(new Random(seed).fork(2), target, `[api]\nscan_limit = ${scanLimit}\n`);
  const random = new Random(seed).fork(3);
  const { server, people } = chat;
  const { headers } = people.find(({ id }) => id === null)!;
  let refused = 0;
  for (let i = 0; i < requests / 4; i++) {
    const fork = random.fork(i);
    const name = fork.pick(["messages", "messages", "loose"] as const);
    const request = randomList(fork, chat.tables[name]);
    const { rowsRead, page } = countWindow(chat.tables[name], request, scanLimit);
    const path = `/api/${name}?${queryOf(request)}`;
    const described = `SEED=${seed}, window ${i}: ${decodeURIComponent(path)}`;
    server.clock.advance(1);
    const answer = (await (await server.request(path, { headers })).json()) as { meta?: { total: number } };
    const [status, read, , returned] = await receiptNow(chat);
    expect({ status, read, returned }, described).toEqual({
      status: page === null ? 400 : 200,
      read: rowsRead,
      returned: page?.returned ?? 0,
    });
    if (page === null) refused++;
    else expect(answer.meta!.total, described).toBe(page.total);
  }
  expect(refused).toBeGreaterThan(0);
});
