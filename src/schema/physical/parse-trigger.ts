import { mayTakeLong } from "../../sqlite/bounded-expressions.js";
import { isKeyword, type Token, tokenize, withoutComments } from "../../sqlite/sql-tokens.js";

/** The kinds of writes to rows of a table. */
export type Write = "insert" | "update" | "delete";

/** The parts of a CREATE TRIGGER statement that show what the trigger may do. */
export interface Trigger {
  readonly event: Write | undefined;
  readonly isConditional: boolean;
  /** Whether the trigger has a keyword, such as SELECT or UPDATE, with which it may examine rows. */
  readonly reads: boolean;
  /**
   * Whether the trigger may read tables by a query. A SELECT without FROM, such as `SELECT RAISE(…)`, does not count.
   */
  readonly queries: boolean;
  /** Whether the trigger calls a function that may take long for a single value, such as `replace` or LIKE. */
  readonly mayTakeLong: boolean;
  /**
   * Whether the trigger may have `RAISE(IGNORE)`, which abandons the rest of the trigger and the statement that fired
   * it. Also true for an `OR IGNORE`.
   */
  readonly mayIgnore: boolean;
  readonly statements: readonly (readonly Token[])[];
}

/**
 * Parses CREATE [TEMP] TRIGGER [IF NOT EXISTS] name [BEFORE | AFTER | INSTEAD OF] event … [WHEN …] BEGIN statement; …
 * END. The text has to be one that SQLite has accepted.
 */
export function parseTrigger(sql: string): Trigger {
  const tokens = withoutComments(tokenize(sql));
  const events = ["insert", "update", "delete"] as const;
  const event = tokens.map((token) => events.find((name) => isKeyword(token, name))).find((name) => name !== undefined);
  const begin = tokens.findIndex((token) => isKeyword(token, "begin"));
  const [head, body] = [tokens.slice(0, begin), tokens.slice(begin + 1, -1)];
  const names = (some: readonly Token[], ...keywords: string[]) =>
    some.some((token) => keywords.some((keyword) => isKeyword(token, keyword)));
  const isSelecting = names(tokens, "select", "with");
  const isLooking = looksIntoTable(tokens);
  return {
    event,
    isConditional: names(head, "when", "of"),
    reads: isSelecting || isLooking || names(body, "update", "delete", "conflict", "replace"),
    queries: isLooking || (isSelecting && names(tokens, "from")),
    mayTakeLong: mayTakeLong(tokens),
    mayIgnore: names(tokens, "ignore"),
    statements: statementsOf(body),
  };
}

/** Whether the SQL contains `x IN t` or `x IN f(…)`, which reads a table or a table function without a SELECT. */
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

/** A statement of a trigger that changes rows. */
export interface TriggerWrite {
  readonly table: string;
  /** The kinds of writes that the statement may do. */
  readonly kinds: readonly Write[];
  /**
   * Whether the statement inserts exactly one row, whatever is stored: an INSERT of one row of VALUES, without a
   * conflict clause.
   */
  readonly isPlain: boolean;
  /**
   * The column that the WHERE compares with a value of the row that fired the trigger, as `id` in `WHERE id =
   * new.room_id`. Null if the WHERE is anything but one such comparison.
   */
  readonly byColumn: string | null;
}

/** Null if the statement writes nothing or is not understood. */
export function writeOf(tokens: readonly Token[]): TriggerWrite | null {
  const [first, second] = tokens;
  const isUpsert = tokens.some((token) => isKeyword(token, "conflict"));
  const hasResolution = isKeyword(second, "or");
  const [target, next] = tokens.slice(targetAt(tokens));
  if (target === undefined || next?.text === ".") return null;
  const write = { table: target.value, isPlain: false, byColumn: byColumn(tokens) };
  if (isKeyword(first, "delete")) return { ...write, kinds: ["delete"] };
  if (isKeyword(first, "update")) return { ...write, kinds: ["update", ...(hasResolution ? deleting : [])] };
  if (isKeyword(first, "replace") || hasResolution) return { ...write, kinds: ["insert", "delete"] };
  if (!isKeyword(first, "insert")) return null;
  return isUpsert
    ? { ...write, kinds: ["insert", "update"] }
    : { ...write, kinds: ["insert"], isPlain: insertsOneRow(tokens) };
}

/** What a statement with `UPDATE OR …` may do besides updating: `OR REPLACE` deletes rows. */
const deleting: readonly Write[] = ["delete"];

/**
 * The index of the token that names the written table: the one after INSERT [OR …] INTO, REPLACE INTO, DELETE FROM or
 * UPDATE [OR …].
 */
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

/** The column of a condition such as `WHERE rowid = old.id`, if that is the whole WHERE; otherwise null. */
function byColumn(tokens: readonly Token[]): string | null {
  const where = tokens.findIndex((token) => isKeyword(token, "where"));
  const [column, equals, row, dot, ...rest] = tokens.slice(where + 1);
  const isEquality =
    where !== -1 &&
    equals?.text === "=" &&
    (isKeyword(row, "old") || isKeyword(row, "new")) &&
    dot?.text === "." &&
    rest.length === 1;
  return isEquality && column !== undefined ? column.value : null;
}

/** For each token of a statement, how many parentheses are open after it. */
function depthsOf(tokens: readonly Token[]): readonly number[] {
  let depth = 0;
  return tokens.map(({ text }) => {
    if (text === "(") depth++;
    if (text === ")") depth--;
    return depth;
  });
}
