import { type Database, NotSetUpError, type Statement, statement, UnavailableError } from "../../platform/database.js";
import type { Log } from "../../platform/platform.js";
import { release } from "../../platform/release.js";
import type { Problem } from "../../problems/problem.js";
import { configFile } from "../../project/file-names.js";
import { type SystemMigration, systemMigrations } from "./migrations.js";

/** The migrations of the server's own tables that a database has not had. */
export interface PendingMigrations {
  readonly outcome: "pending";
  /** How many migrations the database has had. */
  readonly version: number;
  /** In the order in which they are carried out. */
  readonly due: readonly SystemMigration[];
}

/** `later_release`: a later release of the server has migrated the database. */
export type MigrationStatus = PendingMigrations | { readonly outcome: "later_release"; readonly problem: Problem };

/** Only tests pass other `migrations`. */
export async function pendingMigrations(
  database: Database,
  migrations: readonly SystemMigration[] = systemMigrations,
): Promise<MigrationStatus> {
  const newest = await newestMigration(database);
  const version = newest?.version ?? 0;
  if (version > migrations.length)
    return { outcome: "later_release", problem: laterRelease(newest!, migrations.length) };
  return { outcome: "pending", version, due: migrations.slice(version) };
}

/**
 * To be run in one transaction. The row that records a migration is inserted before the migration's statements run. If
 * another process carries out the same migration meanwhile, the row's key exists already and the transaction fails.
 */
export function migrationStatements({ version, due }: PendingMigrations, nowMs: number): readonly Statement[] {
  if (due.length === 0) return [];
  const statements = due.flatMap(({ statements }, i) => [
    record(version + i + 1, nowMs),
    ...statements.map((sql) => statement(sql)),
  ]);
  return [migrationsTable, ...statements];
}

/**
 * Carries out pending migrations. Returns the problem if a later release of the server has migrated the database, which
 * is then left as it is.
 */
export async function bringUpSystemTables(
  database: Database,
  nowMs: number,
  migrations: readonly SystemMigration[] = systemMigrations,
): Promise<Problem | null> {
  for (;;) {
    const pending = await pendingMigrations(database, migrations);
    if (pending.outcome === "later_release") return pending.problem;
    if (pending.due.length === 0) return null;
    try {
      await database.batch(migrationStatements(pending, nowMs));
      return null;
    } catch (error) {
      if (error instanceof UnavailableError || !(await hasMoved(database, pending, migrations))) throw error;
    }
  }
}

/**
 * Wraps a database so that it carries out pending migrations before its first use, for a Worker, which runs nothing at
 * start. A database that was never set up stays empty. If a later release has migrated the database, each use throws
 * UnavailableError. Only tests pass other `migrations`.
 */
export function broughtUpFirst(
  database: Database,
  log: Log,
  now: () => number,
  migrations: readonly SystemMigration[] = systemMigrations,
): Database {
  // A flag and not a promise: the request that began to carry out migrations may be cancelled, and other requests would
  // wait for its promise forever.
  let isUp = false;
  const ready = async (): Promise<void> => {
    if (isUp) return;
    const pending = await pendingMigrations(database, migrations);
    const isNew = pending.outcome === "pending" && pending.version === 0 && !(await isSetUp(database));
    if (isNew) return;
    const isDue = pending.outcome === "later_release" || pending.due.length > 0;
    const problem = isDue ? await bringUpSystemTables(database, now(), migrations) : null;
    if (problem !== null) {
      log.warn(problem.message);
      throw new UnavailableError(problem.message);
    }
    isUp = true;
  };
  return {
    ...database,
    query: async (statements, long) => {
      await ready();
      return database.query(statements, long);
    },
    batch: async (statements, long) => {
      await ready();
      return database.batch(statements, long);
    },
    migrate: async (statements, long) => {
      await ready();
      await database.migrate(statements, long);
    },
  };
}

/**
 * Whether another process has carried out migrations since `pendingMigrations` was asked. If so, migrations that have
 * failed are worth another try; if not, they would fail in the same way.
 */
export async function hasMoved(
  database: Database,
  { version }: PendingMigrations,
  migrations: readonly SystemMigration[] = systemMigrations,
): Promise<boolean> {
  const now = await pendingMigrations(database, migrations);
  return now.outcome === "later_release" || now.version > version;
}

interface Newest {
  readonly version: number;
  readonly release: string;
}

async function newestMigration(database: Database): Promise<Newest | null> {
  const found = await orNull(
    database.query([statement("SELECT version, release FROM _migrations ORDER BY version DESC LIMIT 1")]),
  );
  const row = found?.[0]?.rows[0];
  return row === undefined ? null : { version: row[0] as number, release: row[1] as string };
}

async function isSetUp(database: Database): Promise<boolean> {
  return (await orNull(database.query([statement("SELECT 1 AS found FROM _schema LIMIT 1")]))) !== null;
}

async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof NotSetUpError) return null;
    throw error;
  }
}

function laterRelease(newest: Newest, known: number): Problem {
  return {
    file: configFile,
    path: "database.url",
    message: `the database was brought to version ${newest.version} of the server's own tables by svc ${newest.release}; this is svc ${release}, which knows version ${known}: serve it with ${newest.release} or a later release`,
  };
}

const migrationsTable = statement(`CREATE TABLE IF NOT EXISTS _migrations (
    version INTEGER PRIMARY KEY,
    release TEXT NOT NULL,
    applied_at INTEGER NOT NULL
  )`);

function record(version: number, nowMs: number): Statement {
  return statement(
    "INSERT INTO _migrations (version, release, applied_at) VALUES (?, ?, ?)",
    BigInt(version),
    release,
    BigInt(nowMs),
  );
}
