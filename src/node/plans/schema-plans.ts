import { Worker } from "node:worker_threads";
import {
  ConstraintError,
  type Database,
  DeadlineError,
  NotSetUpError,
  StatementError,
} from "../../platform/database.js";
import { rememberParsed } from "../../schema/in-force.js";
import type { PlanOutcome } from "../../schema/plan/plan.js";
import type { Planner } from "../../schema/plan/planner.js";

/** What the thread is given. */
export interface PlanTask {
  readonly text: string;
  /** The database's properties; its calls are made by messages. */
  readonly database: Omit<Database, "query" | "batch" | "migrate" | "close">;
}

/** What the thread sends: a call of the database, which the event loop carries out, or at last the outcome. */
export type FromPlanThread =
  | { readonly call: "query" | "batch"; readonly statements: Parameters<Database["query"]>[0] }
  | { readonly outcome: PlanOutcome };

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

/**
 * Makes a planner that parses and compares schemas in a thread, because that takes seconds for a text of a megabyte
 * (docs/long-work.md#schemas). The thread ends with the plan, which has to be made within `withinMs` milliseconds. One
 * plan is made at a time. Throws DeadlineError, and what the database throws.
 */
export function schemaPlans(withinMs: number): Planner {
  let last: Promise<unknown> = Promise.resolve();
  return (database, text) => {
    const planned = last.then(() => planInThread(database, text, withinMs));
    last = planned.catch(() => {});
    return planned;
  };
}

async function planInThread(database: Database, text: string, withinMs: number): Promise<PlanOutcome> {
  const { foreignKeysStayOn, answerBytesMax, imageBytesMax, statementsMax } = database;
  const task: PlanTask = { text, database: { foreignKeysStayOn, answerBytesMax, imageBytesMax, statementsMax } };
  const thread = new Worker(new URL("./schema-plan-thread.js", import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    const outcome = await new Promise<PlanOutcome>((resolve, reject) => {
      timer = setTimeout(() => reject(new DeadlineError("the schema takes too long to plan")), withinMs);
      thread.on("message", (said: FromPlanThread) => {
        if ("outcome" in said) resolve(said.outcome);
        else answerOf(database, said).then((answer) => thread.postMessage(answer), reject);
      });
      thread.once("error", reject);
      thread.once("exit", () => reject(new Error("the thread has ended")));
    });
    if (outcome.outcome === "planned") rememberParsed(text, outcome.plan.schema);
    return outcome;
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

/** How much memory the thread may take for JavaScript, in megabytes. */
const heapMbMax = 256;

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
