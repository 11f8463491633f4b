import type { OperationStep } from "../project/model.js";
import type { LiveProject } from "../schema/live-project.js";
import type { TriggersReached } from "../schema/physical/triggers-reached.js";
import { targetTable } from "../sqlite/result-columns.js";
import { isKeyword } from "../sqlite/sql-tokens.js";

/** What follows from a step's write: what triggers do, and whether one gives each row a version. */
export interface Consequences {
  readonly triggers: readonly TriggersReached[];
  readonly isVersioned: boolean;
}

/** Null for a SELECT. */
export function consequencesOf(
  { statement }: OperationStep,
  { schema, catalog }: Pick<LiveProject, "schema" | "catalog">,
): Consequences | null {
  const target = targetTable(statement);
  const table = [...schema.tables.values()].find(({ name }) => name.toLowerCase() === target);
  if (table === undefined) return null;
  const { insert, update, delete: remove } = catalog.tables.get(table.name)!.triggers;
  const isUpsert = statement.tokens.some((token) => isKeyword(token, "conflict"));
  const triggers = {
    select: [],
    insert: isUpsert ? [insert, update] : [insert],
    update: [update],
    delete: [remove],
  }[statement.kind];
  const isVersioned = [...table.columns.values()].some(({ managed }) => managed === "version");
  return { triggers, isVersioned: isVersioned && statement.kind !== "delete" };
}

/**
 * How many rows a step has written, for `rows_written` of the receipt. `changed`: how many the step has changed itself.
 * `counted`: SQLite's count, which includes what triggers and foreign keys have done. `entries`: how many of the
 * counted rows are entries of the log of changes. Null if SQLite has also counted rows of the server's own or of
 * virtual tables.
 */
export function writtenBy(
  { triggers, isVersioned }: Consequences,
  { changed, counted, entries }: { readonly changed: number; readonly counted: number; readonly entries: number },
): number | null {
  const isPlain = triggers.every(({ virtualRows, own }) => virtualRows === "none" && !own);
  if (isPlain && !isVersioned) return counted - entries;
  const [each, ...others] = new Set(triggers.map(({ rowsWritten }) => rowsWritten));
  const isKnown = each != null && others.length === 0 && !(isVersioned && each > 0);
  return isKnown && triggers.every(({ virtualRows }) => virtualRows !== "one_more") ? changed * (1 + each) : null;
}
