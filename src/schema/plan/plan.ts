import type { Database } from "../../platform/database.js";
import { UnavailableError } from "../../platform/database.js";
import type { Problem } from "../../problems/problem.js";
import { schemaFile } from "../../project/file-names.js";
import { fragmentProbes } from "../../project/fragment-problems.js";
import type { Schema, Table } from "../../project/model.js";
import type { PlannedStep } from "../../wire/plan.js";
import { loadState, parseOnce } from "../in-force.js";
import { type Physical, physicalTable, sameName } from "../physical/physical.js";
import { countInvalidTexts } from "../physical/utf8.js";
import { nameProblems } from "../prove-operations.js";
import { type PendingMigrations, pendingMigrations } from "../system/bring-up.js";
import { type DiffOptions, diff } from "./diff.js";
import { assess, countQueries, passQueries, type Step } from "./steps.js";
import { triedRenames } from "./tried-renames.js";

/** The planned change of the database from the schema in force to a proposed schema. */
export interface Plan {
  /** The hash of the schema in force, or `noBase`. `applyChange` takes it as its `base`. */
  readonly base: string;
  /** The version of the schema in force; 0 if no schema was ever applied. */
  readonly baseVersion: number;
  readonly text: string;
  /** SHA-256 of the proposed schema's text, in hex. */
  readonly hash: string;
  readonly schema: Schema;
  readonly steps: readonly PlannedStep[];
  /**
   * The migrations of the server's own tables that are due. They are carried out with the change and need nobody's
   * decision.
   */
  readonly migrations: PendingMigrations;
}

/** A plan, or the problems of the proposed schema, and how many `more` there are that are not given. */
export type PlanOutcome =
  | { readonly outcome: "planned"; readonly plan: Plan }
  | { readonly outcome: "invalid"; readonly problems: readonly Problem[]; readonly more?: number };

/** The `base` of a plan if no schema was ever applied. */
export const noBase = "none";

/** Plans the change to a proposed schema and counts what it would lose or break. The database stays as it is. */
export async function planChange(
  database: Database,
  proposedText: string,
  options: DiffOptions = {},
): Promise<PlanOutcome> {
  const { schema, problems } = parseOnce(proposedText);
  if (schema === null) return { outcome: "invalid", problems };
  const migrations = await pendingMigrations(database);
  if (migrations.outcome === "later_release") return { outcome: "invalid", problems: [migrations.problem] };
  const { inForce, physical, ownTriggers } = await loadState(database);
  const { foreignKeysStayOn } = database;
  const found = diff(inForce?.schema ?? null, schema, physical, {
    foreignKeysStayOn,
    ownTriggers,
    ...options,
  });
  if (found.problems.length > 0) return { outcome: "invalid", problems: found.problems };
  const undeclared = [...physical.tables.values(), ...physical.views]
    .map(({ name }) => name)
    .filter((name) => inForce?.schema.tables.has(name) !== true);
  const refused = [
    ...nameProblems(schema, undeclared),
    ...(await unusableExpressions(database, schema)),
    ...(await unreadableTexts(database, found.adopted, physical)),
  ];
  if (refused.length > 0) return { outcome: "invalid", problems: refused };
  return {
    outcome: "planned",
    plan: {
      base: inForce?.hash ?? noBase,
      baseVersion: inForce?.version ?? 0,
      text: proposedText,
      hash: await sha256Hex(proposedText),
      schema,
      steps: await withCounts(database, await triedRenames(database, found.steps, physical)),
      migrations,
    },
  };
}

/** Adopted tables may have texts that are not UTF-8, which the server cannot read. */
async function unreadableTexts(
  database: Database,
  tables: readonly Table[],
  physical: Physical,
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const table of tables)
    for (const { name } of table.columns.values()) {
      const source = physicalTable(physical, table.name)!;
      const there = source.columns.some((column) => sameName(column.name, name));
      const count = there ? await countInvalidTexts(database, source, name) : 0;
      const message = `${count} texts that are there are not UTF-8`;
      if (count > 0) problems.push({ file: schemaFile, path: `${table.name}.columns.${name}`, message });
    }
  return problems;
}

/** SQL expressions in svc.schema.yaml that this SQLite cannot evaluate, found by running a query with each. */
async function unusableExpressions(database: Database, schema: Schema): Promise<readonly Problem[]> {
  const probes = fragmentProbes(schema);
  if ((await errorOf(database, probes)) === null) return [];
  const problems: Problem[] = [];
  for (const probe of probes) {
    const message = await errorOf(database, [probe]);
    if (message !== null) problems.push({ file: schemaFile, path: probe.path, message });
  }
  return problems;
}

async function errorOf(database: Database, queries: readonly { sql: string }[]): Promise<string | null> {
  if (queries.length === 0) return null;
  try {
    await database.query(queries.map(({ sql }) => ({ sql, params: [] })));
    return null;
  } catch (error) {
    if (error instanceof UnavailableError || !(error instanceof Error)) throw error;
    return error.message;
  }
}

async function withCounts(database: Database, steps: readonly Step[]): Promise<PlannedStep[]> {
  const hazards = countQueries(steps);
  const passes = passQueries(steps);
  const queries = [...hazards, ...passes].map((sql) => ({ sql, params: [] }));
  const results = queries.length === 0 ? [] : await database.query(queries);
  const counts = results.map(({ rows }) => Number(rows[0]![0]));
  return assess(
    steps,
    counts.slice(0, hazards.length),
    new Map(passes.map((query, i) => [query, counts[hazards.length + i]!])),
  );
}

/** Of the text in UTF-8, in lower-case hex. */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
