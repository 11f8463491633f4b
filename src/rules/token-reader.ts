import type { Keyword, RuleToken } from "./lex.js";
import { advance, type Position, type RuleProblem, startOfText } from "./position.js";

/**
 * How deep parentheses, `not` and `exists` may be nested, those of the named conditions that a rule uses included. This
 * also limits the depth of every later recursion over the rule.
 */
export const nestingMax = 64;

/**
 * The names without a dot that a text may use: those of named conditions, and in the text of a named condition those of
 * its parameters. `parameters` is null in the text of a rule.
 */
export interface Names {
  readonly conditions: { has(name: string): boolean };
  readonly parameters: readonly string[] | null;
}

/**
 * Walks over the tokens of one rule. `expect…` methods throw a `SyntaxRefusal`, which `parse` catches, where the
 * current token does not fit; `take…` methods return null there and stay where they are.
 */
export class TokenReader {
  #next = 0;
  #nesting = 0;
  #deepest = 0;
  #end = startOfText;

  constructor(
    private readonly tokens: readonly RuleToken[],
    readonly names: Names,
  ) {}

  /** In how many parentheses, `not` and `exists` the current token stands. */
  get nesting(): number {
    return this.#nesting;
  }

  /** In how many parentheses, `not` and `exists` the most nested token so far stood. */
  get deepest(): number {
    return this.#deepest;
  }

  /** The position behind the last token that the reader has moved past. */
  get end(): Position {
    return this.#end;
  }

  get current(): RuleToken {
    return this.tokens[this.#next]!;
  }

  /** Returns the current token and moves to the next one. At the last token (`end` or a problem) it stays there. */
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
   * Runs `read` for a part that is nested one level deeper. Refuses the text, at the position `at`, where that is more
   * than `nestingMax` levels.
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
   * Throws a `SyntaxRefusal` at the current token, which says what was expected there. Where the token is a mistake
   * that the lexer found, that mistake's message is reported instead.
   */
  refuse(expectation: string): never {
    const { current } = this;
    const message =
      current.kind === "problem" ? current.message : `${expectation}, found ${describe(current)}`;
    return this.refuseAt(current.at, message);
  }

  refuseAt(at: Position, message: string): never {
    throw new SyntaxRefusal({ at, message });
  }
}

/** Ends parsing at the first mistake. `parse` catches it and returns the problem, so no caller of `parse` sees it. */
export class SyntaxRefusal extends Error {
  constructor(readonly problem: RuleProblem) {
    super(problem.message);
  }
}

/** The message where parentheses, `not` and `exists` are nested deeper than `nestingMax`. */
export const tooDeep = `nested more than ${nestingMax} levels deep`;

function describe({ kind, text }: RuleToken): string {
  if (kind === "end") return "the end of the rule";
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
