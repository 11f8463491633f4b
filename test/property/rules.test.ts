import { isDeepStrictEqual } from "node:util";
import { expect, test, vi } from "vitest";
import { RuledProject } from "./rules/project.js";
import { type Action, columns, defaults, type RuledTable, randomRow, randomValue, shape } from "./rules/tables.js";
import type { Caller } from "./support/callers.js";
import { print } from "./support/print.js";
import { Random } from "./support/random.js";
import { type Row, toWire } from "./support/values.js";

/**
 * Rules against an evaluator of SQL's logic, by requests alone. `SEED=… TABLES=… npx vitest run
 * test/property/rules.test.ts` repeats or prolongs a run; each table has four rules, and some for its columns.
 */
const seed = Random.seedOfRun();
const tableCount = Number(process.env.TABLES ?? 15);
vi.setConfig({ testTimeout: 900_000 + 10 * tableCount * 1000 });

/** One request of the test. */
interface Call {
  readonly table: RuledTable;
  readonly caller: Caller;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Behind the table's name. */
  readonly path: string;
  readonly body?: Row;
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly data?: unknown;
    readonly error?: { readonly code: string; readonly message: string };
  };
}

const codes: Readonly<Record<number, string>> = {
  400: "bad_request",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
};

const actions = { GET: "read", POST: "create", PATCH: "update", DELETE: "delete" } as const;

async function send(project: RuledProject, call: Call): Promise<Answer> {
  const { table, caller, method, path, body } = call;
  const response = await project.server.request(`/api/${table.name}${path}`, {
    method,
    headers: { "Content-Type": "application/json", ...caller.headers },
    ...(body === undefined ? {} : { body: JSON.stringify(wireOf(body)) }),
  });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

function wireOf(row: Row): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, toWire(shape[name as keyof typeof shape], value)]),
  );
}

/** Fails with everything that is needed to look at the request alone. */
function must(project: RuledProject, call: Call, holds: boolean, expected: string, seen: unknown): void {
  if (holds) return;
  const { table, caller, method, path, body } = call;
  const request = `${method} /api/${table.name}${path} ${body === undefined ? "" : JSON.stringify(wireOf(body))}`;
  const rules = (Object.keys(table.rules) as Action[]).map((action) => `${action}: ${print(table.rules[action])}`);
  const columnRules = [...table.columnRules].map(
    ([column, { read, write }]) => `${column}: read ${print(read)}, write ${print(write)}`,
  );
  const rows = JSON.stringify(project.rowsOf(table).map(wireOf));
  throw new Error(
    `SEED=${seed}: ${request} as ${caller.name} ${JSON.stringify(caller.auth)}: expected ${expected}, saw ${JSON.stringify(seen)}\n${[...rules, ...columnRules, rows].join("\n")}`,
  );
}

/** The answer, held against its expected status; a refusal has its code. */
async function answered(project: RuledProject, call: Call, status: number): Promise<unknown> {
  const { status: seen, body } = await send(project, call);
  must(project, call, seen === status, `status ${status}`, { status: seen, body });
  if (status >= 400) must(project, call, body.error?.code === codes[status], codes[status]!, body);
  return body.data;
}

async function answersWith(project: RuledProject, call: Call, status: number, data: unknown): Promise<void> {
  const seen = await answered(project, call, status);
  must(project, call, isDeepStrictEqual(seen, data), JSON.stringify(data), seen);
}

/** How often rows, not the rule's text alone, were admitted and refused. */
class Tally {
  readonly counts: Record<Action, { admitted: number; refused: number }> = {
    read: { admitted: 0, refused: 0 },
    create: { admitted: 0, refused: 0 },
    update: { admitted: 0, refused: 0 },
    delete: { admitted: 0, refused: 0 },
  };

  add(action: Action, admitted: boolean): void {
    this.counts[action][admitted ? "admitted" : "refused"]++;
  }

  /** Where one of both is rare, agreement says little. */
  expectBoth(...expected: Action[]): void {
    for (const action of expected) {
      const { admitted, refused } = this.counts[action];
      expect(Math.min(admitted, refused), action).toBeGreaterThan((admitted + refused) / 20);
    }
  }
}

async function serveTables(salt: number, count: number): Promise<{ project: RuledProject; random: Random }> {
  const random = new Random(seed).fork(salt);
  return { project: await RuledProject.serve(random, count), random };
}

test("list and get show the rows that the read rule admits and no other", async () => {
  const { project } = await serveTables(1, tableCount);
  const tally = new Tally();
  for (const table of project.tables)
    for (const caller of project.callers) {
      const early = project.early(table, "read", caller);
      const visible = project
        .rowsOf(table)
        .filter((row) => early === null && project.admits(table.rules.read, caller, { row }));
      const list: Call = { table, caller, method: "GET", path: "" };
      if (early !== null) await answered(project, list, early);
      else
        await answersWith(
          project,
          list,
          200,
          visible.map((row) => project.shown(table, caller, row)),
        );
      for (const row of project.rowsOf(table)) {
        const get: Call = { table, caller, method: "GET", path: `/${row.id}` };
        const isVisible = visible.includes(row);
        if (isVisible) await answersWith(project, get, 200, project.shown(table, caller, row));
        else await answered(project, get, early ?? 403);
        if (early === null && caller.auth !== null) tally.add("read", isVisible);
      }
      await answered(project, { table, caller, method: "GET", path: "/99" }, early ?? 404);
    }
  tally.expectBoth("read");
});

test("writes take place where their rule admits them, and nothing changes where not", async () => {
  const { project, random } = await serveTables(2, tableCount);
  const tally = new Tally();
  for (const table of project.tables)
    for (const kind of random.shuffled(
      [create, update, remove].flatMap((write, i) => Array<Write>([6, 9, 5][i]!).fill(write)),
    ))
      await kind(project, table, random, tally);
  tally.expectBoth("create", "update", "delete");
});

type Write = (project: RuledProject, table: RuledTable, random: Random, tally: Tally) => Promise<void>;

const create: Write = async (project, table, random, tally) => {
  const caller = random.pick(project.callers);
  const taken = project.rowsOf(table);
  const isTaken = taken.length > 0 && random.chance(0.1);
  const id = isTaken ? Number(random.pick(taken).id) : 100 + random.int(0, 1_000_000);
  const full = randomRow(random, id, project.people);
  const sent = Object.fromEntries(Object.entries(full).filter(([column]) => column === "id" || random.chance(0.8)));
  const row = { ...defaults, ...sent };
  const call: Call = { table, caller, method: "POST", path: "", body: sent };
  const refusal = refusalOf(project, call, () =>
    project.admits(table.rules.create, caller, { new: row }) ? (isTaken ? 409 : null) : 403,
  );
  await written(project, call, refusal, tally, id, row);
};

const update: Write = async (project, table, random, tally) => {
  const caller = random.pick(project.callers);
  const stored = anyRow(project, table, random);
  const id = stored?.id ?? 99n;
  const changed = random.some(
    columns.filter((column) => column !== "id"),
    random.int(1, 3),
  );
  const patch = Object.fromEntries(changed.map((column) => [column, randomValue(random, column, project.people)]));
  const call: Call = { table, caller, method: "PATCH", path: `/${id}`, body: patch };
  const row = { ...stored, ...patch };
  const refusal = refusalOf(project, call, () =>
    stored === null ? 404 : mayUpdate(project, table, caller, stored, row) ? null : 403,
  );
  await written(project, call, refusal, tally, Number(id), row);
};

/** An update rule holds with the row before and with the row after in the place of `row`. */
function mayUpdate(project: RuledProject, table: RuledTable, caller: Caller, stored: Row, next: Row): boolean {
  const rule = table.rules.update;
  const holds = (row: Row) => project.admits(rule, caller, { row, old: stored, new: next });
  return holds(stored) && holds(next);
}

const remove: Write = async (project, table, random, tally) => {
  const caller = random.pick(project.callers);
  const stored = anyRow(project, table, random);
  const id = stored?.id ?? 99n;
  const call: Call = { table, caller, method: "DELETE", path: `/${id}` };
  const refusal = refusalOf(project, call, () =>
    stored === null ? 404 : project.admits(table.rules.delete, caller, { row: stored }) ? null : 403,
  );
  await written(project, call, refusal, tally, Number(id), null);
};

/** Null: a row that is not there. */
function anyRow(project: RuledProject, table: RuledTable, random: Random): Row | null {
  const rows = project.rowsOf(table);
  return rows.length === 0 || random.chance(0.05) ? null : random.pick(rows);
}

type RefusalStatus = 401 | 403 | 404 | 409;

/** What the caller and the columns decide comes before what the rows decide. Null: the write takes place. */
function refusalOf(project: RuledProject, call: Call, byRows: () => RefusalStatus | null): RefusalStatus | null {
  const { table, caller, method, body } = call;
  const early = project.early(table, actions[method], caller);
  if (early !== null) return early;
  const forbidden = Object.keys(body ?? {}).some((column) => !project.allows(table, "write", caller, column));
  return forbidden ? 403 : byRows();
}

async function written(
  project: RuledProject,
  call: Call,
  refusal: RefusalStatus | null,
  tally: Tally,
  id: number,
  row: Row | null,
): Promise<void> {
  const { table, caller, method } = call;
  if (caller.auth !== null) tally.add(actions[method], refusal === null);
  if (refusal !== null) await answered(project, call, refusal);
  else {
    const seen = await answered(project, call, method === "POST" ? 201 : 200);
    project.replace(table, BigInt(id), row);
    const isShown = row !== null && project.admits(table.rules.read, caller, { row });
    const data = isShown ? project.shown(table, caller, row) : { id };
    must(project, call, isDeepStrictEqual(seen, data), JSON.stringify(data), seen);
  }
  must(project, call, await project.isAsModelled(table), "a database as the model", "another");
}

const hiddenTables = Math.ceil(tableCount / 5);

test("a hidden column is an unknown one in every list parameter", async () => {
  const { project } = await serveTables(3, tableCount);
  const callersOf = (table: RuledTable) =>
    project.callers.filter((caller) => project.early(table, "read", caller) === null);
  // Three tables in ten hide nothing from anybody who may list them.
  const hiding = project.tables.filter((table) =>
    callersOf(table).some((caller) => columns.some((column) => !project.allows(table, "read", caller, column))),
  );
  let asked = 0;
  for (const table of hiding.slice(0, hiddenTables))
    for (const caller of callersOf(table)) {
      for (const column of columns) {
        const isReadable = project.allows(table, "read", caller, column);
        for (const parameter of parametersOf(column)) {
          const call: Call = { table, caller, method: "GET", path: `?${parameter}` };
          const { status, body } = await send(project, call);
          if (isReadable) {
            must(project, call, status === 200, "status 200", { status, body });
            continue;
          }
          asked++;
          const path = `?${parameter.replaceAll(column, "nowhere")}`;
          const unknown = await send(project, { ...call, path });
          const text = JSON.stringify(unknown.body).replaceAll("nowhere", column);
          must(project, call, status === 400 && JSON.stringify(body) === text, text, { status, body });
        }
      }
    }
  expect(asked).toBeGreaterThan(hiddenTables);
});

function parametersOf(column: string): readonly string[] {
  return [
    `filter[${column}][is_null]=true`,
    `select=${column}`,
    `select=id,${column}`.replace("id,id", "id"),
    `sort=${column}`,
    `sort=-${column}`,
  ];
}
