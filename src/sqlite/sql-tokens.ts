/** A token of SQL, by SQLite's lexical grammar as far as reading a schema needs it (SQLite's tokenize.c). */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** The content of a quoted name or a string, with quotes resolved; otherwise `text`. */
  readonly value: string;
  readonly start: number;
}

/** `quoted` is a name in any of SQLite's quotes, `unknown` a character that begins no token of SQLite's. */
export type TokenKind =
  | "word"
  | "quoted"
  | "string"
  | "blob"
  | "number"
  | "parameter"
  | "symbol"
  | "comment"
  | "unknown";

/** In the order in which the patterns are tried. */
const patterns: readonly (readonly [TokenKind, string])[] = [
  ["comment", String.raw`--[^\n]*|/\*[^]*?(?:\*/|$)`],
  ["string", "'(?:[^']|'')*'"],
  ["quoted", String.raw`"(?:[^"]|"")*"|${"`(?:[^`]|``)*`"}|\[[^\]]*\]`],
  ["blob", "[xX]'(?:[0-9a-fA-F]{2})*'"],
  ["number", String.raw`0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`],
  ["word", String.raw`[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*`],
  ["parameter", String.raw`\?\d*|[:@#$][A-Za-z0-9_]+`],
  ["symbol", String.raw`->>|->|\|\||<=|>=|<>|!=|==|<<|>>|[-+*/%&|~<>=(),.;]`],
  ["unknown", "[^]"],
];

const space = /[ \t\n\f\r]+/y;
const token = new RegExp(patterns.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join("|"), "y");

/** Comments are tokens, too. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < sql.length) {
    at = skipSpace(sql, at);
    token.lastIndex = at;
    const match = token.exec(sql);
    if (match === null) break;
    const [kind] = patterns.find(([name]) => match.groups?.[name] !== undefined)!;
    tokens.push({ kind, text: match[0], value: unquoted(kind, match[0]), start: at });
    at += match[0].length;
  }
  return tokens;
}

function skipSpace(sql: string, at: number): number {
  space.lastIndex = at;
  return space.test(sql) ? space.lastIndex : at;
}

function unquoted(kind: TokenKind, text: string): string {
  if (kind === "string") return text.slice(1, -1).replaceAll("''", "'");
  if (kind !== "quoted") return text;
  const close = text.at(-1)!;
  const inner = text.slice(1, -1);
  return close === "]" ? inner : inner.replaceAll(close + close, close);
}

/** Whether the token is a keyword, given in lower case. A quoted name is never one. */
export function isKeyword(candidate: Token | undefined, keyword: string): boolean {
  return candidate?.kind === "word" && candidate.text.toLowerCase() === keyword;
}

/** Whether the token is the given operator or punctuation mark. */
export function isSymbol(candidate: Token | undefined, symbol: string): boolean {
  return candidate?.kind === "symbol" && candidate.text === symbol;
}

/** The tokens without comments. */
export function withoutComments(tokens: readonly Token[]): Token[] {
  return tokens.filter(({ kind }) => kind !== "comment");
}

/** The tokens outside of all parentheses, and the outermost parentheses themselves. */
export function topLevel(tokens: readonly Token[]): Token[] {
  let depth = 0;
  return tokens.filter((token) => {
    if (isSymbol(token, ")")) depth--;
    const outside = depth === 0;
    if (isSymbol(token, "(")) depth++;
    return outside;
  });
}

/** The index of the parenthesis that closes the one at `open`; the number of tokens if none does. */
export function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let index = open; index < tokens.length; index++) {
    if (isSymbol(tokens[index], "(")) depth++;
    if (isSymbol(tokens[index], ")")) depth--;
    if (depth === 0) return index;
  }
  return tokens.length;
}

/** The text of the tokens, with one space wherever there was white space or a comment between them. */
export function textOf(tokens: readonly Token[]): string {
  let text = "";
  let end = tokens[0]?.start ?? 0;
  for (const token of tokens) {
    text += (token.start > end ? " " : "") + token.text;
    end = token.start + token.text.length;
  }
  return text;
}

/** Whether the SQL mentions a name, quoted or not, in any case. It may say yes if the word means something else. */
export function mentions(sql: string, name: string): boolean {
  const wanted = name.toLowerCase();
  return tokenize(sql).some(
    // Strings are compared too, because in some places SQLite reads a string as a name.
    ({ kind, value }) => (kind === "word" || kind === "quoted" || kind === "string") && value.toLowerCase() === wanted,
  );
}

/** The name in double quotes, with double quotes inside doubled. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The text in single quotes, with single quotes inside doubled. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
