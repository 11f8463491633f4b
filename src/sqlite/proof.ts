import { scalarFunctions } from "./fragment.js";
import { closing, isKeyword, isSymbol, type Token, tokenize, topLevel } from "./sql-tokens.js";

/** What an SQL statement of the project's owner may name. All names but those of parameters are in lower case. */
export interface ProofScope {
  /** The tables that the schema declares. */
  readonly tables: ReadonlySet<string>;
  /**
   * Further tables and views of the database, which the statement must not name. Names that begin like those of SQLite,
   * of D1 and libSQL, or of the server's own tables are refused in any case and need not be listed here.
   */
  readonly others: ReadonlySet<string>;
  /** The parameters that the statement may use, as `:name`. */
  readonly parameters: ReadonlySet<string>;
  /** Whether the statement belongs to a trigger, where RAISE is allowed. */
  readonly isInTrigger?: boolean;
}

/** The kinds of SQL statements that the project's owner may write. */
export type StatementKind = "select" | "insert" | "update" | "delete";

/** An SQL statement of the project's owner that `proveSql` has accepted. */
export interface ProvedSql {
  readonly kind: StatementKind;
  /**
   * The declared tables whose names occur in the statement, in lower case, even if a name stands for a column there.
   */
  readonly tables: ReadonlySet<string>;
  /** Which of the table-valued functions `json_each` and `json_tree` the statement uses. */
  readonly tableFunctions: ReadonlySet<string>;
  readonly sql: string;
  readonly tokens: readonly Token[];
}

/** A mistake in an SQL statement of the project's owner. `at` is an index in its text. */
export interface SqlProblem {
  readonly at: number;
  readonly message: string;
}

/** The statement that was accepted, or all problems of one that was not. */
export type Proof =
  | { readonly proved: ProvedSql; readonly problems?: never }
  | { readonly proved?: never; readonly problems: readonly SqlProblem[] };

/** How many times a statement may use parameters in all. D1 takes 100 at most, and the server adds some of its own. */
const parametersMax = 90;

const lengthMax = 20_000;

/**
 * Judges one SQL statement of the project's owner, by its tokens alone. It has to be one SELECT, INSERT, UPDATE or
 * DELETE, to call only functions of a fixed list (`functions`), and to use only the given parameters. Names of
 * undeclared tables (`ProofScope.others`), of SQLite and of the server are refused, and strings like them too, because
 * SQLite takes a string for a name in some places. Any other name is accepted: only the database can tell whether the
 * statement can be compiled, and which tables it opens.
 */
export function proveSql(sql: string, scope: ProofScope): Proof {
  const unreadable = unreadableProblem(sql);
  if (unreadable !== null) return { problems: [unreadable] };
  const tokens = tokenize(sql);
  const kind = kindOf(tokens);
  const problems = [
    ...(kind === null ? [{ at: tokens[0]?.start ?? 0, message: oneOf }] : []),
    ...tokens.flatMap((token, index) => {
      const message = tokenProblem(tokens, index, scope);
      return message === null ? [] : [{ at: token.start, message }];
    }),
    ...parenthesesProblems(tokens),
  ];
  const used = tokens.filter(({ kind }) => kind === "parameter");
  if (used.length > parametersMax)
    problems.push({ at: used[parametersMax]!.start, message: `more than ${parametersMax} parameters` });
  if (kind === null || problems.length > 0) return { problems: problems.toSorted((a, b) => a.at - b.at) };
  const names = new Set(tokens.filter(mayBeName).map(({ value }) => value.toLowerCase()));
  const among = (known: ReadonlySet<string>) => new Set([...names].filter((name) => known.has(name)));
  return {
    proved: { kind, tables: among(scope.tables), tableFunctions: among(tableFunctions), sql, tokens },
  };
}

const oneOf = "expected one SELECT, INSERT, UPDATE or DELETE";

/**
 * Why `tokenize` could read the SQL differently than SQLite does: it is too long, or has characters that SQLite treats
 * in its own way. Null if neither is so.
 */
function unreadableProblem(sql: string): SqlProblem | null {
  if (sql.length > lengthMax) return { at: lengthMax, message: `longer than ${lengthMax} characters` };
  // SQLite takes NUL for the end of the text, and a byte order mark for a space where a token may begin.
  const at = sql.search(/[\0\ufeff]|\p{Surrogate}/u);
  return at === -1 ? null : { at, message: "NUL, a byte order mark or half a surrogate pair is not allowed" };
}

/** The kind of a statement, which may begin with WITH; null for others than SELECT, INSERT, UPDATE and DELETE. */
function kindOf(tokens: readonly Token[]): StatementKind | null {
  const [first] = tokens;
  const outside = topLevel(tokens);
  const verb = isKeyword(first, "with") ? outside.find((token) => verbs.some((each) => isKeyword(token, each))) : first;
  return kinds.find((each) => isKeyword(verb, each)) ?? null;
}

const kinds: readonly StatementKind[] = ["select", "insert", "update", "delete"];
const verbs = [...kinds, "values", "replace"];

/** Whether SQLite may take the token for a name. */
function mayBeName({ kind }: Token): boolean {
  return kind === "word" || kind === "quoted" || kind === "string";
}

function tokenProblem(tokens: readonly Token[], index: number, scope: ProofScope): string | null {
  const token = tokens[index]!;
  switch (token.kind) {
    case "comment":
      return "comments are not allowed in SQL here";
    case "unknown":
      return `not SQL: ${JSON.stringify(token.text)}`;
    case "symbol":
      return token.text === ";" ? "one statement, without a semicolon" : null;
    case "parameter":
      return parameterProblem(token, tokens[index + 1], scope);
    case "word":
    case "quoted":
      return nameProblem(token, scope) ?? wordProblem(tokens, index, scope);
    case "string":
      return nameProblem(token, scope);
    default:
      return null;
  }
}

function parameterProblem(token: Token, after: Token | undefined, { parameters }: ProofScope): string | null {
  const name = token.text.slice(1);
  if (token.text[0] !== ":") return `parameters are written :name, not ${token.text}`;
  // SQLite would read `:a$b`, `:a::b` and `:a(b)` as one parameter each.
  const touches = after?.start === token.start + token.text.length && /^[$:(@#\u0080-\uffff]/.test(after.text);
  if (touches) return `:${name} is followed by ${after.text} without a space`;
  return parameters.has(name) ? null : `unknown parameter :${name}`;
}

/** Names, in lower case, that belong to SQLite, to libSQL or to the server itself. */
const reserved = /^(?:_[a-z0-9_$\u0080-\uffff]*$|sqlite_|pragma_|libsql_)/;
/** Virtual tables that some builds of SQLite offer without their being in the schema. */
const modules = new Set(["dbstat", "fts5vocab", "bytecode", "tables_used"]);
const tableFunctions = new Set(["json_each", "json_tree"]);

function nameProblem({ kind, value }: Token, { tables, others }: ProofScope): string | null {
  const name = value.toLowerCase();
  if (tables.has(name)) return null;
  if (reserved.test(name)) return `${value} is a name of the server's or of SQLite's own`;
  return others.has(name) || (kind !== "string" && modules.has(name)) ? `${value} is not a table of the schema` : null;
}

function wordProblem(tokens: readonly Token[], index: number, scope: ProofScope): string | null {
  const token = tokens[index]!;
  const before = tokens[index - 1];
  const after = tokens[index + 1];
  const word = token.value.toLowerCase();
  if (isSymbol(after, ".") && (word === "main" || word === "temp")) return "a table is named without its database";
  if (token.kind === "word" && word === "or" && isVerb(before)) return conflictProblem(after);
  if (isKeyword(before, "collate")) return collations.has(word) ? null : `unknown collation ${token.text}`;
  if (!isSymbol(after, "(")) return null;
  if (token.kind === "word" && beforeParenthesis.has(word)) return null;
  if (token.kind === "word" && word === "raise" && scope.isInTrigger === true) return raiseProblem(tokens[index + 2]);
  if (blobMakers.has(word)) return blobProblem(tokens[index + 2], tokens[index + 3], token);
  if (functions.has(word)) return null;
  return isTableWithColumns(tokens, index, scope) ? null : `unknown function ${token.text}`;
}

function isVerb(token: Token | undefined): boolean {
  return isKeyword(token, "insert") || isKeyword(token, "update");
}

/**
 * Why an `OR …` after INSERT or UPDATE is refused; null for IGNORE and ABORT. REPLACE deletes rows without running
 * their triggers, ROLLBACK also undoes what other statements of the same transaction have written, and FAIL keeps a
 * part of the statement's changes.
 */
function conflictProblem(after: Token | undefined): string | null {
  const isAllowed = isKeyword(after, "ignore") || isKeyword(after, "abort");
  return isAllowed ? null : `OR ${after?.text.toUpperCase() ?? ""} is not allowed here`;
}

function raiseProblem(action: Token | undefined): string | null {
  const isAllowed = isKeyword(action, "ignore") || isKeyword(action, "abort");
  return isAllowed ? null : "RAISE takes ABORT or IGNORE here";
}

const blobMakers = new Set(["randomblob", "zeroblob"]);
const blobBytesMax = 1_000_000;

/**
 * Why a call of `randomblob` or `zeroblob` is refused. Its argument has to be a literal number, and not a large one: a
 * size that a caller gives could fill the memory.
 */
function blobProblem(size: Token | undefined, end: Token | undefined, { text }: Token): string | null {
  const isSmall = size?.kind === "number" && isSymbol(end, ")") && Number(size.text) <= blobBytesMax;
  return isSmall ? null : `${text} takes a number of at most ${blobBytesMax} here`;
}

/**
 * Whether a name before a parenthesis is no function: the table or its alias in `INSERT INTO name (…)`, or a common
 * table expression with its columns, `WITH name (…) AS (…)`.
 */
function isTableWithColumns(tokens: readonly Token[], index: number, { tables }: ProofScope): boolean {
  const before = tokens[index - 1];
  const isTable = tables.has(tokens[index]!.value.toLowerCase());
  if (isKeyword(before, "into")) return isTable;
  // In `INSERT INTO name AS alias (…)` a list of columns follows the alias.
  if (isKeyword(before, "as") && isKeyword(tokens[index - 3], "into")) return true;
  const begins = isKeyword(before, "with") || isKeyword(before, "recursive") || isSymbol(before, ",");
  const end = closing(tokens, index + 1);
  if (!begins || !isKeyword(tokens[end + 1], "as")) return false;
  // `AS (` or `AS MATERIALIZED (` marks a common table expression: no parenthesis follows the AS of an alias.
  const body = tokens.slice(end + 2).find((token) => !["not", "materialized"].some((word) => isKeyword(token, word)));
  return isSymbol(body, "(");
}

function parenthesesProblems(tokens: readonly Token[]): SqlProblem[] {
  const open: Token[] = [];
  for (const token of tokens) {
    if (isSymbol(token, "(")) open.push(token);
    if (isSymbol(token, ")") && open.pop() === undefined)
      return [{ at: token.start, message: "a parenthesis is closed that was not opened" }];
  }
  return open.slice(-1).map(({ start }) => ({ at: start, message: "a parenthesis is not closed" }));
}

const words = (text: string) => text.split(/\s+/);

/** Keywords of SQL that a parenthesis may follow although they are no functions. */
const beforeParenthesis = new Set(
  words(
    `and or not in is between like glob when then else case escape distinct all select from where on having by values
     exists over filter as materialized using set union except intersect returning limit offset join conflict indexed
     match window`,
  ),
);
const collations = new Set(words("binary nocase rtrim"));

/**
 * The functions that the owner's SQL may call: they read neither files nor the database, load no code and change
 * nothing.
 */
const functions: ReadonlySet<string> = new Set([
  ...scalarFunctions,
  ...tableFunctions,
  ...words(
    `avg count group_concat string_agg sum total json_group_array json_group_object row_number rank dense_rank
     percent_rank cume_dist ntile lag lead first_value last_value nth_value acos acosh asin asinh atan atan2 atanh cos
     cosh degrees exp ln log log10 log2 pi radians sin sinh tan tanh`,
  ),
]);
