import { isKeyword, type Token } from "../sqlite/sql-tokens.js";
import { parseTrigger, type Trigger, type Write, writeOf } from "./parse-trigger.js";
import {
  type Physical,
  type PhysicalTable,
  type PhysicalTrigger,
  physicalTable,
  sameName,
} from "./physical.js";

/** What of the owner's triggers a write reaches, there or wherever foreign key actions carry it. */
export interface TriggersReached {
  readonly run: boolean;
  /** Whether one of them may leave the write out, by `RAISE(IGNORE)`. */
  readonly ignore: boolean;
  /** Whether one of them may examine rows, which nobody sees. */
  readonly read: boolean;
  /** How many rows they write for one row of the write; null where that depends on what is stored. */
  readonly rowsWritten: number | null;
  /**
   * Rows of virtual tables among them, which SQLite counts with the shadow rows behind them: none; as many as `rowsWritten` has;
   * or one more than it has, which is written or not.
   */
  readonly virtualRows: "none" | "counted" | "one_more";
  /** Whether one of the service's own may run, which is not the owner's, and yet SQLite counts what it writes. */
  readonly own: boolean;
}

/** By what the write does to rows. */
export type WriteTriggers = Readonly<Record<Write, TriggersReached>>;

/** What writes of the table reach. */
export function triggersReached(
  physical: Physical,
  ownTriggers: readonly PhysicalTrigger[],
  table: PhysicalTable,
): WriteTriggers {
  const own = ownTriggers.map(({ on, sql }) => writeKey(parseTrigger(sql).event, on));
  const context: TriggerContext = { physical, ownWrites: new Set(own) };
  const of = (write: Write) => reached(context, table.name, write, new Set());
  return { insert: of("insert"), update: of("update"), delete: of("delete") };
}

interface TriggerContext {
  readonly physical: Physical;
  /** The writes that one of the service's own triggers runs on, by `writeKey`. */
  readonly ownWrites: ReadonlySet<string>;
}

function writeKey(write: Write | undefined, table: string): string {
  return `${write} ${table.toLowerCase()}`;
}

/** Of a write that reaches none. */
export const noTriggers: TriggersReached = {
  run: false,
  ignore: false,
  read: false,
  rowsWritten: 0,
  virtualRows: "none",
  own: false,
};

/** `within` holds the writes that have led here. */
function reached(
  context: TriggerContext,
  table: string,
  write: Write,
  within: ReadonlySet<string>,
): TriggersReached {
  const { physical, ownWrites } = context;
  const key = writeKey(write, table);
  if (within.has(key)) return { ...noTriggers, rowsWritten: null };
  const visited = new Set([...within, key]);
  const fired = physical.triggers
    .filter((trigger) => sameName(trigger.on, table))
    .map(({ sql }) => parseTrigger(sql))
    .filter(({ event }) => event === write)
    .map((trigger) => effectOf(context, trigger, visited));
  const elsewhere = foreignKeyWrites(physical, table, write).map(([child, next]) => ({
    ...reached(context, child, next, visited),
    // As many as there are children.
    rowsWritten: null,
  }));
  return [...fired, ...elsewhere].reduce(together, { ...noTriggers, own: ownWrites.has(key) });
}

function together(a: TriggersReached, b: TriggersReached): TriggersReached {
  const [virtualRows, isTold] = virtualRowsTogether(a.virtualRows, b.virtualRows);
  const isKnown = isTold && a.rowsWritten !== null && b.rowsWritten !== null;
  return {
    run: a.run || b.run,
    ignore: a.ignore || b.ignore,
    read: a.read || b.read,
    rowsWritten: isKnown ? a.rowsWritten + b.rowsWritten : null,
    virtualRows,
    own: a.own || b.own,
  };
}

type VirtualRows = TriggersReached["virtualRows"];

/** One more beside others is not told from their shadow rows. */
function virtualRowsTogether(a: VirtualRows, b: VirtualRows): readonly [VirtualRows, boolean] {
  if (a === "none") return [b, true];
  if (b === "none") return [a, true];
  return ["counted", a === "counted" && b === "counted"];
}

/** Of one trigger, and of those that its own statements run. */
function effectOf(context: TriggerContext, trigger: Trigger, visited: ReadonlySet<string>): TriggersReached {
  const effects = trigger.statements.map((statement) => statementEffect(context, statement, visited));
  const all = [{ ...noTriggers, run: true, read: trigger.reads }, ...effects].reduce(together);
  if (trigger.mayIgnore) return { ...all, ignore: true, rowsWritten: null };
  // Whether it runs nobody knows: then it writes all of this or nothing.
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
  // A view, or what is not understood, may write anything.
  if (!write || !target)
    return {
      ...noTriggers,
      run: true,
      read: true,
      rowsWritten: null,
      virtualRows: "counted",
      own: context.ownWrites.size > 0,
    };
  if (target.kind === "virtual") {
    if (write.isPlain) return { ...noTriggers, rowsWritten: 1, virtualRows: "counted" };
    const isOne = write.isByRowid && /\busing\s+(fts5|rtree)\b/i.test(target.sql);
    return { ...noTriggers, rowsWritten: isOne ? 0 : null, virtualRows: isOne ? "one_more" : "counted" };
  }
  const further = write.kinds.map((kind) => reached(context, target.name, kind, visited)).reduce(together);
  const isOne = write.isPlain && !/\bconflict\b/i.test(target.sql);
  const rowsWritten = isOne && further.rowsWritten !== null ? 1 + further.rowsWritten : null;
  return { ...further, rowsWritten };
}

/** The writes of other tables that foreign key actions make of this one. */
function foreignKeyWrites(physical: Physical, table: string, write: Write): (readonly [string, Write])[] {
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
