import type { Caller } from "../auth/callers/principal.js";
import { emailKey, isEmail } from "../auth/email.js";
import { type ImportedUser, importUsers, usersAmong } from "../auth/store/users.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { Tally } from "../metering/tally.js";
import { ConstraintError, type Database, type Statement } from "../platform/database.js";
import { deferForeignKeys } from "../platform/foreign-key-check.js";
import { Memo } from "../platform/memo.js";
import type { Platform } from "../platform/platform.js";
import { ask } from "../platform/query.js";
import { shown } from "../problems/problem.js";
import { isReadOnly, type LiveProject } from "../schema/live-project.js";
import { type Access, accessOf } from "../tables/access/access.js";
import type { WriteExecution } from "../tables/execution/execution.js";
import { noPlanChecks } from "../tables/plan/plan-check.js";
import { createValues } from "../tables/request/row-request.js";
import { callerValues } from "../tables/routes/api-request.js";
import { insertOf } from "../tables/row/row-write.js";
import { anyRow } from "../tables/sql/row.js";
import type { WriteStatement } from "../tables/sql/write-statement.js";
import { type WriteStep, writeStep } from "../tables/together/step.js";
import { noServerStatements, writeTogether } from "../tables/together/together.js";
import { conflictOf, type Upsert, type UpsertTargets, upsertStep } from "../tables/together/upsert.js";
import type { FixtureRow, FixtureUser, Written } from "./case-file.js";

/** Users and rows to be written, past the rules. */
export interface Fixtures {
  readonly users: readonly FixtureUser[];
  readonly rows: readonly FixtureRow[];
}

/** Where they are written to. */
export interface FixtureTarget {
  readonly database: Database;
  readonly project: LiveProject;
  readonly platform: Pick<Platform, "clock" | "random">;
  /** The stored form of a user's password. */
  readonly hash: (password: string) => Promise<string>;
  /**
   * Whether tables may have rows already: one with the same primary key is changed, and a user who is there is left as
   * they are.
   */
  readonly isForced: boolean;
}

/** Why nothing was written: the row or user to blame. */
export interface Unwritten {
  readonly outcome: "refused";
  readonly at: Written;
  readonly message: string;
}

/** What has become of fixtures. Users who were left as they are do not count. */
export type WrittenFixtures =
  | { readonly outcome: "written"; readonly users: number; readonly rows: number }
  | Unwritten;

function refused({ at }: { readonly at: Written }, message: string): Unwritten {
  return { outcome: "refused", at, message };
}

/**
 * Writes all fixtures as one transaction, or nothing. The rows may come in any order: foreign keys are checked at the
 * end. Columns that the server sets by itself may be given.
 */
export async function writeFixtures(fixtures: Fixtures, target: FixtureTarget): Promise<WrittenFixtures> {
  const { database, project, platform } = target;
  const users = await newUsers(fixtures.users, target);
  if ("outcome" in users) return users;
  const rows = (await inFullTable(fixtures.rows, target)) ?? steps(fixtures.rows, target);
  if ("outcome" in rows) return rows;
  const done = { outcome: "written", users: users.length, rows: rows.length } as const;
  const first = users.length === 0 ? [] : [importUsers(users, platform.clock.now(), "cli")];
  if (rows.length === 0) {
    if (first.length > 0) await database.batch(first);
    return done;
  }
  const checkedLast = new ForeignKeysLast(database);
  const failed = await written(rows, first, executionFor(target, checkedLast));
  if (failed === null) return done;
  if (!checkedLast.haveFailed) {
    const row = fixtures.rows[failed.at]!;
    return refused(row, `${row.table}: ${failed.refusal.message}`);
  }
  // At the end SQLite does not say which row has failed. With each row checked at once, it is the first one that does
  // not find what it refers to.
  const order = byDependence(fixtures.rows, project);
  const inOrder = order.map((i) => rows[i]!);
  const blamed = await written(inOrder, first, executionFor(target, database));
  // Another program may have written meanwhile what was missing.
  if (blamed === null) return done;
  const row = fixtures.rows[order[blamed.at]!]!;
  return refused(row, `${row.table}: a column refers to a row that is not there`);
}

/** A database that checks foreign keys at the end of each batch. */
class ForeignKeysLast {
  /** Whether a foreign key was the reason that a batch was refused. */
  haveFailed = false;

  constructor(private readonly database: Database) {}

  query: Database["query"] = (statements, long) => this.database.query(statements, long);

  batch: Database["batch"] = async (statements, long) => {
    try {
      const results = await this.database.batch([deferForeignKeys, ...statements], long);
      return results.slice(1);
    } catch (error) {
      if (error instanceof ConstraintError && error.kind === "foreign_key") this.haveFailed = true;
      throw error;
    }
  };
}

async function newUsers(
  users: readonly FixtureUser[],
  { database, hash, isForced }: FixtureTarget,
): Promise<Unwritten | readonly ImportedUser[]> {
  const wrong = users.find(({ email }) => !isEmail(email));
  if (wrong !== undefined)
    return refused(
      wrong,
      `${shown(wrong.name)}: expected an email of the form local@domain.tld, not ${shown(wrong.email)}`,
    );
  const ids = users.map(({ name }) => name);
  const keys = users.map(({ email }) => emailKey(email));
  const twice = users.find((_, i) => keys.indexOf(keys[i]!) < i);
  if (twice !== undefined) return refused(twice, `${shown(twice.name)}: another user has the same address`);
  const there = await ask(database, usersAmong(ids, keys));
  const withAddress = users.find(({ name, email }) =>
    there.some(({ id, emailKey: key }) => id !== name && key === emailKey(email)),
  );
  if (withAddress !== undefined)
    return refused(withAddress, `${shown(withAddress.name)}: the address is that of another user`);
  const isThere = ({ name }: FixtureUser) => there.some(({ id }) => id === name);
  const known = users.find(isThere);
  if (known !== undefined && !isForced)
    return refused(known, `${shown(known.name)}: there is such a user already; --force leaves them as they are`);
  const missing = users.filter((user) => !isThere(user));
  const all: ImportedUser[] = [];
  // One after the other, as the hasher refuses more than a few dozen at once.
  for (const { name, email, role, emailVerified, disabled, password } of missing) {
    const passwordHash = password === null ? null : await hash(password);
    all.push({ id: name, email, emailKey: emailKey(email), role, emailVerified, disabled, passwordHash });
  }
  return all;
}

const hourMs = 3_600_000;

const backend: Caller = { kind: "key", id: "cli", scopes: ["project:backend"] };

/** The first row whose table has rows already. */
async function inFullTable(
  rows: readonly FixtureRow[],
  { database, project, isForced }: FixtureTarget,
): Promise<Unwritten | null> {
  if (isForced) return null;
  const firsts = new Map<string, FixtureRow>();
  for (const row of rows) if (!firsts.has(row.table)) firsts.set(row.table, row);
  for (const { at, table } of firsts.values()) {
    const known = project.schema.tables.get(table);
    if (known === undefined) continue;
    const [found] = await database.query([anyRow(known)]);
    if (found!.rows.length > 0) return refused({ at }, `${table} has rows already: --force writes all the same`);
  }
  return null;
}

function steps(rows: readonly FixtureRow[], target: FixtureTarget): Unwritten | readonly WriteStep[] {
  const execution = executionFor(target, target.database);
  const made: WriteStep[] = [];
  const tables = new Map<string, TableTargets | Refusal>();
  for (const { at, table, values } of rows) {
    const targets = tables.get(table) ?? targetsOf(table, target);
    tables.set(table, targets);
    const step = isRefusal(targets) ? targets : stepOf(targets, values, target, execution);
    if (isRefusal(step)) return refused({ at }, `${shown(table)}: ${step.message}`);
    made.push(step);
  }
  return made;
}

/** What the rows of a table share: their access, also to change them, and the statements that were made for earlier rows. */
interface TableTargets extends UpsertTargets {
  /** By which values are read. */
  readonly open: Access;
  readonly keyed: Upsert;
}

function targetsOf(name: string, { project, platform }: FixtureTarget): TableTargets | Refusal {
  const table = project.schema.tables.get(name);
  if (table === undefined) return badRequest("there is no such table");
  if (isReadOnly(project, table)) return badRequest("the table can only be read");
  const accessTo = (action: "create" | "update") =>
    accessOf({
      caller: backend,
      table,
      rules: project.rules.get(table.name)!,
      action,
      catalog: project.catalog,
      known: new Memo(0),
      nowSeconds: Math.floor(platform.clock.now() / 1000),
    }) as Access;
  const create = { ...accessTo("create"), callerOrNull: new Set<never>() };
  const writes = new Memo<WriteStatement>(statementsBytesMax);
  const columns = table.primaryKey.map((column) => table.columns.get(column)!);
  return {
    create: { access: create, writes },
    update: { access: accessTo("update"), writes },
    open: openTo(create),
    keyed: { columns, onDuplicate: "update" },
  };
}

/** Of the statements' keys alone. */
const statementsBytesMax = 65_536;

function stepOf(
  targets: TableTargets,
  given: FixtureRow["values"],
  { isForced }: FixtureTarget,
  execution: WriteExecution,
): WriteStep | Refusal {
  const { create, open, keyed } = targets;
  const values = createValues(open, given, () => false);
  if (isRefusal(values)) return values;
  if (isForced && keyed.columns.length > 0 && conflictOf(keyed, values) !== null)
    return upsertStep(keyed, targets, values, execution);
  const insert = insertOf(create, values, execution);
  return isRefusal(insert) ? insert : writeStep(insert, execution);
}

/** The access by which the values of a fixture are read: it may set what the server else sets by itself. */
function openTo(access: Access): Access {
  const columns = [...access.table.columns].map(([name, column]) => [name, { ...column, managed: null }] as const);
  return { ...access, table: { ...access.table, columns: new Map(columns) }, mayWrite: () => true };
}

function executionFor({ platform }: FixtureTarget, database: WriteExecution["database"]): WriteExecution {
  const nowMs = platform.clock.now();
  return {
    database,
    tally: new Tally(),
    plans: noPlanChecks,
    values: callerValues(backend, Math.floor(nowMs / 1000)),
    nowMs,
    random: platform.random,
    changedBy: () => ({ at: nowMs, principalKind: "key", principalId: "cli", attemptId: null }),
    longWork: () => ({ principal: "cli", isKey: true, withinMs: hourMs }),
  };
}

/** Writes the rows after `first`; the refusal of the row with the number `at`, after which nothing is written. */
async function written(
  steps: readonly WriteStep[],
  first: readonly Statement[],
  execution: WriteExecution,
): Promise<{ readonly at: number; readonly refusal: Refusal } | null> {
  const outcome = await writeTogether(steps, execution, {
    ...noServerStatements,
    around: (index) => ({ before: index === 0 ? first : [], after: [] }),
  });
  if (outcome.outcome === "stopped") throw new Error(`fixtures were stopped: ${outcome.reason}`);
  return outcome.outcome === "refused" ? outcome : null;
}

/** The numbers of the rows, those of a table after those of the tables that it refers to. */
function byDependence(rows: readonly FixtureRow[], { schema }: LiveProject): readonly number[] {
  const ranks = new Map<string, number>();
  const rankOf = (name: string): number => {
    const known = ranks.get(name);
    if (known !== undefined) return known;
    // Where tables refer to each other in a circle, one of them comes first.
    ranks.set(name, 0);
    const columns = [...(schema.tables.get(name)?.columns.values() ?? [])];
    const before = columns.flatMap(({ references }) => (references === null ? [] : [rankOf(references.table)]));
    const rank = 1 + Math.max(-1, ...before);
    ranks.set(name, rank);
    return rank;
  };
  return rows.map((_, i) => i).sort((a, b) => rankOf(rows[a]!.table) - rankOf(rows[b]!.table) || a - b);
}
