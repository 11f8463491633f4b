import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Database } from "../../../src/platform/database.js";
import type { Expression } from "../../../src/rules/ast.js";
import type { Explanation } from "../../../src/wire/explanation.js";
import { rowsOf } from "../../support/people.js";
import { RuledProject } from "../rules/project.js";
import { type Action, columns, defaults, type RuledTable, randomRow, randomValue, shape } from "../rules/tables.js";
import type { Caller } from "../support/callers.js";
import { evaluate, type World } from "../support/evaluate.js";
import { print } from "../support/print.js";
import type { Random } from "../support/random.js";
import { type Row, toWire } from "../support/values.js";

/** A call, and what it is explained by. */
interface Call {
  readonly table: RuledTable;
  readonly caller: Caller;
  readonly action: Action;
  /** Null for a list and for a new row. */
  readonly id: bigint | null;
  /** What a write sends; null for nothing. */
  readonly sent: Row | null;
}

/** How often calls were let through, refused by a rule for their row, and refused before; and terms compared. */
export interface Seen {
  allowed: number;
  denied: number;
  early: number;
  terms: number;
}

/**
 * Serves tables with random rules, and asks for each of some calls first why it is allowed or not, then makes it. The
 * verdict has to be that of the call, each term what an evaluator of SQL's logic says of it, and the database as it was.
 */
export async function compareVerdicts(
  random: Random,
  tableCount: number,
  callsEach: number,
  seen: Seen,
): Promise<void> {
  const project = await RuledProject.serve(random, tableCount);
  const { server } = project;
  const keyId = String((await rowsOf(server, "SELECT id FROM _service_keys"))[0]![0]);
  const digest = await digestOf(server.database);
  for (const table of project.tables)
    for (const action of random.shuffled(actions.flatMap((each) => Array<Action>(callsEach).fill(each)))) {
      const call = randomCall(project, table, action, random);
      const before = await digest();
      const explanation = await explained(project, call, keyId);
      if ((await digest()) !== before) throw failure(project, call, "the database as it was", "changed");
      compareTerms(project, call, explanation, seen);
      await compareCall(project, call, explanation, seen);
    }
}

const actions: readonly Action[] = ["read", "create", "update", "delete"];

function randomCall(project: RuledProject, table: RuledTable, action: Action, random: Random): Call {
  const caller = random.pick(project.callers);
  const rows = project.rowsOf(table);
  const id = rows.length === 0 || random.chance(0.05) ? 99n : (random.pick(rows).id as bigint);
  const call = { table, caller, action };
  switch (action) {
    case "read":
      return { ...call, id: random.chance(0.2) ? null : id, sent: null };
    case "delete":
      return { ...call, id, sent: null };
    case "create": {
      const row = randomRow(random, 100 + random.int(0, 1_000_000), project.people);
      const sent = Object.entries(row).filter(([column]) => column === "id" || random.chance(0.8));
      return { ...call, id: null, sent: Object.fromEntries(sent) };
    }
    case "update": {
      const changed = random.some(
        [...columns].filter((column) => column !== "id"),
        random.int(1, 3),
      );
      const sent = changed.map((column) => [column, randomValue(random, column, project.people)]);
      return { ...call, id, sent: Object.fromEntries(sent) };
    }
  }
}

async function explained(project: RuledProject, call: Call, keyId: string): Promise<Explanation> {
  const { table, caller, action, id, sent } = call;
  const as =
    caller.auth === null ? { key: keyId } : caller.auth.id === null ? { anonymous: true } : { user: caller.auth.id };
  const body = {
    as,
    action,
    table: table.name,
    ...(id !== null && { key: { id: Number(id) } }),
    ...(sent !== null && { values: wireOf(sent) }),
  };
  const root = project.callers.find(({ name }) => name === "root")!;
  const response = await project.server.request("/admin/api/explain", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...root.headers },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { readonly data: Explanation };
  if (response.status !== 200) throw failure(project, call, "an explanation", answer);
  return answer.data;
}

const methods = { read: "GET", create: "POST", update: "PATCH", delete: "DELETE" } as const;

async function compareCall(project: RuledProject, call: Call, explanation: Explanation, seen: Seen): Promise<void> {
  const { table, caller, action, id, sent } = call;
  const { server } = project;
  server.log.requests.length = 0;
  const response = await server.request(`/api/${table.name}${id === null ? "" : `/${id}`}`, {
    method: methods[action],
    headers: { "Content-Type": "application/json", ...caller.headers },
    ...(sent !== null && { body: JSON.stringify(wireOf(sent)) }),
  });
  const body = (await response.json()) as Answer;
  await server.settled();
  const rule = server.log.requests.map((line) => / rule=(\S+)/.exec(line)?.[1]).find(Boolean) ?? null;
  const said = {
    isAllowed: explanation.allowed,
    refusal: explanation.refusal,
    rule: explanation.refusal === null || explanation.refusal.status === 404 ? null : explanation.rule?.name,
  };
  const { status } = response;
  // A key that is taken already refuses what the rules let through.
  const isAllowed = status < 300 || status === 409;
  const met = {
    isAllowed,
    refusal: isAllowed ? null : { status, code: body.error?.code, message: body.error?.message },
    rule,
  };
  if (!isDeepStrictEqual(said, met)) throw failure(project, call, JSON.stringify(met), explanation);
  if (isAllowed && action === "read" && id === null) {
    const { rows, allowed } = explanation.counts!;
    const counted = [project.rowsOf(table).length, body.meta!.total];
    if (!isDeepStrictEqual([rows, allowed], counted))
      throw failure(project, call, JSON.stringify(counted), explanation);
  }
  if (isAllowed) seen.allowed++;
  else if (explanation.sql === null) seen.early++;
  else seen.denied++;
  if (status < 300) follow(project, call);
}

interface Answer {
  readonly error?: { readonly code: string; readonly message: string };
  readonly meta?: { readonly total: number };
}

/** The model follows what was done. */
function follow(project: RuledProject, { table, action, id, sent }: Call): void {
  if (action === "delete") project.replace(table, id!, null);
  else if (action === "create") {
    const row = { ...defaults, ...sent };
    project.replace(table, BigInt(row.id as bigint), row);
  } else if (action === "update") project.replace(table, id!, { ...storedOf(project, table, id!), ...sent! });
}

function storedOf(project: RuledProject, table: RuledTable, id: bigint): Row | undefined {
  return project.rowsOf(table).find((row) => row.id === id);
}

/** Each term has to be what an evaluator of SQL's logic says of it. */
function compareTerms(project: RuledProject, call: Call, explanation: Explanation, seen: Seen): void {
  const { table, caller, action } = call;
  const isOfAction = explanation.rule?.name === `rules.${table.name}.${action}`;
  if (caller.auth === null || !isOfAction) return;
  const worlds = worldsOf(project, call);
  if (worlds === null) return;
  const leaves = termsIn(table.rules[action]);
  const expected = worlds.flatMap((world) => leaves.map((leaf) => [print(leaf), evaluate(leaf, world)]));
  const found = explanation.terms.map(({ text, truth, unfinished }, i) => {
    if (unfinished) throw failure(project, call, "finished terms", explanation);
    // Only the outermost parentheses are none of the term.
    const printed = expected[i]?.[0];
    return [printed === `(${text})` ? printed : text, truth];
  });
  if (!isDeepStrictEqual(found, expected)) throw failure(project, call, JSON.stringify(expected), explanation);
  seen.terms += found.length;
}

/** What rules see of a call: twice for an update. Null where there is no row, and for lists. */
function worldsOf(project: RuledProject, { table, caller, action, id, sent }: Call): readonly World[] | null {
  const worldOf = (rows: World["rows"]) => project.worldOf(caller, rows);
  if (action === "create") return [worldOf({ new: { ...defaults, ...sent } })];
  const row = id === null ? undefined : storedOf(project, table, id);
  if (row === undefined) return null;
  if (action !== "update") return [worldOf({ row })];
  const next = { ...row, ...sent };
  return [row, next].map((of) => worldOf({ row: of, old: row, new: next }));
}

function termsIn(rule: Expression): readonly Expression[] {
  if (rule.kind === "and" || rule.kind === "or") return rule.terms.flatMap(termsIn);
  return rule.kind === "not" ? termsIn(rule.term) : [rule];
}

function wireOf(row: Row): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, toWire(shape[name as keyof typeof shape], value)]),
  );
}

/** A function that gives a digest of all rows of all tables, the server's own included. */
export async function digestOf(database: Database): Promise<() => Promise<string>> {
  const [found] = await database.query([
    {
      sql: `SELECT t.name AS tbl, c.name AS col FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c
        WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND t.name NOT LIKE '\\_cf\\_%' ESCAPE '\\'
        ORDER BY t.name, c.cid`,
      params: [],
    },
  ]);
  const columnsOf = new Map<string, string[]>();
  for (const [table, column] of found!.rows)
    columnsOf.set(String(table), [...(columnsOf.get(String(table)) ?? []), `quote("${column}")`]);
  const statements = [...columnsOf].map(([table, names]) => ({
    sql: `SELECT group_concat(${names.join(" || ',' || ")}, ';') AS rows FROM "${table}"`,
    params: [],
  }));
  return async () => {
    const results = await database.query(statements);
    return createHash("sha256")
      .update(JSON.stringify(results.map(({ rows }) => rows)))
      .digest("hex");
  };
}

function failure(project: RuledProject, call: Call, expected: string, seen: unknown): Error {
  const { table, caller, action, id, sent } = call;
  const row = id === null ? undefined : storedOf(project, table, id);
  const asked = `${action} ${table.name} ${id ?? ""} ${sent === null ? "" : JSON.stringify(wireOf(sent))}`;
  return new Error(
    [
      `${asked} as ${caller.name}: expected ${expected}`,
      `saw ${JSON.stringify(seen, null, 1)}`,
      `rule: ${print(table.rules[action])}`,
      `row: ${row === undefined ? "none" : JSON.stringify(wireOf(row))}`,
      ...project.server.log.lines,
    ].join("\n"),
  );
}
