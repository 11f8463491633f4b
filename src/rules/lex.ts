import { isStorableInteger } from "../sqlite/column-type.js";
import { advance, type Position, startOfText } from "./position.js";

/**
 * Splits a rule's text into tokens (`docs/reference/rules.md#grammar`). At a mistake it stops with a `problem` token
 * instead of the last token `end`. So the parser, which reads from the left, reports the first mistake, be it one of
 * spelling or of grammar.
 */
export function lex(text: string): readonly RuleToken[] {
  const tokens: RuleToken[] = [];
  let at = startOfText;
  let offset = 0;
  while (offset < text.length) {
    const space = match(spacePattern, text, offset);
    if (space === null) {
      const token = nextToken(text, offset, at);
      tokens.push(token);
      if (token.kind === "problem") return tokens;
    }
    const consumed = space ?? tokens[tokens.length - 1]!.text;
    at = advance(at, consumed);
    offset += consumed.length;
  }
  tokens.push({ kind: "end", text: "", at });
  return tokens;
}

/** `text` is empty for `end` and `problem`. `at` is where the token begins. */
export type RuleToken = { readonly text: string; readonly at: Position } & (
  | { readonly kind: "word"; readonly keyword: Keyword | null }
  | { readonly kind: "literal"; readonly value: string | bigint | number }
  | { readonly kind: "symbol" }
  | { readonly kind: "problem"; readonly message: string }
  | { readonly kind: "end" }
);

/** A keyword of the language of rules. */
export type Keyword = (typeof keywords)[number];

const keywords = [
  "and",
  "or",
  "not",
  "in",
  "is",
  "null",
  "true",
  "false",
  "exists",
  "where",
  "public",
  "authenticated",
  "deny",
  "now",
] as const;

const spacePattern = /[ \t\r\n]+/y;
const wordPattern = /\$users\b|[A-Za-z][A-Za-z0-9_]*/y;
/** Letters and digits directly after a number belong to it, so that `12abc` is one malformed number, not two tokens. */
const numberPattern = /-?[0-9](?:[eE][+-]|[A-Za-z0-9_.])*/y;
/**
 * A text in single quotes, in which `''` is a quote. The look-ahead at the end rejects the unclosed text `'it''s`,
 * which would otherwise match up to the first of its two quotes.
 */
const textPattern = /'[^']*(?:''[^']*)*'(?!')/y;
const symbolPattern = /!=|<=|>=|[=<>(),.]/y;
const foreignPattern = /<>|==|&&|\|\|/y;

/** Operators of other languages, and what a rule has to write instead. */
const foreign = new Map([
  ["<>", "!="],
  ["==", "="],
  ["&&", "and"],
  ["||", "or"],
]);

function nextToken(text: string, offset: number, at: Position): RuleToken {
  const word = match(wordPattern, text, offset);
  if (word !== null) return { kind: "word", text: word, keyword: keywordOf(word), at };
  const number = match(numberPattern, text, offset);
  if (number !== null) return numberToken(number, at);
  if (text[offset] === "'") return textToken(match(textPattern, text, offset), at);
  const other = match(foreignPattern, text, offset);
  if (other !== null) return problem(at, `write ${foreign.get(other)} instead of ${other}`);
  const symbol = match(symbolPattern, text, offset);
  if (symbol !== null) return { kind: "symbol", text: symbol, at };
  return unexpected(text, offset, at);
}

function match(pattern: RegExp, text: string, offset: number): string | null {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0] ?? null;
}

/** Null for a name. Keywords are matched without regard to case, names with regard to it. */
export function keywordOf(word: string): Keyword | null {
  const lower = word.toLowerCase();
  return keywords.find((keyword) => keyword === lower) ?? null;
}

function numberToken(text: string, at: Position): RuleToken {
  if (/^-?[0-9]+$/.test(text)) {
    const value = BigInt(text);
    return isStorableInteger(value)
      ? { kind: "literal", text, value, at }
      : problem(at, "an integer has at most 64 bits");
  }
  if (!/^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(text)) return problem(at, `malformed number ${text}`);
  const value = Number(text);
  return Number.isFinite(value)
    ? { kind: "literal", text, value, at }
    : problem(at, "the number is too large for a real");
}

function textToken(text: string | null, at: Position): RuleToken {
  if (text === null) return problem(at, "text without a closing quote: add ' where it ends");
  // SQLite does not give back a text with a NUL or a lone surrogate as it was sent.
  if (/[\0\p{Surrogate}]/u.test(text)) return problem(at, "text with a NUL or a lone surrogate");
  return { kind: "literal", text, value: text.slice(1, -1).replaceAll("''", "'"), at };
}

function unexpected(text: string, offset: number, at: Position): RuleToken {
  const character = String.fromCodePoint(text.codePointAt(offset)!);
  return character === '"'
    ? problem(at, "text is written in single quotes")
    : problem(at, `unexpected character ${JSON.stringify(character)}`);
}

function problem(at: Position, message: string): RuleToken {
  return { kind: "problem", text: "", message, at };
}
