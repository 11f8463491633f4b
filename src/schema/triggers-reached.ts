import { isKeyword, type Token, tokenize, withoutComments } from "../sqlite/sql-tokens.js";
import {
  type Physical,
  type PhysicalTable,
  type PhysicalTrigger,
  physicalTable,
  sameName,
} from "./physical.js";

/** What of a customer's triggers a write reaches, there or wherever foreign key actions carry it. */
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
  /** Whether one of the service's own may run, which is no customer's, and yet SQLite counts what it writes. */
  readonly own: boolean;
}

export type WriteTriggers = Readonly<Record<Write, TriggersReached>>;

type Write = "insert" | "update" | "delete";

export function triggersReached(
  physical: Physical,
  ownTriggers: readonly PhysicalTrigger[],
  table: PhysicalTable,
): WriteTriggers {
  const own = ownTriggers.map(({ on, sql }) => visitOf(parseTrigger(sql).event, on));
  const there: There = { physical, own: new Set(own) };
  const of = (write: Write) => reached(there, table.name, write, new Set());
  return { insert: of("insert"), update: of("update"), delete: of("delete") };
}

interface There {
  readonly physical: Physical;
  /** The writes that one of the service's own triggers runs on. */
  readonly own: ReadonlySet<string>;
}

function visitOf(write: Write | undefined, table: string): string {
  return `${write} ${table.toLowerCase()}`;
}

export const noTriggers: TriggersReached = {
  run: false,
  ignore: false,
  read: false,
  rowsWritten: 0,
  virtualRows: "none",
  own: false,
};

/** `within` holds the writes that have led here. */
function reached(there: There, table: string, write: Write, within: ReadonlySet<string>): TriggersReached {
  const { physical, own } = there;
  const visit = visitOf(write, table);
  if (within.has(visit)) return { ...noTriggers, rowsWritten: null };
  const visited = new Set([...within, visit]);
  const fired = physical.triggers
    .filter((trigger) => sameName(trigger.on, table))
    .map(({ sql }) => parseTrigger(sql))
    .filter(({ event }) => event === write)
    .map((trigger) => effectOf(there, trigger, visited));
  const elsewhere = carried(physical, table, write).map(([child, next]) => ({
    ...reached(there, child, next, visited),
    // As many as there are children.
    rowsWritten: null,
  }));
  return [...fired, ...elsewhere].reduce(together, { ...noTriggers, own: own.has(visit) });
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
function effectOf(there: There, trigger: Trigger, visited: ReadonlySet<string>): TriggersReached {
  const effects = trigger.statements.map((statement) => statementEffect(there, statement, visited));
  const all = [{ ...noTriggers, run: true, read: trigger.reads }, ...effects].reduce(together);
  if (trigger.mayIgnore) return { ...all, ignore: true, rowsWritten: null };
  // Whether it runs nobody knows: then it writes all of this or nothing.
  if (!trigger.isConditional || all.rowsWritten === 0) return all;
  const isOneVirtual = all.rowsWritten === 1 && all.virtualRows === "counted";
  return isOneVirtual ? { ...all, rowsWritten: 0, virtualRows: "one_more" } : { ...all, rowsWritten: null };
}

function statementEffect(
  there: There,
  statement: readonly Token[],
  visited: ReadonlySet<string>,
): TriggersReached {
  if (isKeyword(statement[0], "select")) return noTriggers;
  const write = writeOf(statement);
  const target = write && physicalTable(there.physical, write.table);
  // A view, or what is not understood, may write anything.
  if (!write || !target)
    return {
      ...noTriggers,
      run: true,
      read: true,
      rowsWritten: null,
      virtualRows: "counted",
      own: there.own.size > 0,
    };
  if (target.kind === "virtual") {
    if (write.isPlain) return { ...noTriggers, rowsWritten: 1, virtualRows: "counted" };
    const isOne = write.isByRowid && /\busing\s+(fts5|rtree)\b/i.test(target.sql);
    return { ...noTriggers, rowsWritten: isOne ? 0 : null, virtualRows: isOne ? "one_more" : "counted" };
  }
  const further = write.kinds.map((kind) => reached(there, target.name, kind, visited)).reduce(together);
  const isOne = write.isPlain && !/\bconflict\b/i.test(target.sql);
  const rowsWritten = isOne && further.rowsWritten !== null ? 1 + further.rowsWritten : null;
  return { ...further, rowsWritten };
}

interface Trigger {
  readonly event: Write | undefined;
  readonly isConditional: boolean;
  /** Whether there is a word by which rows are examined. */
  readonly reads: boolean;
  /** `RAISE(IGNORE)` leaves the rest of it out. */
  readonly mayIgnore: boolean;
  readonly statements: readonly (readonly Token[])[];
}

/** CREATE [TEMP] TRIGGER [IF NOT EXISTS] name [BEFORE | AFTER | INSTEAD OF] event … [WHEN …] BEGIN statement; … END */
function parseTrigger(sql: string): Trigger {
  const tokens = withoutComments(tokenize(sql));
  const events = ["insert", "update", "delete"] as const;
  const event = tokens
    .map((token) => events.find((name) => isKeyword(token, name)))
    .find((name) => name !== undefined);
  const begin = tokens.findIndex((token) => isKeyword(token, "begin"));
  const [head, body] = [tokens.slice(0, begin), tokens.slice(begin + 1, -1)];
  const names = (some: readonly Token[], ...keywords: string[]) =>
    some.some((token) => keywords.some((keyword) => isKeyword(token, keyword)));
  return {
    event,
    isConditional: names(head, "when", "of"),
    reads:
      names(tokens, "select", "with") ||
      names(body, "update", "delete", "conflict", "replace") ||
      looksIntoTable(tokens),
    mayIgnore: names(tokens, "ignore"),
    statements: statementsOf(body),
  };
}

/** `x IN t` and `x IN f(…)` read without a SELECT. */
function looksIntoTable(tokens: readonly Token[]): boolean {
  return tokens.some((token, i) => isKeyword(token, "in") && tokens[i + 1]?.text !== "(");
}

function statementsOf(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const statements: Token[][] = [[]];
  for (const token of tokens)
    if (token.text === ";") statements.push([]);
    else statements.at(-1)!.push(token);
  return statements.filter((statement) => statement.length > 0);
}

interface TriggerWrite {
  readonly table: string;
  /** What it may do to rows. */
  readonly kinds: readonly Write[];
  /** Whether it inserts one row, whatever is there already. */
  readonly isPlain: boolean;
  /** Whether it changes the row of one rowid, if there is one. */
  readonly isByRowid: boolean;
}

/** Null for another statement. */
function writeOf(tokens: readonly Token[]): TriggerWrite | null {
  const [first, second] = tokens;
  const isUpsert = tokens.some((token) => isKeyword(token, "conflict"));
  const hasResolution = isKeyword(second, "or");
  const [target, next] = tokens.slice(targetAt(tokens));
  if (target === undefined || next?.text === ".") return null;
  const write = { table: target.value, isPlain: false, isByRowid: isByRowid(tokens) };
  if (isKeyword(first, "delete")) return { ...write, kinds: ["delete"] };
  if (isKeyword(first, "update")) return { ...write, kinds: ["update", ...(hasResolution ? deleting : [])] };
  if (isKeyword(first, "replace") || hasResolution) return { ...write, kinds: ["insert", "delete"] };
  if (!isKeyword(first, "insert")) return null;
  return isUpsert
    ? { ...write, kinds: ["insert", "update"] }
    : { ...write, kinds: ["insert"], isPlain: insertsOneRow(tokens) };
}

/** By `OR REPLACE`. */
const deleting: readonly Write[] = ["delete"];

/** Behind INSERT [OR …] INTO, REPLACE INTO, DELETE FROM, UPDATE [OR …]. */
function targetAt(tokens: readonly Token[]): number {
  const start = isKeyword(tokens[1], "or") ? 3 : 1;
  return isKeyword(tokens[start], "into") || isKeyword(tokens[start], "from") ? start + 1 : start;
}

function insertsOneRow(tokens: readonly Token[]): boolean {
  const values = tokens.findIndex((token) => isKeyword(token, "values"));
  if (values === -1) return false;
  const depths = depthsOf(tokens.slice(values + 1));
  return depths.indexOf(0) === depths.length - 1;
}

/** `WHERE rowid = old.id`, and nothing behind it. */
function isByRowid(tokens: readonly Token[]): boolean {
  const where = tokens.findIndex((token) => isKeyword(token, "where"));
  const [rowid, equals, row, dot, ...rest] = tokens.slice(where + 1);
  return (
    where !== -1 &&
    (isKeyword(rowid, "rowid") || isKeyword(rowid, "_rowid_")) &&
    equals?.text === "=" &&
    (isKeyword(row, "old") || isKeyword(row, "new")) &&
    dot?.text === "." &&
    rest.length === 1
  );
}

/** How many parentheses are open behind each token. */
function depthsOf(tokens: readonly Token[]): readonly number[] {
  let depth = 0;
  return tokens.map(({ text }) => {
    if (text === "(") depth++;
    if (text === ")") depth--;
    return depth;
  });
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
