import { ConstraintError, type Database, StatementError } from "../../platform/database.js";
import type { Physical } from "../physical/physical.js";
import { impossible, type Step } from "./steps.js";

/**
 * Tries the renames of a plan in a transaction that is always rolled back, and adds a hazard to the first one that the
 * database refuses. SQLite also applies a rename to views and triggers, and refuses it if one of these mentions
 * something that does not exist; only trying shows that. Before the renames, the trial drops the triggers that the plan
 * drops, and creates its new tables.
 */
export async function triedRenames(
  database: Database,
  steps: readonly Step[],
  { views, triggers }: Physical,
): Promise<readonly Step[]> {
  const renames = steps.filter(isRename);
  if (renames.length === 0 || views.length + triggers.length === 0) return steps;
  const first = steps.indexOf(renames[0]!);
  const before = steps
    .slice(0, first)
    .filter(isBefore)
    .flatMap(({ statements }) => statements);
  for (const [i, step] of renames.entries()) {
    const tried = renames.slice(0, i + 1).flatMap(({ statements }) => statements);
    const reason = await errorOf(database, [...before, ...tried]);
    if (reason === null) continue;
    const hazard = impossible(`the database refuses to ${step.description}: ${reason}`);
    return steps.map((each) => (each === step ? { ...each, hazards: [...each.hazards, hazard] } : each));
  }
  return steps;
}

function isBefore({ kind }: Step): boolean {
  return kind === "drop_trigger" || kind === "create_table";
}

function isRename({ kind }: Step): boolean {
  return kind === "rename_table" || kind === "rename_column";
}

/**
 * The last statement of the trial uses this text as a JSON path, which it is not, and so fails on purpose: that rolls
 * the transaction back. An error whose message contains it means that all renames have worked.
 */
const takenBack = "nothing was renamed";

async function errorOf(database: Database, statements: readonly string[]): Promise<string | null> {
  const end = `SELECT json_extract('{}', '${takenBack}') AS failed`;
  try {
    await database.batch([...statements, end].map((sql) => ({ sql, params: [] })));
  } catch (error) {
    if (!(error instanceof StatementError || error instanceof ConstraintError)) throw error;
    return error.message.includes(takenBack) ? null : error.message;
  }
  throw new Error("renames that were only tried have been carried out");
}
