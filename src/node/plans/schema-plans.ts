import { Worker } from "node:worker_threads";
import { type DatabaseProperties, propertiesOf } from "../../platform/as-long-work.js";
import {
  ConstraintError,
  type Database,
  DeadlineError,
  NotSetUpError,
  QueueFullError,
  StatementError,
} from "../../platform/database.js";
import { schemaFile } from "../../project/file-names.js";
import { rememberParsed } from "../../schema/in-force.js";
import type { PlanOutcome } from "../../schema/plan/plan.js";
import type { Planner, StepsOutcome } from "../../schema/plan/planner.js";

/** What the thread is given. */
export interface PlanTask {
  readonly text: string;
  /** Whether the outcome is to have the schema. */
  readonly isWhole: boolean;
  /** The database's properties; its calls are made by messages. */
  readonly database: DatabaseProperties;
}

/** What the thread sends: a call of the database, which the event loop carries out, or at last the outcome. */
export type FromPlanThread =
  | { readonly call: "query" | "batch"; readonly statements: Parameters<Database["query"]>[0] }
  | { readonly outcome: PlanOutcome | StepsOutcome };

/** What the thread is sent for a call. `kind` is the class of an error that the planner knows. */
export type ToPlanThread =
  | { readonly results: Awaited<ReturnType<Database["query"]>> }
  | { readonly kind: keyof typeof knownErrors; readonly message: string };

/** The errors of a database after which a plan goes on. Any other ends it. */
export const knownErrors = {
  statement: (message: string) => new StatementError(message),
  constraint: (message: string) => new ConstraintError("trigger", message),
  not_set_up: (message: string) => new NotSetUpError(message),
};

/** How many plans may wait while one is made. */
const waitingMax = 8;

/**
 * Parses and compares schemas in a thread, because that takes seconds for a text of a megabyte
 * (docs/long-work.md#schemas). The thread ends with the plan. One plan is made at a time, and each has to be made within
 * `withinMs` milliseconds, waiting included.
 */
export class SchemaPlans implements Planner {
  readonly #waiting: (() => void)[] = [];
  readonly #ending = new AbortController();
  #isBusy = false;

  /** `withinMs` holds for plans that begin from then on. */
  constructor(public withinMs: number) {}

  /** Throws DeadlineError, QueueFullError where too many plans wait, and what the database throws. */
  readonly plan: Planner["plan"] = async (database, text) => {
    const outcome = (await this.#plan(database, text, true)) as PlanOutcome;
    if (outcome.outcome === "planned") rememberParsed(text, outcome.plan.schema);
    return outcome;
  };

  /** As `plan`, without the schema. */
  readonly steps: Planner["steps"] = (database, text) => this.#plan(database, text, false);

  async #plan(database: Database, text: string, isWhole: boolean): Promise<PlanOutcome | StepsOutcome> {
    const inTime = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(this.withinMs)]);
    await this.#turn(inTime);
    try {
      return await planInThread(database, { text, isWhole, database: propertiesOf(database) }, inTime);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#isBusy = false;
      else next();
    }
  }

  /** Ends the plan that is being made, and those that wait, as if their time was over. */
  close(): void {
    this.#ending.abort();
  }

  async #turn(inTime: AbortSignal): Promise<void> {
    if (!this.#isBusy) {
      this.#isBusy = true;
      return;
    }
    if (this.#waiting.length >= waitingMax) throw new QueueFullError("too many schemas are being planned");
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push(resolve);
      inTime.addEventListener("abort", () => {
        const at = this.#waiting.indexOf(resolve);
        if (at !== -1) this.#waiting.splice(at, 1);
        reject(overdue());
      });
    });
  }
}

const overdue = () => new DeadlineError("the schema takes too long to plan");

async function planInThread(
  database: Database,
  task: PlanTask,
  inTime: AbortSignal,
): Promise<PlanOutcome | StepsOutcome> {
  const thread = new Worker(new URL("./schema-plan-thread.js", import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax, maxYoungGenerationSizeMb: 16 },
  });
  try {
    return await new Promise<PlanOutcome | StepsOutcome>((resolve, reject) => {
      if (inTime.aborted) reject(overdue());
      inTime.addEventListener("abort", () => reject(overdue()));
      thread.on("message", (said: FromPlanThread) => {
        if ("outcome" in said) resolve(said.outcome);
        else answerOf(database, said).then((answer) => thread.postMessage(answer), reject);
      });
      thread.once("error", (error) => (isOutOfMemory(error) ? resolve(tooLarge) : reject(error)));
      thread.once("exit", () => reject(new Error("the thread has ended")));
    });
  } finally {
    await thread.terminate();
  }
}

/** How much memory the thread may take for JavaScript, in megabytes. */
const heapMbMax = 128;

const tooLarge: PlanOutcome = {
  outcome: "invalid",
  problems: [{ file: schemaFile, path: "", message: "the text is too large, or has too many parts, to be planned" }],
};

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

async function answerOf(
  database: Database,
  { call, statements }: Extract<FromPlanThread, { call: string }>,
): Promise<ToPlanThread> {
  try {
    return { results: await database[call](statements) };
  } catch (error) {
    const kind = kindOf(error);
    if (kind === null) throw error;
    return { kind, message: (error as Error).message };
  }
}

function kindOf(error: unknown): keyof typeof knownErrors | null {
  if (error instanceof StatementError) return "statement";
  if (error instanceof ConstraintError) return "constraint";
  return error instanceof NotSetUpError ? "not_set_up" : null;
}
