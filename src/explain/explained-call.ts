import type { Caller } from "../auth/callers/principal.js";
import { isRefusal, Refusal } from "../http/refusal.js";
import { Tally } from "../metering/tally.js";
import {
  DeadlineError,
  type LongWork,
  QueueFullError,
  type Result,
  type Statement,
  StatementError,
  type Statements,
} from "../platform/database.js";
import { Memo } from "../platform/memo.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import type { Table } from "../project/model.js";
import type { RuleAction, TableRules } from "../rules/ast.js";
import type { LiveProject } from "../schema/live-project.js";
import { type Access, accessOf } from "../tables/access/access.js";
import type { WriteExecution } from "../tables/execution/execution.js";
import { callerValues } from "../tables/routes/api-request.js";
import { type Action, permittedAccess } from "../tables/routes/permitted-request.js";
import { rememberedOf } from "../tables/routes/remembered.js";

/** What explaining a call needs: the database, the platform and the project. */
export interface ExplainServices {
  /** The database, which is only read from. */
  readonly database: Pick<Statements, "query">;
  readonly platform: Pick<Platform, "clock" | "random" | "log">;
  readonly config: Config;
  readonly project: LiveProject;
  /**
   * Returns what the database is told with a query of an explanation that has taken `takenMs` milliseconds so far: on
   * whose behalf it works, since callers take turns at long work, and how much longer it may work.
   */
  readonly longWork: (takenMs: number) => LongWork;
}

/** What is to be explained: a kind of action on one table, by one caller. */
export interface ExplainedCall {
  readonly services: ExplainServices;
  readonly caller: Caller;
  readonly table: Table;
  readonly action: RuleAction;
  /** Why every request of the caller is refused, such as a disabled account; null where they are accepted. */
  readonly shutOut: string | null;
  readonly nowMs: number;
  /** The statements that were sent to the database for the explanation, in their order. */
  readonly sent: Statement[];
  readonly timer: Timer;
}

/** Measures how long an explanation takes, and how much time it has left. */
export interface Timer {
  /**
   * Returns what the database is told with a query of the explanation: on whose behalf it works, since callers take
   * turns at long work, and how long it may take: the given share, from 0 to 1, of the time that the explanation has
   * left.
   */
  longWork(share?: number): LongWork;
  /** Returns how many milliseconds the explanation has taken so far. */
  taken(): number;
}

/** Makes the timer of an explanation, which begins to run now. */
export function timerOf({ platform, longWork }: ExplainServices): Timer {
  const beganMs = platform.clock.elapsed();
  const taken = () => platform.clock.elapsed() - beganMs;
  return {
    taken,
    longWork: (share = 1) => {
      const work = longWork(taken());
      return { ...work, withinMs: work.withinMs * share };
    },
  };
}

/**
 * Runs statements that only read, sent together, and returns their results. They may take the given share, from 0 to 1,
 * of the time that the explanation has left.
 */
export function query(
  { services, sent, timer }: ExplainedCall,
  statements: readonly Statement[],
  share = 1,
): Promise<readonly Result[]> {
  sent.push(...statements);
  return services.database.query(statements, timer.longWork(share));
}

/**
 * Runs statements that only read, as `query` does; undefined where they have not ended in time, or the database cannot
 * execute one of them as it is, for example because it is too large.
 */
export async function queryInTime(
  asked: ExplainedCall,
  statements: readonly Statement[],
  share: number,
): Promise<readonly Result[] | undefined> {
  if (asked.timer.longWork(share).withinMs < 1) return undefined;
  const results = inTime(query(asked, statements, share));
  return results.catch((error: unknown) => {
    if (error instanceof StatementError) return undefined;
    throw error;
  });
}

/** Resolves as the query `work`; undefined where it has not ended in time, or too much work waits. */
export async function inTime<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof DeadlineError || error instanceof QueueFullError) return undefined;
    throw error;
  }
}

/** What the caller may do with the table; or the refusal with which the call ends before a row is looked at. */
export function accessForCall(asked: ExplainedCall, call: Action): Access | Refusal {
  const { table, caller, shutOut, services } = asked;
  if (shutOut !== null) return new Refusal("unauthorized", `${shutOut}: no request of theirs gets in`);
  return permittedAccess({ project: services.project, table, caller }, call, (of) => accessBy(asked, of));
}

/** What the caller may do by the rule of one action, decided in the same way as for their requests. */
function accessBy(
  { services: { project, platform }, caller, table, nowMs }: ExplainedCall,
  action: RuleAction,
): Access | Refusal {
  return accessOf({
    caller,
    table,
    rules: project.rules.get(table.name)!,
    action,
    catalog: project.catalog,
    known: rememberedOf(project, platform).accesses,
    nowSeconds: Math.floor(nowMs / 1000),
  });
}

/** Returns what the caller could do with the table if it had `rules` in the place of its own rules. */
export function accessUnder(
  rules: TableRules,
  { services: { project }, caller, table, nowMs }: ExplainedCall,
  action: RuleAction,
): Access | Refusal {
  return accessOf({
    caller,
    table,
    rules,
    action,
    catalog: project.catalog,
    known: new Memo(0),
    nowSeconds: Math.floor(nowMs / 1000),
  });
}

/** Returns an access to the table that no rule limits. With it the key and the values in a question are read. */
export function wholeAccess(asked: ExplainedCall): Access {
  const { project } = asked.services;
  const backend: Caller = { kind: "key", id: "", scopes: ["project:backend"] };
  const access = accessUnder(project.rules.get(asked.table.name)!, { ...asked, caller: backend }, "create");
  if (isRefusal(access)) throw new Error(access.message);
  return access;
}

/**
 * Makes what the code that reads and writes rows needs to run here. The reads of the explained call are carried out.
 * The statements of its writes are made as well, but not run: trying to run them throws an error.
 */
export function readingExecution(asked: ExplainedCall, tally = new Tally(), share = 1): WriteExecution {
  const { services, caller, nowMs, timer } = asked;
  const { project, platform } = services;
  return {
    database: {
      query: (statements) => query(asked, statements, share),
      batch: () => {
        throw new Error("an explanation writes nothing");
      },
    },
    tally,
    plans: rememberedOf(project, platform).plans,
    values: callerValues(caller, Math.floor(nowMs / 1000)),
    nowMs,
    random: platform.random,
    changedBy: () => {
      throw new Error("an explanation writes nothing");
    },
    longWork: () => timer.longWork(share),
  };
}
