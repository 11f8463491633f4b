import type { ColumnDefault } from "../../project/model.js";
import type { ColumnType } from "../../sqlite/column-type.js";
import { isStorableInteger } from "../../sqlite/column-type.js";
import { fragmentProblem } from "../../sqlite/fragment.js";
import { isSymbol, quoteText, type Token, tokenize, withoutComments } from "../../sqlite/sql-tokens.js";
import type { PhysicalColumn } from "./physical.js";

/**
 * The DEFAULT of a column in the database, as svc.schema.yaml writes it: a literal of the column's type if possible,
 * else an SQL expression. Null if there is none or it is NULL, and if the file cannot express it; only then `lost` is
 * called with a description.
 */
export function defaultModel(
  column: PhysicalColumn,
  type: ColumnType,
  lost: (feature: string) => void,
): ColumnDefault | null {
  if (column.default === null) return null;
  const tokens = withoutComments(tokenize(column.default));
  const [first] = tokens;
  if (tokens.length === 1 && isWord(first, "null")) return null;
  const literal = literalOf(tokens, type);
  if (literal !== null) return { kind: "literal", value: literal };
  const sql = tokens.length === 1 ? expressionOf(first!) : column.default;
  if (fragmentProblem(sql, []) === null) return { kind: "sql", sql };
  lost(`DEFAULT ${column.default} of ${column.name}`);
  return null;
}

function isWord(token: Token | undefined, ...words: readonly string[]): boolean {
  return token?.kind === "word" && words.includes(token.text.toLowerCase());
}

/**
 * The string that a token of a DEFAULT means; null for none. SQLite reads a bare or double-quoted name there as a
 * string, too.
 */
function stringOf(token: Token): string | null {
  if (token.kind === "string" || token.kind === "quoted") return token.value;
  const isValue = isWord(token, "true", "false", "current_time", "current_date", "current_timestamp");
  return token.kind === "word" && !isValue ? token.value : null;
}

function expressionOf(token: Token): string {
  const string = stringOf(token);
  return string === null ? token.text : quoteText(string);
}

function literalOf(tokens: readonly Token[], type: ColumnType): string | number | bigint | boolean | null {
  const negative = isSymbol(tokens[0], "-");
  const signed = negative || isSymbol(tokens[0], "+");
  const [token, ...more] = signed ? tokens.slice(1) : tokens;
  if (token === undefined || more.length > 0) return null;
  if (type === "text") return signed ? null : stringOf(token);
  if (type === "boolean" && !signed) return booleanOf(token);
  if (token.kind !== "number") return null;
  const text = `${negative ? "-" : ""}${token.text}`;
  if (type === "integer") return integerOf(text);
  const value = Number(text) + 0;
  return type === "real" && Number.isFinite(value) && !/x/i.test(text) ? value : null;
}

function booleanOf(token: Token): boolean | null {
  if (isWord(token, "true") || token.text === "1") return true;
  return isWord(token, "false") || token.text === "0" ? false : null;
}

function integerOf(text: string): bigint | null {
  if (!/^-?\d+$/.test(text)) return null;
  const value = BigInt(text);
  return isStorableInteger(value) ? value : null;
}
