import { type Physical, type PhysicalTable, sameName } from "../project/migration/physical.js";
import { isKeyword, tokenize, withoutComments } from "../project/migration/sql-tokens.js";

export interface WriteTriggers {
  readonly insert: boolean;
  readonly update: boolean;
  readonly delete: boolean;
}

type Write = keyof WriteTriggers;

/** Which writes of a table may run a trigger, there or wherever foreign key actions carry the write. */
export function triggersReached(physical: Physical, table: PhysicalTable): WriteTriggers {
  return {
    insert: reaches(physical, table.name, "insert", new Set()),
    update: reaches(physical, table.name, "update", new Set()),
    delete: reaches(physical, table.name, "delete", new Set()),
  };
}

function reaches(physical: Physical, table: string, write: Write, visited: Set<string>): boolean {
  const visit = `${write} ${table.toLowerCase()}`;
  if (visited.has(visit)) return false;
  visited.add(visit);
  const fires = physical.triggers.some(
    (trigger) => sameName(trigger.on, table) && eventOf(trigger.sql) === write,
  );
  return (
    fires || carried(physical, table, write).some(([child, next]) => reaches(physical, child, next, visited))
  );
}

/** The writes of other tables that foreign key actions make of this one. */
function carried(physical: Physical, table: string, write: Write): (readonly [string, Write])[] {
  if (write === "insert") return [];
  return [...physical.tables.values()].flatMap((child) =>
    child.foreignKeys
      .filter(({ parent }) => sameName(parent, table))
      .flatMap((key): (readonly [string, Write])[] => {
        const action = write === "delete" ? key.onDelete : key.onUpdate;
        if (action === "no_action" || action === "restrict") return [];
        return [[child.name, write === "delete" && action === "cascade" ? "delete" : "update"]];
      }),
  );
}

/** CREATE [TEMP] TRIGGER [IF NOT EXISTS] name [BEFORE | AFTER | INSTEAD OF] event … */
function eventOf(sql: string): Write | undefined {
  const events = ["insert", "update", "delete"] as const;
  for (const token of withoutComments(tokenize(sql))) {
    const event = events.find((name) => isKeyword(token, name));
    if (event !== undefined) return event;
  }
  return undefined;
}
