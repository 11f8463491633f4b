import {
  type Physical,
  type PhysicalTable,
  type PhysicalTrigger,
  sameName,
} from "../project/migration/physical.js";
import { isKeyword, type Token, tokenize, withoutComments } from "../project/migration/sql-tokens.js";

/** What of a customer's triggers a write reaches, there or wherever foreign key actions carry it. */
export interface TriggersReached {
  readonly run: boolean;
  /** Whether one of them may examine rows, which nobody sees. */
  readonly read: boolean;
  /** How many rows they write for one row of the write; null where that depends on what is stored. */
  readonly rowsWritten: number | null;
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
  const own = ownTriggers.map(({ on, sql }) => `${parseTrigger(sql).event} ${on.toLowerCase()}`);
  const all: Triggers = { physical, own: new Set(own) };
  const of = (write: Write) => reached(all, table.name, write, new Set());
  return { insert: of("insert"), update: of("update"), delete: of("delete") };
}

interface Triggers {
  readonly physical: Physical;
  /** The writes that one of the service's own runs on. */
  readonly own: ReadonlySet<string>;
}

const none: TriggersReached = { run: false, read: false, rowsWritten: 0, own: false };

function reached(triggers: Triggers, table: string, write: Write, visited: Set<string>): TriggersReached {
  const { physical, own } = triggers;
  const visit = `${write} ${table.toLowerCase()}`;
  if (visited.has(visit)) return { ...none, rowsWritten: null };
  visited.add(visit);
  const fired = physical.triggers
    .filter((trigger) => sameName(trigger.on, table))
    .map(({ sql }) => parseTrigger(sql))
    .filter(({ event }) => event === write)
    .map((trigger) => effectOf(triggers, trigger, visited));
  const elsewhere = carried(physical, table, write).map(([child, next]) => ({
    ...reached(triggers, child, next, visited),
    // As many as there are children.
    rowsWritten: null,
  }));
  return [...fired, ...elsewhere].reduce(together, { ...none, own: own.has(visit) });
}

function together(a: TriggersReached, b: TriggersReached): TriggersReached {
  const rowsWritten = a.rowsWritten === null || b.rowsWritten === null ? null : a.rowsWritten + b.rowsWritten;
  return { run: a.run || b.run, read: a.read || b.read, rowsWritten, own: a.own || b.own };
}

/** Of one trigger, and of those that its own inserts run. */
function effectOf(triggers: Triggers, trigger: Trigger, visited: Set<string>): TriggersReached {
  const inserts = trigger.statements.map(insertOf);
  if (trigger.reads || inserts.includes(null))
    return { run: true, read: true, rowsWritten: null, own: triggers.own.size > 0 };
  const own = inserts.map((insert): TriggersReached => {
    const further = reached(triggers, insert!.into, "insert", visited);
    const rowsWritten = insert!.isPlain && !further.run && !trigger.isConditional ? 1 : null;
    return { ...further, rowsWritten };
  });
  return [{ ...none, run: true }, ...own].reduce(together);
}

interface Trigger {
  readonly event: Write | undefined;
  readonly isConditional: boolean;
  /** Whether there is a word by which rows are examined. */
  readonly reads: boolean;
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
    reads: names(tokens, "select", "with") || names(body, "update", "delete") || looksIntoTable(tokens),
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

/** Null for another statement. It is plain where it writes one row, whatever is there already. */
function insertOf(tokens: readonly Token[]): { readonly into: string; readonly isPlain: boolean } | null {
  const [first, second, target, next] = tokens;
  if (!isKeyword(first, "insert") || !isKeyword(second, "into") || target === undefined || next?.text === ".")
    return null;
  const values = tokens.findIndex((token) => isKeyword(token, "values"));
  if (values === -1 || tokens.some((token) => isKeyword(token, "conflict"))) return null;
  const depths = depthsOf(tokens.slice(values + 1));
  const isOneRow = depths.indexOf(0) === depths.length - 1;
  return { into: target.value, isPlain: isOneRow };
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
