import { didYouMean } from "../problems/did-you-mean.js";
import type { CompareOperator } from "./ast.js";
import { lex, type RuleToken } from "./lex.js";
import { type RuleProblem, startOfText } from "./position.js";
import type { CallSyntax, ReferenceSyntax, Syntax } from "./syntax.js";
import { type KnownWords, SyntaxRefusal, TokenReader } from "./token-reader.js";

/** How many characters a rule may have, once the named conditions that it uses are written out. */
export const textLengthMax = 10_000;

/** The message for a rule that is longer than `textLengthMax`. */
export const tooLong = `longer than ${textLengthMax} characters`;

/** Parses the text of a rule or of a named condition (`docs/reference/rules.md#grammar`). */
export function parse(text: string, names: KnownWords): ParseResult {
  if (text.length > textLengthMax) return { problem: { at: startOfText, message: tooLong } };
  const tokens = lex(text);
  const reader = new TokenReader(tokens, names);
  try {
    const syntax = disjunction(reader);
    if (reader.current.kind !== "end") reader.refuse("expected and, or or the end");
    return { syntax, length: text.length, depth: reader.deepest, called: calledIn(tokens) };
  } catch (error) {
    if (error instanceof SyntaxRefusal) return { problem: error.problem };
    throw error;
  }
}

/** The tree, or the first mistake: what follows one may only seem to be wrong. */
export type ParseResult =
  | (ParsedText & { readonly problem?: never })
  | { readonly problem: RuleProblem; readonly syntax?: never };

/** The text of a rule or a named condition without mistakes of grammar. */
export interface ParsedText {
  readonly syntax: Syntax;
  /** In characters. */
  readonly length: number;
  /** How deep parentheses, `not` and `exists` are nested. */
  readonly depth: number;
  /** The named conditions that the text uses. */
  readonly called: ReadonlySet<string>;
}

/**
 * In a text without mistakes of grammar, each word that is no keyword and has a parenthesis behind it is the use of a
 * condition.
 */
function calledIn(tokens: readonly RuleToken[]): ReadonlySet<string> {
  const called = tokens.filter(
    (token, at) => token.kind === "word" && token.keyword === null && tokens[at + 1]?.text === "(",
  );
  return new Set(called.map(({ text }) => text));
}

function disjunction(reader: TokenReader): Syntax {
  return chain(reader, "or", conjunction);
}

function conjunction(reader: TokenReader): Syntax {
  return chain(reader, "and", negation);
}

function chain(reader: TokenReader, kind: "and" | "or", term: (reader: TokenReader) => Syntax): Syntax {
  const { at } = reader.current;
  const first = term(reader);
  const terms = [first];
  while (reader.takeKeyword(kind)) terms.push(term(reader));
  return terms.length === 1 ? first : { kind, terms, at };
}

function negation(reader: TokenReader): Syntax {
  const not = reader.takeKeyword("not");
  if (not === null) return comparison(reader);
  return { kind: "not", term: reader.nested(not.at, () => negation(reader)), at: not.at };
}

function comparison(reader: TokenReader): Syntax {
  const from = reader.current.at;
  const left = primary(reader);
  const compared = comparisonWith(reader, left);
  if (compared !== null && startsComparison(reader.current))
    reader.refuse("comparisons do not chain: expected and, or or the end");
  // A condition that stands in parentheses by itself has got its extent already, when it was parsed within them. One
  // that `and`, `or` or `not` joins has none, but its parts have.
  if (compared === null && (left.extent !== undefined || isJoined(left))) return left;
  return { ...(compared ?? left), extent: { from, to: reader.end } };
}

function isJoined({ kind }: Syntax): boolean {
  return kind === "and" || kind === "or" || kind === "not";
}

function comparisonWith(reader: TokenReader, left: Syntax): Syntax | null {
  const { at } = reader.current;
  const operator = compareOperators.get(reader.current.text);
  if (reader.current.kind === "symbol" && operator !== undefined) {
    reader.advance();
    return { kind: "compare", operator, left, right: primary(reader), at };
  }
  if (reader.takeKeyword("is")) return nullTest(reader, left);
  if (reader.takeKeyword("in")) return membership(reader, left);
  if (reader.takeKeyword("not")) {
    reader.expectKeyword("in");
    return { kind: "not", term: membership(reader, left), at };
  }
  return null;
}

const compareOperators: ReadonlyMap<string, CompareOperator> = new Map(
  (["=", "!=", "<", "<=", ">", ">="] as const).map((operator) => [operator, operator]),
);

function startsComparison(token: RuleToken): boolean {
  if (token.kind === "word") return token.keyword === "is" || token.keyword === "in";
  return token.kind === "symbol" && compareOperators.has(token.text);
}

function nullTest(reader: TokenReader, value: Syntax): Syntax {
  const negated = reader.takeKeyword("not") !== null;
  reader.expectKeyword("null");
  return { kind: "is_null", value, negated, at: value.at };
}

function membership(reader: TokenReader, value: Syntax): Syntax {
  reader.expectSymbol("(");
  const list = [primary(reader)];
  while (reader.takeSymbol(",")) list.push(primary(reader));
  reader.expectSymbol(")");
  return { kind: "in", value, list, at: value.at };
}

function primary(reader: TokenReader): Syntax {
  const token = reader.current;
  if (token.kind === "literal") {
    reader.advance();
    return { kind: "literal", value: token.value, at: token.at };
  }
  if (token.kind === "word") return token.keyword === null ? named(reader) : keywordPrimary(reader);
  if (reader.takeSymbol("(")) return parenthesised(reader, token);
  return reader.refuse("expected a condition or a value");
}

function parenthesised(reader: TokenReader, open: RuleToken): Syntax {
  const inner = reader.nested(open.at, () => disjunction(reader));
  reader.expectSymbol(")");
  return inner;
}

function named(reader: TokenReader): Syntax {
  const { nesting, names } = reader;
  const word = reader.advance();
  const { text, at } = word;
  const isCall = reader.current.kind === "symbol" && reader.current.text === "(";
  // `exist(…` is a misspelt `exists`, unless there is a condition of that name.
  if (isCall && (names.conditions.has(text) || didYouMean(text, ["exists"]) === ""))
    return { kind: "call", name: text, arguments: argumentsOf(reader, at), depth: nesting, at };
  if (!names.parameters?.includes(text)) return reference(reader, word);
  return reader.takeSymbol(".")
    ? reader.refuseAt(at, `${text} is a parameter: it is a value and has no columns`)
    : { kind: "parameter", name: text, at };
}

function argumentsOf(reader: TokenReader, at: Syntax["at"]): CallSyntax["arguments"] {
  reader.expectSymbol("(");
  if (reader.takeSymbol(")")) return [];
  return reader.nested(at, () => {
    const values = [primary(reader)];
    while (reader.takeSymbol(",")) values.push(primary(reader));
    reader.expectSymbol(")");
    return values;
  });
}

function reference(reader: TokenReader, source: RuleToken): ReferenceSyntax {
  if (!reader.takeSymbol(".")) refuseWord(reader, source);
  const name = reader.expectWord(`a name after ${source.text}.`);
  return { kind: "reference", source: source.text, name: name.text, at: source.at };
}

/** Refuses a word without a dot behind it: a misspelt shorthand such as `public`, or a column without its `row.`. */
function refuseWord(reader: TokenReader, { text, at }: RuleToken): never {
  const { conditions, parameters } = reader.names;
  if (conditions.has(text)) reader.refuseAt(at, `${text} is a condition: write its arguments behind it, or ${text}()`);
  const compared = startsComparison(reader.current);
  const words = [...(parameters ?? []), ...(compared ? [] : shorthands)];
  const other = compared ? undefined : otherWords.get(text.toLowerCase());
  const meant = other ?? didYouMean(text, words);
  if (meant !== "" || parameters !== null) reader.refuseAt(at, `unknown word ${text}${meant}`);
  const example = /^(row|new|auth)$/.test(text) ? `${text}.id` : `row.${text}`;
  return reader.refuse(`expected . after ${text}, as in ${example}`);
}

const shorthands = ["public", "authenticated", "deny", "exists"];

/** Words of other languages that people try in a rule, each with a hint what to write instead. */
const otherWords = new Map([
  ["admin", "; write auth.role = 'admin'"],
  ["everyone", "; write public"],
  ["nobody", "; write deny"],
]);

function keywordPrimary(reader: TokenReader): Syntax {
  const { at } = reader.current;
  if (reader.takeKeyword("null")) return { kind: "literal", value: null, at };
  if (reader.takeKeyword("true")) return { kind: "literal", value: true, at };
  if (reader.takeKeyword("false")) return { kind: "literal", value: false, at };
  if (reader.takeKeyword("public")) return { kind: "shorthand", name: "public", at };
  if (reader.takeKeyword("authenticated")) return { kind: "shorthand", name: "authenticated", at };
  if (reader.takeKeyword("deny")) return { kind: "shorthand", name: "deny", at };
  if (reader.takeKeyword("now")) return now(reader, at);
  if (reader.takeKeyword("exists")) return exists(reader, at);
  return reader.refuse("expected a condition or a value");
}

function now(reader: TokenReader, at: Syntax["at"]): Syntax {
  reader.expectSymbol("(");
  reader.expectSymbol(")");
  return { kind: "now", at };
}

function exists(reader: TokenReader, at: Syntax["at"]): Syntax {
  reader.expectSymbol("(");
  const table = reader.expectWord("a table");
  const anAlias = `an alias, as in exists(${table.text} ${table.text.replace("$", "")[0]} where …)`;
  if (reader.current.kind === "word" && reader.current.keyword !== null) reader.refuse(`expected ${anAlias}`);
  const alias = reader.expectWord(anAlias);
  if (reader.names.parameters?.includes(alias.text))
    reader.refuseAt(alias.at, `${alias.text} is a parameter: give the alias another name`);
  reader.expectKeyword("where");
  const where = reader.nested(at, () => disjunction(reader));
  reader.expectSymbol(")");
  return { kind: "exists", table, alias, where, at };
}
