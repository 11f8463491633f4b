import { toHex } from "../encoding/hex.js";
import type { SqlValue, Statement } from "./database.js";

/**
 * Matches placeholders, and the parts of SQL in which a question mark is none: literals, quoted names and comments. A
 * literal with a doubled quote matches as two literals side by side, which does not change the number of placeholders.
 */
const quotedOrPlaceholder = /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g;

/** Counts `?` outside of literals, names and comments. */
export function countPlaceholders(sql: string): number {
  return Array.from(sql.matchAll(quotedOrPlaceholder)).filter(([token]) => token === "?").length;
}

/** `index` counts from 0. */
export function replacePlaceholders(sql: string, replacement: (index: number) => string): string {
  let index = 0;
  return sql.replace(quotedOrPlaceholder, (token) => (token === "?" ? replacement(index++) : token));
}

/** The SQL text with its parameters as literals, for tools that take only text, such as `wrangler d1 execute`. */
export function withLiterals(statement: Statement): string {
  const { sql, params } = statement;
  checkParams(statement, countPlaceholders(sql));
  return replacePlaceholders(sql, (index) => literal(params[index]!));
}

function literal(value: SqlValue): string {
  if (value === null) return "NULL";
  // In parentheses, because a negative number behind a minus sign would begin a comment (`--`).
  if (typeof value === "bigint") return `(${value})`;
  if (typeof value === "number") return `(${value.toExponential(16)})`;
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : `x'${toHex(value)}'`;
}

/**
 * Throws if the number of parameters is not that of the placeholders, or a value cannot be bound. Backends do not
 * report either reliably: they would bind something else.
 */
export function checkParams({ params }: Statement, placeholders: number): void {
  if (params.length !== placeholders) {
    throw new Error(`${placeholders} placeholders were given ${params.length} parameters`);
  }
  for (const param of params) {
    if (!binds(param)) throw new TypeError(`a parameter of type ${typeof param} has a value that does not bind`);
  }
}

/** libsql would abort the process on a boolean, cut a text at NUL, and replace a lone surrogate. */
function binds(param: unknown): boolean {
  switch (typeof param) {
    case "bigint":
      return BigInt.asIntN(64, param) === param;
    case "number":
      return Number.isFinite(param);
    case "string":
      return !param.includes("\0") && param.isWellFormed();
    default:
      return param === null || param instanceof Uint8Array;
  }
}
