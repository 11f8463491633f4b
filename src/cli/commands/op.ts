import { currentProject } from "../../assemble/current-project.js";
import { callerAs } from "../../auth/callers/caller-as.js";
import { type Caller, idOf, longWorkFor } from "../../auth/callers/principal.js";
import { isRefusal } from "../../http/refusal.js";
import { parseStrictJson } from "../../http/strict-json.js";
import { Tally } from "../../metering/tally.js";
import { readProject } from "../../node/project-directory.js";
import { StderrLog } from "../../node/stderr-log.js";
import { systemClock, systemRandom } from "../../node/system.js";
import { callOperation, callRefusal } from "../../operations/call.js";
import { paramsFromBody } from "../../operations/params.js";
import type { Database } from "../../platform/database.js";
import { didYouMean } from "../../problems/did-you-mean.js";
import type { Config } from "../../project/config.js";
import { createProjectSource } from "../../schema/project-source.js";
import { noPlanChecks } from "../../tables/plan/plan-check.js";
import { callerValues } from "../../tables/routes/api-request.js";
import { type Command, RefusedError, UsageError, unlessRefused } from "../command.js";
import { withSystemTables } from "../local-database.js";

/** Runs an operation of the project on its database. */
const op: Command = {
  name: "op",
  usage: "NAME [--json '{…}'] [--as EMAIL]",
  summary: "Runs an operation of svc.schema.yaml on the project's database and prints its response.",
  options: { json: { type: "string" }, as: { type: "string" } },
  help: [
    "--json '{…}'   the parameters as a JSON object (default: none)",
    "--as EMAIL     runs it as this user, or as anonymous, if the rule of the operation allows that.",
    "               Without --as, it runs as a key with the scope of the operation, and the rule does not apply.",
  ],
  positionals: ["NAME"],
  run: async (invocation) => {
    const [name] = invocation.positionals as [string];
    const body = bodyOf(invocation.text("json") ?? "{}");
    const project = readProject(invocation.directory);
    const answer = await withSystemTables(project, (database) =>
      answerOf(database, project.config, { name, body, as: invocation.text("as") }),
    );
    console.log(answer);
    return 0;
  },
};

/** `svc op` */
export const commands: readonly Command[] = [op];

function bodyOf(text: string): Readonly<Record<string, unknown>> {
  const parsed = parseStrictJson(text);
  if (isRefusal(parsed)) throw new UsageError(`--json: ${parsed.message}`);
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError("--json: expected a JSON object");
  return value as Record<string, unknown>;
}

interface OperationArguments {
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
  /**
   * The email address of the user as whom the operation is called, or `anonymous`. Undefined: as by an API key with the
   * scope of the operation.
   */
  readonly as: string | undefined;
}

/**
 * Returns the JSON text that the operation answers with. Throws RefusedError if there is no such operation or user, or
 * the call is refused.
 */
async function answerOf(database: Database, config: Config, { name, body, as }: OperationArguments): Promise<string> {
  const log = new StderrLog(config.log, systemClock);
  const project = unlessRefused(await currentProject(createProjectSource(config, database, log), database));
  const live = project.operations.get(name);
  if (live === undefined)
    throw new RefusedError(`there is no operation ${name}${didYouMean(name, [...project.operations.keys()])}`);
  const caller = await callerOf(database, name, as);
  const refusal = callRefusal({ live, caller });
  if (refusal !== null) throw new RefusedError(refusal.message);
  const params = unlessRefused(paramsFromBody(live.operation, body));
  const nowMs = systemClock.now();
  const principal = { principalKind: caller.kind, principalId: idOf(caller) };
  const ran = await callOperation({ live, caller, project, nowMs }, params, () => ({
    database,
    tally: new Tally(),
    plans: noPlanChecks,
    values: callerValues(caller, Math.floor(nowMs / 1000)),
    nowMs,
    random: systemRandom,
    changedBy: () => ({ ...principal, at: nowMs, attemptId: null }),
    longWork: () => longWorkFor(caller, config.api),
  }));
  const isOfStep = isRefusal(ran) && ran.error.step !== undefined;
  return unlessRefused(isOfStep ? ran.of(`step ${ran.error.step}`) : ran).json;
}

async function callerOf(database: Database, operation: string, as: string | undefined): Promise<Caller> {
  if (as === undefined) return { kind: "key", id: "cli", scopes: [`operation:${operation}`] };
  const named =
    as === "anonymous" ? ({ kind: "anonymous" } as const) : ({ kind: "user", by: "email", value: as } as const);
  const found = await callerAs(database, named, systemClock.now());
  if (isRefusal(found)) throw new RefusedError(`there is no user ${as}`);
  if (found.shutOut !== null) throw new RefusedError(`the user ${as} is disabled`);
  return found.caller;
}
