import { ConstraintError, type Database, StatementError } from "../../platform/database.js";
import type { Physical } from "../physical.js";
import { impossible, type Step } from "./steps.js";

/**
 * The steps, with what keeps a rename from being done: SQLite carries it into views and triggers where it can, and refuses it
 * where one of them would name what is not there any more. Which that is nobody but SQLite knows, so that the renames are tried,
 * behind the tables that are new, and taken back.
 */
export async function triedRenames(
  database: Database,
  steps: readonly Step[],
  { views, triggers }: Physical,
): Promise<readonly Step[]> {
  const renames = steps.filter(isRename);
  if (renames.length === 0 || views.length + triggers.length === 0) return steps;
  const before = steps.filter(({ kind }) => kind === "create_table").flatMap(({ statements }) => statements);
  for (const [i, step] of renames.entries()) {
    const tried = renames.slice(0, i + 1).flatMap(({ statements }) => statements);
    const reason = await errorOf(database, [...before, ...tried]);
    if (reason === null) continue;
    const hazard = impossible(`the database refuses to ${step.description}: ${reason}`);
    return steps.map((each) => (each === step ? { ...each, hazards: [...each.hazards, hazard] } : each));
  }
  return steps;
}

function isRename({ kind }: Step): boolean {
  return kind === "rename_table" || kind === "rename_column";
}

/** No JSON path: as the last statement it takes back what was done before it. */
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
