import { expect } from "vitest";
import type { Caller } from "../support/callers.js";
import { insertRows } from "../support/insert-rows.js";
import type { Random } from "../support/random.js";
import type { ListProject } from "./project.js";
import type { TableSpec } from "./tables.js";

/**
 * Of each table, asks somebody's questions, deletes the rows that they may not read, and asks again: the answers have to be
 * the same. Returns how many rows were deleted in all.
 */
export async function expectHiddenRowsToBeWithoutTrace(
  project: ListProject,
  random: Random,
  questionsOf: (table: TableSpec, caller: Caller) => () => Promise<unknown>,
): Promise<number> {
  const { database } = project.server;
  let hidden = 0;
  for (const table of project.tables) {
    const people = project.callers.filter((caller) => caller.auth !== null && project.status(table, caller) === 200);
    if (people.length === 0) continue;
    const caller = random.pick(people);
    const answers = questionsOf(table, caller);
    const before = await answers();
    const readable = project.admitted(table, caller);
    hidden += project.rows.get(table.name)!.length - readable.length;
    await database.batch([{ sql: `DELETE FROM ${table.name}`, params: [] }]);
    if (readable.length > 0) await insertRows(database, table.name, readable);
    expect(await answers(), `${table.name} as ${caller.name}`).toEqual(before);
  }
  return hidden;
}
