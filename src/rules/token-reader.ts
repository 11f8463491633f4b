import type { Keyword, RuleToken } from "./lex.js";
import type { Position, RuleProblem } from "./position.js";

/** Parentheses, `not` and `exists` within one another. Bounds the depth of every later recursion too. */
const nestingMax = 64;

/** Walks over the tokens of one rule. Throws a `SyntaxRefusal`, which `parse` catches, at the first that does not fit. */
export class TokenReader {
  #next = 0;
  #nesting = 0;

  constructor(private readonly tokens: readonly RuleToken[]) {}

  get current(): RuleToken {
    return this.tokens[this.#next]!;
  }

  /** The last token stays: nothing can be read past it. */
  advance(): RuleToken {
    const token = this.current;
    if (this.#next < this.tokens.length - 1) this.#next += 1;
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

  /** Any word, keywords included: a column may well be called `public`. */
  expectWord(what: string): RuleToken {
    return this.current.kind === "word" ? this.advance() : this.refuse(`expected ${what}`);
  }

  nested<T>(at: Position, read: () => T): T {
    if (this.#nesting === nestingMax) throw new SyntaxRefusal({ at, message: tooDeep });
    this.#nesting += 1;
    const result = read();
    this.#nesting -= 1;
    return result;
  }

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

/** Does not leave `parse`: unwinding is all that the first mistake needs. */
export class SyntaxRefusal extends Error {
  constructor(readonly problem: RuleProblem) {
    super(problem.message);
  }
}

const tooDeep = `nested more than ${nestingMax} levels deep`;

function describe({ kind, text }: RuleToken): string {
  if (kind === "end") return "the end of the rule";
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
