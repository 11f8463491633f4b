import type { Keyword, RuleToken } from "./lex.js";
import { advance, type Position, type RuleProblem, startOfText } from "./position.js";

/**
 * How many levels deep parentheses, `not` and `exists` may be nested in a rule, counting those in the named conditions
 * that it uses. This also limits the depth of every later recursion over the rule.
 */
export const nestingMax = 64;

/**
 * The words without a dot that a text may use: named conditions, and the parameters of the named condition or the
 * operation whose text it is. `parameters` is null in the text of a rule.
 */
export interface KnownWords {
  readonly conditions: { has(name: string): boolean };
  readonly parameters: readonly string[] | null;
}

/**
 * Moves through the tokens of a text. If the current token is not the wanted one, an `expect…` method throws a
 * `SyntaxRefusal`, and a `take…` method returns null and stays at the token.
 */
export class TokenReader {
  #next = 0;
  #nesting = 0;
  #deepest = 0;
  #end = startOfText;

  constructor(
    private readonly tokens: readonly RuleToken[],
    readonly names: KnownWords,
  ) {}

  /** How many parentheses, `not` and `exists` there are around the current token. */
  get nesting(): number {
    return this.#nesting;
  }

  /** The largest `nesting` so far. */
  get deepest(): number {
    return this.#deepest;
  }

  /** The position behind the last token that was taken. */
  get end(): Position {
    return this.#end;
  }

  get current(): RuleToken {
    return this.tokens[this.#next]!;
  }

  /** Takes the current token. At the last token (`end` or a problem) the reader stays there. */
  advance(): RuleToken {
    const token = this.current;
    if (this.#next < this.tokens.length - 1) this.#next += 1;
    this.#end = advance(token.at, token.text);
    return token;
  }

  takeSymbol(symbol: string): RuleToken | null {
    return this.current.kind === "symbol" && this.current.text === symbol ? this.advance() : null;
  }

  takeKeyword(keyword: Keyword): RuleToken | null {
    return this.current.kind === "word" && this.current.keyword === keyword ? this.advance() : null;
  }

  expectSymbol(symbol: string): RuleToken {
    return this.takeSymbol(symbol) ?? this.refuse(`expected ${symbol}`);
  }

  expectKeyword(keyword: Keyword): RuleToken {
    return this.takeKeyword(keyword) ?? this.refuse(`expected ${keyword}`);
  }

  /** Takes any word as a name, keywords included, because a column may be called `public`. */
  expectWord(what: string): RuleToken {
    return this.current.kind === "word" ? this.advance() : this.refuse(`expected ${what}`);
  }

  /**
   * Parses a part that is nested one level deeper. Throws a `SyntaxRefusal` at `at` if that is more than `nestingMax`
   * levels.
   */
  nested<T>(at: Position, read: () => T): T {
    if (this.#nesting === nestingMax) throw new SyntaxRefusal({ at, message: tooDeep });
    this.#nesting += 1;
    this.#deepest = Math.max(this.#deepest, this.#nesting);
    const result = read();
    this.#nesting -= 1;
    return result;
  }

  /**
   * Says what was expected at the current token. If that token is a mistake which the lexer found, the lexer's message
   * is used instead.
   */
  refuse(expectation: string): never {
    const { current } = this;
    const message = current.kind === "problem" ? current.message : `${expectation}, found ${describe(current)}`;
    return this.refuseAt(current.at, message);
  }

  refuseAt(at: Position, message: string): never {
    throw new SyntaxRefusal({ at, message });
  }
}

/** Ends parsing at the first mistake. `parse` catches it and returns the problem. */
export class SyntaxRefusal extends Error {
  constructor(readonly problem: RuleProblem) {
    super(problem.message);
  }
}

/** A message: see `nestingMax`. */
export const tooDeep = `nested more than ${nestingMax} levels deep`;

function describe({ kind, text }: RuleToken): string {
  if (kind === "end") return "the end of the rule";
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
