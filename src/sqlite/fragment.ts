import { carriedName } from "./names.js";
import { isKeyword, isSymbol, quoteName, type Token, tokenize, withoutComments } from "./sql-tokens.js";

/**
 * Why an SQL expression of the project's owner (a CHECK, a DEFAULT or the condition of a partial index) is refused;
 * null if it is accepted. An accepted expression becomes part of DDL and of queries that count the rows which break it.
 * So it has to be one expression over the columns of one row, with known functions: SQLite itself would also run
 * subqueries and any function that is loaded. `columns` may be the result of `inLowerCase`, which saves time if many
 * expressions name the same columns.
 */
export function fragmentProblem(sql: string, columns: readonly string[] | ReadonlySet<string>): string | null {
  const tokens = tokenize(sql);
  if (tokens.length === 0) return "expected an SQL expression";
  if (sql.length > lengthMax) return `longer than ${lengthMax} characters`;
  const known = "has" in columns ? columns : inLowerCase(columns);
  for (const [index, token] of tokens.entries()) {
    const problem = tokenProblem(token, tokens[index - 1], tokens[index + 1], known);
    if (problem !== null) return problem;
  }
  return parenthesesProblem(tokens);
}

const lengthMax = 4000;

/** Names of columns as `fragmentProblem` compares them. */
export function inLowerCase(columns: readonly string[]): ReadonlySet<string> {
  return new Set(columns.map((name) => name.toLowerCase()));
}

function tokenProblem(
  token: Token,
  before: Token | undefined,
  after: Token | undefined,
  columns: ReadonlySet<string>,
): string | null {
  // After IN, SQLite would take a name without parentheses, even one that is written as a string, for the name of a
  // table.
  if (isKeyword(before, "in") && !isSymbol(token, "(")) return "IN takes a list in parentheses";
  switch (token.kind) {
    case "comment":
      return "comments are not allowed in SQL expressions";
    case "parameter":
      return `parameters are not allowed in SQL expressions: ${token.text}`;
    case "unknown":
      return `not SQL: ${JSON.stringify(token.text)}`;
    case "symbol":
      if (token.text === ";") return "one SQL expression, without a semicolon";
      return token.text === "." ? "a column is named without its table" : null;
    case "word":
    case "quoted":
      return wordProblem(token, before, after, columns);
    default:
      return token.text.includes("\0") ? "NUL is not allowed in SQL expressions" : null;
  }
}

function wordProblem(
  token: Token,
  before: Token | undefined,
  after: Token | undefined,
  columns: ReadonlySet<string>,
): string | null {
  const word = token.value.toLowerCase();
  if (token.kind === "word" && forbidden.has(word))
    return `${token.text.toUpperCase()} is not allowed in SQL expressions`;
  if (isSymbol(after, "(") && !(token.kind === "word" && beforeParenthesis.has(word)))
    return scalarFunctions.has(word) ? null : `unknown function ${token.text}`;
  if (isKeyword(before, "collate")) return collations.has(word) ? null : `unknown collation ${token.text}`;
  if (columns.has(word)) return null;
  if (token.kind === "word" && (keywords.has(word) || types.has(word))) return null;
  return `unknown column ${token.text}`;
}

function parenthesesProblem(tokens: readonly Token[]): string | null {
  let depth = 0;
  for (const token of tokens) {
    if (isSymbol(token, "(")) depth++;
    if (isSymbol(token, ")")) depth--;
    if (depth < 0) return "a parenthesis is closed that was not opened";
  }
  return depth === 0 ? null : "a parenthesis is not closed";
}

const words = (text: string) => new Set(text.split(/\s+/));

const forbidden = words("select values exists");
const keywords = words(
  `and or not in is null isnull notnull between like glob escape case when then else end cast as collate distinct from
   true false current_time current_date current_timestamp`,
);
const beforeParenthesis = words("and or not in is between like glob when then else case escape distinct");
const types = words("integer int real text blob numeric");
const collations = words("binary nocase rtrim");

/** Scalar functions of SQLite that read neither files nor the database and load no code. */
export const scalarFunctions: ReadonlySet<string> = words(
  `abs ceil ceiling char coalesce cast concat concat_ws date datetime floor format glob hex ifnull iif instr json
   json_array json_array_length json_error_position json_extract json_insert json_object json_patch json_quote
   json_remove json_replace json_set json_type json_valid julianday length like likelihood likely lower ltrim max min
   mod nullif octet_length pow power printf quote random randomblob replace round rtrim sign sqrt strftime substr
   substring time timediff trim trunc typeof unhex unicode unixepoch unlikely upper zeroblob`,
);

/**
 * All names in an SQL expression except those of functions, in lower case. Not all of them are columns: keywords and
 * names of types are included.
 */
export function namesIn(sql: string): Set<string> {
  const tokens = tokenize(sql);
  const named = tokens.filter((token, index) => isColumn(token, tokens[index + 1]));
  return new Set(named.map(({ value }) => value.toLowerCase()));
}

/** The SQL expression with its columns renamed. `renames` gives the new names by the old ones in lower case. */
export function withRenamedColumns(sql: string, renames: ReadonlyMap<string, string>): string {
  const tokens = tokenize(sql);
  let text = "";
  let end = 0;
  for (const [index, token] of tokens.entries()) {
    const renamed = isColumn(token, tokens[index + 1]) ? renames.get(token.value.toLowerCase()) : undefined;
    text += sql.slice(end, token.start) + (renamed === undefined ? token.text : quoteName(renamed));
    end = token.start + token.text.length;
  }
  return text + sql.slice(end);
}

/** The SQL expression over columns of a table, for rows of a subquery, in which these have their `carriedName`. */
export function overCarried(sql: string, columns: Iterable<string>): string {
  const renames = [...columns].filter((name) => carriedName(name) !== name);
  return withRenamedColumns(sql, new Map(renames.map((name) => [name.toLowerCase(), carriedName(name)])));
}

function isColumn(token: Token, after: Token | undefined): boolean {
  return token.kind === "quoted" || (token.kind === "word" && !isSymbol(after, "("));
}

/**
 * Whether two expressions differ at most in spaces, comments, quotes, the case of names, and parentheses around the
 * whole.
 */
export function sameFragment(a: string | null, b: string | null): boolean {
  if (a === null || b === null) return a === b;
  return canonicalFragment(a) === canonicalFragment(b);
}

/** The same text for all expressions that `sameFragment` takes for the same. It need not be valid SQL. */
export function canonicalFragment(sql: string): string {
  let tokens = withoutComments(tokenize(sql));
  while (isWrapped(tokens)) tokens = tokens.slice(1, -1);
  return tokens.map(canonicalToken).join(" ");
}

/** Whether the first token opens a parenthesis that the last one closes. */
function isWrapped(tokens: readonly Token[]): boolean {
  if (!isSymbol(tokens[0], "(") || !isSymbol(tokens.at(-1), ")")) return false;
  let depth = 0;
  return tokens.every((token, index) => {
    if (isSymbol(token, "(")) depth++;
    if (isSymbol(token, ")")) depth--;
    return depth > 0 || index === tokens.length - 1;
  });
}

function canonicalToken(token: Token): string {
  if (token.kind === "word" || token.kind === "quoted") return token.value.toLowerCase();
  if (token.kind !== "number") return token.text;
  const value = Number(token.text);
  return Number.isSafeInteger(value) || !/^\d+$/.test(token.text) ? String(value) : token.text;
}
