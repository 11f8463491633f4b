import { isLogTrigger } from "../../changes/log-triggers.js";
import { isKeyword, type Token } from "../../sqlite/sql-tokens.js";
import { isManagedTrigger } from "./managed-triggers.js";
import { parseTrigger, type Trigger, type Write, writeOf } from "./parse-trigger.js";
import { type Physical, type PhysicalTable, type PhysicalTrigger, physicalTable, sameName } from "./physical.js";
import { referringTables } from "./referring-tables.js";

/**
 * What triggers do when a row of a table is written, those of other tables included to which foreign key actions or
 * triggers lead.
 */
export interface TriggersReached {
  /** Whether any of the owner's triggers may run. */
  readonly run: boolean;
  /** Whether one of the owner's triggers may prevent the write, by `RAISE(IGNORE)`. */
  readonly ignore: boolean;
  /** Whether one of the owner's triggers may read rows. How many is not known. */
  readonly read: boolean;
  /** How many rows the owner's triggers write for each row that fires them; null if that depends on what is stored. */
  readonly rowsWritten: number | null;
  /**
   * Whether the owner's triggers write rows of virtual tables. The module of a virtual table keeps its rows in shadow
   * tables, so SQLite's own count of written rows is too high then. `counted`: `rowsWritten` includes the rows of
   * virtual tables. `one_more`: one row of a virtual table, which may or may not be written, is not in `rowsWritten`.
   */
  readonly virtualRows: "none" | "counted" | "one_more";
  /**
   * Whether one of the server's own triggers may run, other than those of the log of changes. What it writes is not
   * metered, although SQLite's count of written rows includes it.
   */
  readonly own: boolean;
  /**
   * Whether the write belongs to a transaction of the log of changes: because the log records it, or because a trigger
   * asks the log who makes it. SQLite's count of written rows includes the log's entries.
   */
  readonly logged: boolean;
  /**
   * Whether the write may take long. It may lead to any number of other rows, because one of the owner's triggers reads
   * or writes rows other than the one it is given, or because SQLite looks for rows that refer to the written one. Or a
   * trigger calls a function that may take long.
   */
  readonly isLong: boolean;
}

/** What triggers do for each kind of write to one table. */
export type WriteTriggers = Readonly<Record<Write, TriggersReached>>;

/** Further tables that the triggers lead to are included. */
export function triggersReached(
  physical: Physical,
  ownTriggers: readonly PhysicalTrigger[],
  table: PhysicalTable,
): WriteTriggers {
  const writesOf = (triggers: readonly PhysicalTrigger[]) =>
    new Set(triggers.map(({ on, sql }) => writeKey(parseTrigger(sql).event, on)));
  const context: TriggerContext = {
    physical,
    ownWrites: writesOf(ownTriggers.filter((trigger) => !isLogTrigger(trigger) && !isManagedTrigger(trigger))),
    loggedWrites: writesOf(ownTriggers.filter(isLogTrigger)),
    managedWrites: writesOf(ownTriggers.filter(isManagedTrigger)),
  };
  const of = (write: Write) => reached(context, table.name, write, new Set(), { setsManaged: true });
  return { insert: of("insert"), update: of("update"), delete: of("delete") };
}

interface TriggerContext {
  readonly physical: Physical;
  /**
   * The writes, by `writeKey`, on which one of the server's own triggers runs, other than those of the log and of
   * versions.
   */
  readonly ownWrites: ReadonlySet<string>;
  /** The writes, by `writeKey`, that the log of changes records. */
  readonly loggedWrites: ReadonlySet<string>;
  /** The writes, by `writeKey`, after which a trigger sets managed columns of the row, unless the write has set them. */
  readonly managedWrites: ReadonlySet<string>;
}

function writeKey(write: Write | undefined, table: string): string {
  return `${write} ${table.toLowerCase()}`;
}

/** The effect of a write on which no trigger runs. */
export const noTriggers: TriggersReached = {
  run: false,
  ignore: false,
  read: false,
  rowsWritten: 0,
  virtualRows: "none",
  own: false,
  logged: false,
  isLong: false,
};

/**
 * `within` holds the writes that led to this one, by `writeKey`. If this one is among them already, triggers fire each
 * other in a circle, and the number of written rows is unknown. `setsManaged`: the write itself sets the managed
 * columns, as API requests do.
 */
function reached(
  context: TriggerContext,
  table: string,
  write: Write,
  within: ReadonlySet<string>,
  { setsManaged } = { setsManaged: false },
): TriggersReached {
  const { physical, ownWrites, loggedWrites, managedWrites } = context;
  const key = writeKey(write, table);
  const isManaged = !setsManaged && managedWrites.has(key);
  if (within.has(key)) return { ...noTriggers, rowsWritten: null, own: isManaged, isLong: true };
  const visited = new Set([...within, key]);
  const fired = physical.triggers
    .filter((trigger) => sameName(trigger.on, table))
    .map(({ sql }) => parseTrigger(sql))
    .filter(({ event }) => event === write)
    .map((trigger) => effectOf(context, trigger, visited));
  const acted = foreignKeyWrites(physical, table, write).map(([child, next]) => ({
    ...reached(context, child, next, visited),
    // A foreign key action writes every row that refers to the written one. How many these are is unknown here.
    rowsWritten: null,
  }));
  // The triggers that set managed columns ask the log's transaction who makes the change, and when.
  const [isOwn, logged] = [ownWrites.has(key), loggedWrites.has(key) || isManaged];
  const own = { ...noTriggers, own: isOwn, logged, isLong: leadsToReferring(physical, table, write) };
  const effect = [...fired, ...acted].reduce(together, own);
  if (!isManaged) return effect;
  // The server's trigger sets the managed columns by an update, which has the same effects as any update of the table.
  // It does so only if the write has not set them, so how many rows are written is unknown, unless an update
  // writes none.
  const update = write === "update" ? effect : reached(context, table, "update", visited, { setsManaged: true });
  const rowsWritten = update.rowsWritten === 0 ? 0 : null;
  return together(effect, { ...update, rowsWritten, own: true });
}

function together(a: TriggersReached, b: TriggersReached): TriggersReached {
  const [virtualRows, isCountable] = virtualRowsTogether(a.virtualRows, b.virtualRows);
  const isKnown = isCountable && a.rowsWritten !== null && b.rowsWritten !== null;
  return {
    run: a.run || b.run,
    ignore: a.ignore || b.ignore,
    read: a.read || b.read,
    rowsWritten: isKnown ? a.rowsWritten + b.rowsWritten : null,
    virtualRows,
    own: a.own || b.own,
    logged: a.logged || b.logged,
    isLong: a.isLong || b.isLong,
  };
}

type VirtualRows = TriggersReached["virtualRows"];

/**
 * The second part is false if the number of written rows becomes unknown: if one trigger may or may not write a row of
 * a virtual table, and the other writes to virtual tables too, the shadow rows of the two cannot be told apart.
 */
function virtualRowsTogether(a: VirtualRows, b: VirtualRows): readonly [VirtualRows, boolean] {
  if (a === "none") return [b, true];
  if (b === "none") return [a, true];
  return ["counted", a === "counted" && b === "counted"];
}

/** The effect of one trigger and of the triggers that its statements fire. */
function effectOf(context: TriggerContext, trigger: Trigger, visited: ReadonlySet<string>): TriggersReached {
  const effects = trigger.statements.map((statement) => statementEffect(context, statement, visited));
  const itself = { ...noTriggers, run: true, read: trigger.reads, isLong: trigger.queries || trigger.mayTakeLong };
  const all = [itself, ...effects].reduce(together);
  if (trigger.mayIgnore) return { ...all, ignore: true, rowsWritten: null };
  // A trigger with a WHEN or an `UPDATE OF` writes either all that its statements write, or nothing. So the number of
  // written rows is unknown, except for a single row of a virtual table (`one_more`).
  if (!trigger.isConditional || all.rowsWritten === 0) return all;
  const isOneVirtual = all.rowsWritten === 1 && all.virtualRows === "counted";
  return isOneVirtual ? { ...all, rowsWritten: 0, virtualRows: "one_more" } : { ...all, rowsWritten: null };
}

function statementEffect(
  context: TriggerContext,
  statement: readonly Token[],
  visited: ReadonlySet<string>,
): TriggersReached {
  if (isKeyword(statement[0], "select")) return noTriggers;
  const write = writeOf(statement);
  const target = write && physicalTable(context.physical, write.table);
  // A statement that writes to a view, or that is not understood, may do anything.
  if (!write || !target)
    return {
      ...noTriggers,
      run: true,
      read: true,
      rowsWritten: null,
      virtualRows: "counted",
      own: context.ownWrites.size > 0,
      logged: context.loggedWrites.size > 0,
      isLong: true,
    };
  if (target.kind === "virtual") {
    if (write.isPlain) return { ...noTriggers, rowsWritten: 1, virtualRows: "counted" };
    const isOne = isVirtualRowid(target, write.byColumn);
    const virtualRows = isOne ? "one_more" : "counted";
    return { ...noTriggers, rowsWritten: isOne ? 0 : null, virtualRows, isLong: !isOne };
  }
  const further = write.kinds.map((kind) => reached(context, target.name, kind, visited)).reduce(together);
  const isOne = write.isPlain && !/\bconflict\b/i.test(target.sql);
  const rowsWritten = isOne && further.rowsWritten !== null ? 1 + further.rowsWritten : null;
  const isByKey = isRowid(write.byColumn) || isOnlyKey(target, write.byColumn);
  return { ...further, rowsWritten, isLong: further.isLong || !(write.isPlain || isByKey) };
}

/** Whether the column is the rowid of a full-text index or an R*Tree, which calls it as its first column, too. */
function isVirtualRowid({ sql, columns }: PhysicalTable, column: string | null): boolean {
  const isRtree = /\busing\s+rtree(_i32)?\b/i.test(sql);
  if (isRowid(column)) return isRtree || /\busing\s+fts5\b/i.test(sql);
  return isRtree && column !== null && columns[0] !== undefined && sameName(columns[0].name, column);
}

function isRowid(column: string | null): boolean {
  return column !== null && ["rowid", "_rowid_"].includes(column.toLowerCase());
}

/** Whether the column alone is the table's primary key. */
function isOnlyKey(table: PhysicalTable, column: string | null): boolean {
  const key = keyOf(table);
  return column !== null && key.length === 1 && sameName(key[0]!, column);
}

function keyOf({ columns }: PhysicalTable): readonly string[] {
  return columns.filter(({ keyPosition }) => keyPosition > 0).map(({ name }) => name);
}

/**
 * Whether the write makes SQLite look for rows that refer to the written row, which takes a scan if no index serves the
 * foreign key. Requests cannot change the primary key of a row, so after an update SQLite looks only for foreign keys
 * that refer to other columns.
 */
function leadsToReferring(physical: Physical, table: string, write: Write): boolean {
  if (write === "insert") return false;
  const references = referringTables(physical, table).flatMap(({ foreignKeys }) =>
    foreignKeys.filter(({ parent }) => sameName(parent, table)),
  );
  const parent = physicalTable(physical, table);
  const key = parent ? keyOf(parent) : [];
  const isOfKey = (to: string | null) => to === null || key.some((column) => sameName(column, to));
  return write === "delete"
    ? references.length > 0
    : references.some(({ columns }) => !columns.every(({ to }) => isOfKey(to)));
}

/** The writes that a write to this table causes by foreign key actions such as ON DELETE CASCADE. */
function foreignKeyWrites(physical: Physical, table: string, write: Write): (readonly [string, Write])[] {
  if (write === "insert") return [];
  return referringTables(physical, table).flatMap((child) =>
    child.foreignKeys
      .filter(({ parent }) => sameName(parent, table))
      .flatMap((key): (readonly [string, Write])[] => {
        const action = write === "delete" ? key.onDelete : key.onUpdate;
        if (action === "no_action" || action === "restrict") return [];
        return [[child.name, write === "delete" && action === "cascade" ? "delete" : "update"]];
      }),
  );
}
