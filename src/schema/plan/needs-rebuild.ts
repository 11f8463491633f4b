import type { Column } from "../../project/model.js";
import { namesIn } from "../../sqlite/fragment.js";
import { isSymbol, tokenize } from "../../sqlite/sql-tokens.js";
import { ddlOf, type PhysicalIndex, type PhysicalTable, sameName } from "../physical/physical.js";
import type { TableComparison } from "./table-comparison.js";

/**
 * Whether the table has to be created anew, and its rows copied, because SQLite's ALTER TABLE cannot make the change.
 */
export function needsRebuild({
  target,
  physical,
  added,
  dropped,
  altered,
  keyChanged,
  strictChanged,
  unwanted,
}: TableComparison): boolean {
  return (
    keyChanged ||
    strictChanged ||
    altered.length > 0 ||
    unwanted.some(({ origin }) => origin === "unique") ||
    !added.every((column) => isAddable(column, target.strict)) ||
    !dropped.every(({ name }) => isDroppable(name, physical))
  );
}

/**
 * Whether ALTER TABLE can add the column: its default has to be constant, and a column with a foreign key may not have
 * a default (SQLite, "ALTER TABLE ADD COLUMN").
 */
function isAddable(column: Column, strict: boolean): boolean {
  // SQLite 3.45 has a fault: if a STRICT table has rows, it takes a fractional default of a new NOT NULL real column
  // for NULL. So a STRICT table is rebuilt for each such column, whatever its default is.
  if (strict && column.type === "real" && column.notNull) return false;
  if (column.references !== null && column.default !== null) return false;
  return column.default === null || column.default.kind === "literal" || isConstant(column.default.sql);
}

function isConstant(sql: string): boolean {
  const tokens = tokenize(sql).filter((token) => !isSymbol(token, "(") && !isSymbol(token, ")"));
  const [token, ...more] = isSymbol(tokens[0], "-") ? tokens.slice(1) : tokens;
  if (token === undefined || more.length > 0) return false;
  if (token.kind === "word") return ["null", "true", "false"].includes(token.text.toLowerCase());
  return token.kind === "string" || token.kind === "number" || token.kind === "blob";
}

/**
 * Whether ALTER TABLE can drop the column: nothing else in the table's CREATE statement may mention it (SQLite, "ALTER
 * TABLE DROP COLUMN"). Indexes made by CREATE INDEX do not count, because the plan drops them before.
 */
function isDroppable(name: string, physical: PhysicalTable): boolean {
  const ddl = ddlOf(physical);
  const column = physical.columns.find((candidate) => sameName(candidate.name, name));
  if (ddl === null || column === undefined) return false;
  const checks = [...ddl.checks, ...[...ddl.columns.values()].flatMap((each) => each.checks)];
  return (
    column.keyPosition === 0 &&
    !physical.foreignKeys.some(({ columns }) => columns.some(({ from }) => sameName(from, name))) &&
    !physical.indexes.some((index) => index.origin === "unique" && covers(index, name)) &&
    !physical.columns.some(({ kind }) => kind === "generated") &&
    !checks.some((check) => namesIn(check).has(name.toLowerCase()))
  );
}

function covers(index: PhysicalIndex, name: string): boolean {
  return index.columns.some((column) => column.name !== null && sameName(column.name, name));
}
