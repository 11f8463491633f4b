import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { openLibsql } from "../../node/database/libsql.js";
import { readProject } from "../../node/project-directory.js";
import { systemClock } from "../../node/system.js";
import { formatProblem, ProblemsError } from "../../problems/problem.js";
import { schemaFile } from "../../project/file-names.js";
import { type ApplyOutcome, applyChange, isLong } from "../../schema/apply.js";
import { formatPlan, formatSql, formatStep, isBlocked } from "../../schema/plan/format-plan.js";
import { planChange } from "../../schema/plan/plan.js";
import { noteSections, pullSchema } from "../../schema/pull/pull.js";
import { problemsWith } from "../../tables/plan/without-ways.js";
import type { SchemaPlan } from "../../wire/plan.js";
import { type Command, type ExitCode, type Invocation, RefusedError, UsageError } from "../command.js";
import { withDatabase } from "../local-database.js";
import { type RemoteServer, remoteServer, signInHelp, signInOptions } from "../remote-server.js";

/** Shows the steps from the schema in force to svc.schema.yaml (`docs/reference/schema.md#changing-the-schema`). */
const schemaPlan: Command = {
  name: "schema plan",
  usage: "[--sql | --json] [--url URL --key-stdin]",
  summary: "Prints the steps from the schema in force to svc.schema.yaml, and the hash of the schema in force.",
  options: { ...signInOptions, sql: { type: "boolean" } },
  help: [
    "--sql            also prints the statements, those for the server's own triggers too",
    "--json           as JSON",
    ...signInHelp,
    "The exit code is 0 if nothing waits, 3 if a step waits for a person, and 1 if a step cannot be done.",
  ],
  positionals: [],
  run: async (invocation) => {
    const project = readProject(invocation.directory);
    const rowsMax = project.config.schema.auto_apply_max_rows;
    const server = await remoteServer(invocation);
    if (server !== null) {
      const plan = await server.call("POST", "/admin/api/schema/plan", { yaml: project.schemaText });
      return printPlan(plan as SchemaPlan, rowsMax, invocation);
    }
    const planned = await withDatabase(project, (database) => planChange(database, project.schemaText));
    if (planned.outcome === "invalid") throw new ProblemsError(planned.problems);
    return printPlan(planned.plan, rowsMax, invocation);
  },
};

/** `rowsMax`: a step that passes over more rows waits for a person. */
function printPlan({ base, hash, steps }: SchemaPlan, rowsMax: number, invocation: Invocation): ExitCode {
  const plan = { base, hash, steps };
  const format = invocation.flag("sql") ? formatSql : formatPlan;
  console.log(invocation.json ? JSON.stringify(plan, null, 2) : format(plan).trimEnd());
  if (steps.some(isBlocked)) return 1;
  return steps.every((step) => step.safe && !isLong(step, rowsMax)) ? 0 : 3;
}

/** Carries out the steps from the schema in force to svc.schema.yaml, in one transaction. */
const schemaApply: Command = {
  name: "schema apply",
  usage: "[--allow-destructive] [--base HASH] [--url URL --key-stdin]",
  summary: "Carries out the steps of the plan in one transaction.",
  options: { ...signInOptions, "allow-destructive": { type: "boolean" }, base: { type: "string" } },
  help: [
    "--allow-destructive   also carries out steps that lose rows or values",
    "--base HASH           refuses unless HASH is the hash of the schema in force",
    ...signInHelp,
  ],
  positionals: [],
  run: async (invocation) => {
    const project = readProject(invocation.directory);
    const base = invocation.text("base");
    const allowDestructive = invocation.flag("allow-destructive");
    const server = await remoteServer(invocation);
    if (server !== null) return applyRemote(server, project.schemaText, base, allowDestructive);
    const outcome = await withDatabase(project, (database) =>
      applyChange(database, project.schemaText, {
        allowDestructive,
        now: systemClock.now(),
        fits: (schema) => problemsWith(project.config, schema),
        ...(base === undefined ? {} : { base }),
      }),
    );
    return printOutcome(outcome);
  },
};

async function applyRemote(server: RemoteServer, text: string, base: string | undefined, allowDestructive: boolean) {
  const query = new URLSearchParams();
  if (base !== undefined) query.set("base", base);
  if (allowDestructive) query.set("allow_destructive", "true");
  return printRemote(await server.call("POST", `/admin/api/schema/apply?${query}`, { yaml: text }));
}

function printRemote(data: unknown): ExitCode {
  console.log(JSON.stringify(data, null, 2));
  return 0;
}

function printOutcome(outcome: ApplyOutcome): ExitCode {
  if (outcome.outcome === "unchanged") {
    console.log(`version ${outcome.version} is in force already: ${outcome.hash}`);
    return 0;
  }
  if (outcome.outcome === "applied") {
    for (const { description } of outcome.steps) console.log(description);
    console.log(`version ${outcome.version} is in force: ${outcome.hash}`);
    return 0;
  }
  throw new RefusedError(refusalText(outcome));
}

function refusalText(outcome: Extract<ApplyOutcome, { outcome: "refused" }>): string {
  switch (outcome.reason) {
    case "base_moved":
      return `the schema in force is another one: ${outcome.inForce}`;
    case "destructive":
      return ["steps that lose something need --allow-destructive:", ...outcome.steps.map(formatStep)].join("\n");
    case "constraint":
      return outcome.message;
    case "rules_do_not_fit":
    case "invalid":
      return outcome.problems.map(formatProblem).join("\n");
  }
}

/** Writes the schema file for an existing SQLite file (`docs/guides/existing-database.md`). */
const schemaPull: Command = {
  name: "schema pull",
  usage: "--from FILE.db [--force]",
  summary: "Writes svc.schema.yaml for a SQLite file that already has tables. The SQLite file is not changed.",
  options: { from: { type: "string" }, force: { type: "boolean" } },
  help: ["--from FILE  the SQLite file", "--force      overwrites svc.schema.yaml"],
  positionals: [],
  run: async (invocation) => {
    const from = invocation.text("from");
    if (from === undefined) throw new UsageError("expected --from FILE.db");
    const target = join(resolve(invocation.directory), schemaFile);
    if (!existsSync(from)) throw new RefusedError(`${from} does not exist`);
    if (existsSync(target) && !invocation.flag("force")) throw new RefusedError(`${target} exists: see --force`);
    const { text, notes } = await pulled(from);
    writeFileSync(target, text);
    for (const { heading, lines } of noteSections(notes))
      for (const line of lines) console.error(`note: ${heading}: ${line}`);
    console.log(`wrote ${target}`);
    return 0;
  },
};

async function pulled(from: string) {
  const database = openLibsql({ path: from, synchronous: "full", commandLine: true });
  try {
    return await pullSchema(database);
  } finally {
    await database.close();
  }
}

/** `svc schema` */
export const commands: readonly Command[] = [schemaPlan, schemaApply, schemaPull];
