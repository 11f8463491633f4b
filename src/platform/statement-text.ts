import { toHex } from "../encoding/hex.js";
import type { SqlValue, Statement } from "./database.js";

/** A doubled quote inside a literal reads as two literals side by side, which counts the same. */
const quotedOrPlaceholder = /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g;

/** How many parameters a text takes. */
export function countPlaceholders(sql: string): number {
  return Array.from(sql.matchAll(quotedOrPlaceholder)).filter(([token]) => token === "?").length;
}

/** The text with something else in the place of each placeholder. */
export function replacePlaceholders(sql: string, replacement: (index: number) => string): string {
  let index = 0;
  return sql.replace(quotedOrPlaceholder, (token) => (token === "?" ? replacement(index++) : token));
}

/** The text with its parameters written into it, for a tool that takes nothing but text. */
export function withLiterals(statement: Statement): string {
  const { sql, params } = statement;
  checkParams(statement, countPlaceholders(sql));
  return replacePlaceholders(sql, (index) => literal(params[index]!));
}

function literal(value: SqlValue): string {
  if (value === null) return "NULL";
  // In parentheses: behind another minus, a sign would begin a comment.
  if (typeof value === "bigint") return `(${value})`;
  if (typeof value === "number") return `(${value.toExponential(16)})`;
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : `x'${toHex(value)}'`;
}

/** Throws where a statement would bind something else than it says: no backend reports it. */
export function checkParams({ params }: Statement, placeholders: number): void {
  if (params.length !== placeholders) {
    throw new Error(`${placeholders} placeholders were given ${params.length} parameters`);
  }
  for (const param of params) {
    if (!binds(param))
      throw new TypeError(`a parameter of type ${typeof param} has a value that does not bind`);
  }
}

/** libsql aborts the process on a boolean, cuts text at NUL, and replaces a surrogate that has no partner. */
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
