import { realpathSync, statSync } from "node:fs";
import type { Commits } from "../platform/commits.js";
import { type Database, UnavailableError } from "../platform/database.js";
import type { Log } from "../platform/platform.js";
import { ProblemsError } from "../problems/problem.js";
import { polledCommits } from "../remote/polled-commits.js";
import { bringUpSystemTables } from "../schema/system/bring-up.js";
import { databaseFile, lockOfDatabase } from "./database/database-file.js";
import { type FileLock, lockFile } from "./database/file-lock.js";
import { openLibsql } from "./database/libsql.js";
import { cannotBeOpened } from "./database/libsql-connection.js";
import { closeOwnFolder, makePrivateFile } from "./private-files.js";
import { type ProjectDirectory, withConfigLines } from "./project-directory.js";
import { StderrLog } from "./stderr-log.js";
import { systemClock, systemFetch } from "./system.js";

/**
 * Opens the database of `database.url` for a command, next to a server that may be running on it. First makes the
 * project's .svc folder private to its owner. Throws UnavailableError.
 */
export async function openProjectDatabase(
  project: ProjectDirectory,
  environment: NodeJS.ProcessEnv,
): Promise<Database> {
  const { config, directory } = project;
  warnOfOpenFolder(directory, new StderrLog(config.log, systemClock));
  const path = databaseFile(config, directory);
  if (path === null) return openServer(project, environment);
  return openLibsql({ path, synchronous: config.database.synchronous, commandLine: true });
}

/** A database that a command opens to erase something, so that the deleted data does not stay readable in the file. */
export interface ErasingDatabase {
  readonly database: Database;
  /**
   * Closes the database, and returns where the deleted data may at most still be read. `server`: on the disks of the
   * libSQL server, and of its replicas and backups. `log`: in the WAL, which a server or another program uses at the
   * same time. `free`, the best case: only in parts of the file that SQLite had already given up for reuse before the
   * deletion.
   */
  close(): Promise<"server" | "log" | "free">;
}

/**
 * Opens the database of `database.url` for a command that erases data. In an embedded file, what the command deletes is
 * overwritten with zeros. The command takes the database's lock if it is free; meanwhile, only a server with
 * `server.second` can start. If a server holds the lock, the command does not checkpoint, because two processes that do
 * so can lose writes. Throws UnavailableError.
 */
export async function openToErase(project: ProjectDirectory, environment: NodeJS.ProcessEnv): Promise<ErasingDatabase> {
  const { config, directory } = project;
  warnOfOpenFolder(directory, new StderrLog(config.log, systemClock));
  const path = databaseFile(config, directory);
  if (path === null) {
    const database = await openServer(project, environment);
    return {
      database,
      close: async () => {
        await database.close();
        return "server";
      },
    };
  }
  const lock = lockDatabase(path);
  try {
    const database = openLibsql({
      path,
      synchronous: config.database.synchronous,
      commandLine: true,
      checkpoints: lock !== null,
      overwritesDeleted: true,
    });
    return {
      database,
      close: async () => {
        try {
          await database.close();
          // SQLite empties or removes the WAL once all of it is in the database and nobody reads it any more.
          const wal = statSync(`${realpathSync(path)}-wal`, { throwIfNoEntry: false });
          return (wal?.size ?? 0) === 0 ? "free" : "log";
        } finally {
          lock?.release();
        }
      },
    };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** The token comes from the environment. */
async function openServer({ config }: ProjectDirectory, environment: NodeJS.ProcessEnv): Promise<Database> {
  const { url, auth_token_env } = config.database;
  // A start on an embedded file does not wait for the client.
  const { openRemoteLibsql } = await import("../remote/libsql.js");
  return openRemoteLibsql({ url, authToken: environment[auth_token_env] || null, fetch: systemFetch });
}

/** A database that a server has open. */
export interface ServerDatabase {
  readonly database: Database;
  readonly commits: Commits;
  /**
   * Interrupts the long work and takes no more of it, while short reads and writes go on. Does nothing for a libSQL
   * server.
   */
  endLongWork(): Promise<void>;
  /** Closes the database, and then releases its lock. */
  close(): Promise<void>;
}

/** How often a server next to another one looks whether that one is gone. */
const takeOverEveryMs = 1_000;

/**
 * Opens the database for a server. Only the server that holds the lock of an embedded database checkpoints
 * (`docs/reference/backends.md#the-database-file`). If another server, or a command, holds the lock, throws
 * UnavailableError; with `server.second`, the server instead runs next to that one, and takes the lock over once it is
 * free.
 */
export async function openServerDatabase(
  project: ProjectDirectory,
  environment: NodeJS.ProcessEnv,
  log: Log,
): Promise<ServerDatabase> {
  const { config, directory } = project;
  warnOfOpenFolder(directory, log);
  const path = databaseFile(config, directory);
  if (path === null) {
    const database = await openServer(project, environment);
    return { database, commits: polledCommits(), endLongWork: async () => {}, close: () => database.close() };
  }
  let lock = lockDatabase(path);
  if (lock === null && !config.server.second) {
    // No ProblemsError, as it is no mistake in the configuration: if the other server is about to end, another attempt
    // succeeds.
    throw new UnavailableError(
      `another server has ${path}: stop that one, or wait until it has stopped; second = true under [server] in svc.toml lets this one run beside it`,
    );
  }
  const database = openLibsql({ path, synchronous: config.database.synchronous, checkpoints: lock !== null });
  database.limitMemory();
  const takeOver = () => {
    try {
      lock = lockDatabase(path);
    } catch {
      // The next turn of the timer tries again.
    }
    if (lock === null) return;
    clearInterval(waiting);
    database.startCheckpoints();
    log.warn("the other server on the database is gone: this one checkpoints from now on");
  };
  const waiting = lock === null ? setInterval(takeOver, takeOverEveryMs) : undefined;
  waiting?.unref();
  return {
    database,
    commits: database.commits,
    endLongWork: () => database.endLongWork(),
    close: async () => {
      clearInterval(waiting);
      await database.close();
      lock?.release();
    },
  };
}

/** Null if another server or command holds the lock. Throws UnavailableError if the database file cannot be made. */
function lockDatabase(path: string): FileLock | null {
  try {
    makePrivateFile(path);
    // Servers that reach the file by different paths have to find the same lock.
    return lockFile(lockOfDatabase(realpathSync(path)));
  } catch (error) {
    throw cannotBeOpened(path, error);
  }
}

function warnOfOpenFolder(directory: string, log: Log): void {
  for (const open of closeOwnFolder(directory))
    log.warn(`${open} belongs to somebody else, and others can read it: make it its owner's alone`);
}

/**
 * Brings the server's own tables up to this release. Throws ProblemsError if a later release has migrated the database;
 * the problem has the line of svc.toml that names the database.
 */
export async function bringUpProjectDatabase(project: ProjectDirectory, database: Database): Promise<void> {
  const problem = await bringUpSystemTables(database, systemClock.now());
  if (problem !== null) throw new ProblemsError(withConfigLines(project, [problem]));
}
