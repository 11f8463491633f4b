import { isKeyword, isSymbol, type Token, textOf, tokenize, topLevel, withoutComments } from "./sql-tokens.js";

/** The parts of a CREATE TABLE statement that no pragma reports. */
export interface TableDdl {
  /** By the column's name in lower case. */
  readonly columns: ReadonlyMap<string, ColumnDdl>;
  /** The expressions of the table's own CHECKs, without those of columns. */
  readonly checks: readonly string[];
  /** The expressions of all CHECKs that have a name, those of columns too. */
  readonly namedChecks: ReadonlyMap<string, string>;
  readonly autoincrement: boolean;
  /** Clauses that change what constraints do, such as `ON CONFLICT IGNORE`, to be shown to a person. */
  readonly clauses: readonly string[];
}

/** The parts of a column's definition that no pragma reports. */
export interface ColumnDdl {
  readonly checks: readonly string[];
  /** As the column's definition writes it; null for the default, BINARY. */
  readonly collation: string | null;
  /**
   * The clause that says when the column's foreign key is checked, such as `DEFERRABLE INITIALLY DEFERRED`; null for
   * none. The key may be declared with the column, or as a constraint of the table that has this column alone.
   */
  readonly deferrable: string | null;
}

/** Stands for a CREATE TABLE statement that could not be read. */
export const noDdl: TableDdl = {
  columns: new Map(),
  checks: [],
  namedChecks: new Map(),
  autoincrement: false,
  clauses: [],
};

/**
 * Parses a CREATE TABLE statement as SQLite stores it. Null if it has no parentheses, or a character that begins no
 * token.
 */
export function parseTableDdl(sql: string): TableDdl | null {
  const tokens = withoutComments(tokenize(sql));
  const open = tokens.findIndex((token) => isSymbol(token, "("));
  if (open === -1 || tokens.some(({ kind }) => kind === "unknown")) return null;
  const items = topLevelItems(tokens.slice(open + 1));
  const columns = new Map<string, ColumnDdl>();
  const checks: string[] = [];
  const namedChecks = new Map<string, string>();
  for (const item of items) {
    const all = checksOf(item);
    for (const { name, sql } of all) if (name !== null) namedChecks.set(name, sql);
    const found = all.map(({ sql }) => sql);
    if (isTableConstraint(item[0])) checks.push(...found);
    else if (item[0] !== undefined)
      columns.set(item[0].value.toLowerCase(), {
        checks: found,
        collation: collationOf(item),
        deferrable: deferrableOf(item),
      });
  }
  for (const item of items) {
    const name = foreignKeyColumn(item);
    const column = name === null ? undefined : columns.get(name);
    if (column !== undefined) columns.set(name!, { ...column, deferrable: deferrableOf(item) });
  }
  const words = items.flatMap(topLevel).flatMap(({ kind, text }) => (kind === "word" ? [text.toLowerCase()] : []));
  return {
    columns,
    checks,
    namedChecks,
    autoincrement: words.includes("autoincrement"),
    clauses: clausesOf(words),
  };
}

const tableConstraints = ["constraint", "primary", "unique", "check", "foreign"];

function isTableConstraint(token: Token | undefined): boolean {
  return tableConstraints.some((keyword) => isKeyword(token, keyword));
}

/**
 * Splits a list at commas outside of further parentheses. `tokens` begin behind the opening parenthesis; what follows
 * the closing one is ignored.
 */
function topLevelItems(tokens: readonly Token[]): Token[][] {
  const items: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (isSymbol(token, ")") && depth === 0) break;
    if (isSymbol(token, "(")) depth++;
    if (isSymbol(token, ")")) depth--;
    if (isSymbol(token, ",") && depth === 0) items.push([]);
    else items.at(-1)!.push(token);
  }
  return items;
}

/**
 * All CHECKs in the definition of a column or a constraint of the table. `sql` is the expression between the
 * parentheses, as written but without comments.
 */
function checksOf(item: readonly Token[]): { readonly name: string | null; readonly sql: string }[] {
  const checks: { name: string | null; sql: string }[] = [];
  let depth = 0;
  item.forEach((token, index) => {
    if (depth === 0 && isKeyword(token, "check") && isSymbol(item[index + 1], "("))
      checks.push({ name: nameBefore(item, index), sql: textOf(insideParentheses(item, index + 1)) });
    if (isSymbol(token, "(")) depth++;
    if (isSymbol(token, ")")) depth--;
  });
  return checks;
}

/** The name in `CONSTRAINT name` directly in front of the token at `index`. */
function nameBefore(item: readonly Token[], index: number): string | null {
  return isKeyword(item[index - 2], "constraint") ? item[index - 1]!.value : null;
}

/** The tokens between the parenthesis at `open` and the one that closes it. */
function insideParentheses(tokens: readonly Token[], open: number): Token[] {
  let depth = 0;
  for (let index = open; index < tokens.length; index++) {
    if (isSymbol(tokens[index], "(")) depth++;
    if (isSymbol(tokens[index], ")")) depth--;
    if (depth === 0) return tokens.slice(open + 1, index);
  }
  return tokens.slice(open + 1);
}

function collationOf(item: readonly Token[]): string | null {
  const tokens = topLevel(item);
  const at = tokens.findIndex((token) => isKeyword(token, "collate"));
  const name = at === -1 ? undefined : tokens[at + 1]?.value;
  return name === undefined || name.toLowerCase() === "binary" ? null : name;
}

/** The column of a constraint `FOREIGN KEY (column) …` of the table, in lower case; null for any other item. */
function foreignKeyColumn(item: readonly Token[]): string | null {
  if (!isTableConstraint(item[0])) return null;
  const at = item.findIndex((token) => isKeyword(token, "foreign"));
  const [open, column, close] = at === -1 ? [] : item.slice(at + 2);
  return column !== undefined && isSymbol(open, "(") && isSymbol(close, ")") ? column.value.toLowerCase() : null;
}

function deferrableOf(item: readonly Token[]): string | null {
  const tokens = topLevel(item);
  const at = tokens.findIndex((token) => isKeyword(token, "deferrable"));
  if (at === -1) return null;
  const words = [
    ...(isKeyword(tokens[at - 1], "not") ? ["NOT"] : []),
    "DEFERRABLE",
    ...(isKeyword(tokens[at + 1], "initially") ? ["INITIALLY", tokens[at + 2]!.text.toUpperCase()] : []),
  ];
  return words.join(" ");
}

function clausesOf(words: readonly string[]): string[] {
  const clauses = new Set<string>();
  words.forEach((word, index) => {
    if (word === "conflict" && words[index - 1] === "on") clauses.add(`ON CONFLICT ${words[index + 1]?.toUpperCase()}`);
  });
  return [...clauses];
}

/** The condition of a partial index in its CREATE INDEX statement; null if it has none. */
export function indexCondition(sql: string): string | null {
  const tokens = withoutComments(tokenize(sql));
  const [where] = topLevel(tokens).filter((token) => isKeyword(token, "where"));
  return where === undefined ? null : textOf(tokens.slice(tokens.indexOf(where) + 1));
}
