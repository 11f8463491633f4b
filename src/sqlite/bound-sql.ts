import { type BoundedExpression, type BoundSql, boundedExpressions } from "./bounded-expressions.js";
import type { ProvedSql } from "./proof.js";

/**
 * The part of an accepted statement from the token at index `from` to the one before `to`, in which no expression makes
 * a value that is too large (`boundedExpressions`).
 */
export function boundSql(statement: ProvedSql, from = 0, to = statement.tokens.length): BoundSql {
  const expressions = found.get(statement) ?? boundedExpressions(statement.tokens);
  found.set(statement, expressions);
  return rendered(statement, from, to, expressions);
}

/** Of the statements of operations, which are the same for every call. */
const found = new WeakMap<ProvedSql, readonly BoundedExpression[]>();

/** `expressions` are those within the part, the outer ones first. */
function rendered(statement: ProvedSql, from: number, to: number, expressions: readonly BoundedExpression[]): BoundSql {
  const { sql, tokens } = statement;
  const parameters: string[] = [];
  let text = "";
  let end = tokens[from]?.start ?? 0;
  const add = (part: BoundSql) => {
    text += part.text;
    parameters.push(...part.parameters);
  };
  for (let index = from; index < to; index++) {
    const token = tokens[index]!;
    text += sql.slice(end, token.start);
    end = token.start + token.text.length;
    const outermost = expressions.find((each) => each.from === index && each.to <= to);
    if (outermost !== undefined) {
      const inner = expressions.filter((each) => each !== outermost && isWithin(each, outermost));
      add(outermost.bounded((part) => rendered(statement, part.from, part.to, inner)));
      index = outermost.to - 1;
      end = tokens[index]!.start + tokens[index]!.text.length;
    } else if (token.kind === "parameter") {
      add({ text: "?", parameters: [token.text.slice(1)] });
    } else {
      text += token.text;
    }
  }
  return { text, parameters };
}

function isWithin(inner: BoundedExpression, outer: BoundedExpression): boolean {
  return inner.from >= outer.from && inner.to <= outer.to;
}
