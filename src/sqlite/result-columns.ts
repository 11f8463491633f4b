import type { ProvedSql } from "./proof.js";
import { isKeyword, isSymbol, type Token } from "./sql-tokens.js";

/** An item of the list behind SELECT or RETURNING. */
export interface ResultItem {
  /** That of the table's column, or the one behind AS. */
  readonly name: string;
  /** The table's column that the item consists of; null if it is any other expression, or if the table is not known. */
  readonly column: { readonly table: string; readonly name: string } | null;
  /** Where the item's expression stands among the tokens: from the index `from` to the one before `to`. */
  readonly from: number;
  readonly to: number;
}

/** The columns that a statement returns, or why its text does not tell them. `at` is an index in the text. */
export type ResultItems =
  | { readonly items: readonly ResultItem[]; readonly problem?: never }
  | { readonly items?: never; readonly problem: { readonly at: number; readonly message: string } };

/**
 * Finds the columns that a statement returns from its text alone: those listed after SELECT, or after RETURNING in
 * another statement. Null if there is no RETURNING. Each item has to be a column, or an expression with a name after
 * AS. In a SELECT with UNION, INTERSECT or EXCEPT no item is taken for a column of a table. Names of tables are in
 * lower case, those of columns as they are written.
 */
export function resultItems(statement: ProvedSql): ResultItems | null {
  const { kind, tokens, tables } = statement;
  const outer = outside(tokens);
  if (kind !== "select") {
    const returning = outer.findLast(({ token }) => isKeyword(token, "returning"));
    if (returning === undefined) return null;
    const target = targetTable(statement);
    const sources = { byName: new Map(target === null ? [] : [[target, target]]), hasOthers: false };
    return itemsOf(tokens, returning.index + 1, tokens.length, sources);
  }
  const select = outer.find(({ token }) => isKeyword(token, "select"))!.index;
  const begin =
    isKeyword(tokens[select + 1], "distinct") || isKeyword(tokens[select + 1], "all") ? select + 2 : select + 1;
  const later = outer.filter(({ index }) => index >= begin);
  const end = later.find(({ token }) => endOfList.some((word) => isKeyword(token, word)))?.index ?? tokens.length;
  const isCompound = later.some(({ token }) => compound.some((word) => isKeyword(token, word)));
  const from = isKeyword(tokens[end], "from") && !isCompound ? end + 1 : tokens.length;
  return itemsOf(tokens, begin, end, sourcesOf(tokens, from, tables));
}

const compound = ["union", "intersect", "except"];
const behindFrom = ["where", "group", "having", "window", "order", "limit"];
const endOfList = ["from", ...behindFrom, ...compound];

interface Outer {
  readonly token: Token;
  readonly index: number;
}

/** The tokens outside of all parentheses, and the outermost parentheses themselves, with their indexes. */
function outside(tokens: readonly Token[], from = 0, to = tokens.length): readonly Outer[] {
  const found: Outer[] = [];
  let depth = 0;
  for (let index = from; index < to; index++) {
    const token = tokens[index]!;
    if (isSymbol(token, ")")) depth--;
    if (depth === 0) found.push({ token, index });
    if (isSymbol(token, "(")) depth++;
  }
  return found;
}

/** The table that an INSERT, an UPDATE or a DELETE writes to, in lower case; null for a SELECT. */
export function targetTable({ kind, tokens, tables }: ProvedSql): string | null {
  if (kind === "select") return null;
  const outer = outside(tokens);
  const verb = outer.findIndex(({ token }) => isKeyword(token, kind));
  const named = outer.slice(verb + 1).find(({ token }) => mayBeTable(token) && tables.has(lower(token)));
  return named === undefined ? null : lower(named.token);
}

/** Whether SQLite takes the token for the name of a table after INTO, UPDATE or FROM, where even a string is one. */
function mayBeTable(token: Token): boolean {
  return isName(token) || token.kind === "string";
}

/**
 * What a FROM clause reads. `byName` maps the alias of each table of the schema, or else its name, to the name.
 * `hasOthers`: it reads anything else too, such as a subquery.
 */
interface Sources {
  readonly byName: ReadonlyMap<string, string>;
  readonly hasOthers: boolean;
}

function sourcesOf(tokens: readonly Token[], from: number, tables: ReadonlySet<string>): Sources {
  const outer = outside(tokens, from);
  const end = outer.findIndex(({ token }) => behindFrom.some((word) => isKeyword(token, word)));
  const inside = end === -1 ? outer : outer.slice(0, end);
  const byName = new Map<string, string>();
  let hasOthers = false;
  const shadowed = commonTables(tokens);
  inside.forEach(({ token, index }, position) => {
    const before = inside[position - 1]?.token;
    if (position > 0 && !isSymbol(before, ",") && !isKeyword(before, "join")) return;
    const name = lower(token);
    const after = tokens[index + 1];
    const isTable = isName(token) && tables.has(name) && !shadowed.has(name) && !isSymbol(after, "(");
    if (!isTable) hasOthers = true;
    const alias = isKeyword(after, "as") ? tokens[index + 2] : after;
    const called = alias !== undefined && isName(alias) && !behindTable.has(lower(alias)) ? lower(alias) : name;
    if (isTable) byName.set(called, name);
  });
  return { byName, hasOthers };
}

const behindTable = new Set(
  "join left right full inner outer cross natural on using indexed not where group having window order limit".split(
    " ",
  ),
);

/** The names of common table expressions (`WITH name AS (…)`, `name (…) AS (…)`), in lower case. */
function commonTables(tokens: readonly Token[]): ReadonlySet<string> {
  if (!tokens.some((token) => isKeyword(token, "with"))) return new Set();
  const names = tokens.filter((token, index) => {
    const before = tokens[index - 1];
    const begins = ["with", "recursive"].some((word) => isKeyword(before, word)) || isSymbol(before, ",");
    if (!begins || !isName(token)) return false;
    const columns = isSymbol(tokens[index + 1], "(") ? outside(tokens, index + 1) : [];
    const end = columns[1]?.index ?? index;
    const body = tokens[end + 2];
    const isBody = isSymbol(body, "(") || ["not", "materialized"].some((word) => isKeyword(body, word));
    return isKeyword(tokens[end + 1], "as") && isBody;
  });
  return new Set(names.map(lower));
}

function itemsOf(tokens: readonly Token[], from: number, to: number, sources: Sources): ResultItems {
  const commas = outside(tokens, from, to).flatMap(({ token, index }) => (isSymbol(token, ",") ? [index] : []));
  const items: ResultItem[] = [];
  for (const [i, begin] of [from, ...commas.map((index) => index + 1)].entries()) {
    const item = itemOf(tokens, begin, commas[i] ?? to, sources);
    if (typeof item === "string") return { problem: { at: tokens[begin]?.start ?? 0, message: item } };
    items.push(item);
  }
  return { items };
}

/**
 * Reads one item: the tokens from index `from` to the one before `to`. Returns a message if the item is not allowed.
 */
function itemOf(tokens: readonly Token[], from: number, to: number, sources: Sources): ResultItem | string {
  const last = tokens[to - 1];
  if (last === undefined || to <= from) return "expected a column or an expression with AS and a name";
  if (isSymbol(last, "*") && (to - from === 1 || isSymbol(tokens[to - 2], ".")))
    return "name the columns that it returns, instead of *";
  const isNamed = to - from > 2 && isKeyword(tokens[to - 2], "as") && isName(last);
  const end = isNamed ? to - 2 : to;
  const column = columnOf(tokens.slice(from, end), sources);
  if (column === null && !isNamed) return "an expression that is returned needs AS and a name";
  return {
    name: isNamed ? last.value : column!.name,
    column: column?.table == null ? null : { table: column.table, name: column.name },
    from,
    to: end,
  };
}

/** The column if the expression is just `name` or `table.name`, else null. `table` is null if it is not known. */
function columnOf(
  expression: readonly Token[],
  { byName, hasOthers }: Sources,
): { readonly table: string | null; readonly name: string } | null {
  const last = expression.at(-1);
  if (last === undefined || !isName(last)) return null;
  if (expression.length === 3 && isSymbol(expression[1], "."))
    return { table: byName.get(lower(expression[0]!)) ?? null, name: last.value };
  if (expression.length !== 1) return null;
  const [only, ...others] = byName.values();
  return { table: hasOthers || only === undefined || others.length > 0 ? null : only, name: last.value };
}

function isName({ kind }: Token): boolean {
  return kind === "word" || kind === "quoted";
}

function lower({ value }: Token): string {
  return value.toLowerCase();
}
