import type { Problem } from "../../problems/problem.js";
import { ruleProblems } from "../../project/rule-problems.js";
import type { Exists, Expression, TableRules } from "../../rules/ast.js";
import { isTrue } from "../../rules/fold.js";
import { formsForRole } from "../../rules/specialise.js";
import { conjuncts, existsIn } from "../../rules/walk.js";
import type { Catalog } from "../../schema/catalog.js";
import type { TableName } from "../../sqlite/names.js";
import { equalColumn, existsPath, type Outside, sidesOf } from "./exists-path.js";

/**
 * Warnings about every `exists` of a rule that no index serves, for `svc check` and for the start of the server. Such a
 * rule works, but each time it tests a row it reads the whole table of the `exists` (`docs/reference/rules.md#exists`).
 */
export function unservedExists(rules: ReadonlyMap<TableName, TableRules>, catalog: Catalog): Problem[] {
  return ruleProblems(rules, (rule, table) => {
    const found = asStatementsHaveIt(rule).flatMap((each) => unservedIn(each, table, catalog));
    return [...new Set(found.map(messageOf))];
  });
}

/**
 * An `exists` that no index serves. `columns` are those of its table that it compares with `=`, and with which an index
 * for it would have to begin; empty where it compares none so.
 */
export interface UnservedExists {
  readonly exists: Exists;
  readonly columns: readonly string[];
}

/**
 * Finds every `exists` in a rule that no index serves, so that its whole table is read. Left out are those without a
 * condition, and those over a table that the database does not have yet. `rule` has the form that it has in statements:
 * adapted to a caller before, where that can be done.
 */
export function unservedIn(rule: Expression, table: TableName, catalog: Catalog): readonly UnservedExists[] {
  const collations = catalog.tables.get(table)?.collations ?? new Map();
  const outside: Outside = { collations, isSaid: ({ source }) => source === "new" };
  return existsIn(rule)
    .filter((exists) => isKnown(exists, catalog) && !isTrue(exists.where))
    .filter((exists) => existsPath(exists, catalog, outside).kind === "all")
    .map((exists) => {
      const sides = sidesOf(exists, catalog, outside);
      const equal = conjuncts(exists.where).flatMap((term) => equalColumn(term, sides) ?? []);
      return { exists, columns: [...new Set(equal)] };
    });
}

/** Whether the database has the table of the `exists`: of a table yet to be made no index is known. */
function isKnown({ table }: Exists, { tables }: Catalog): boolean {
  return table === "$users" || tables.has(table);
}

/**
 * The forms of a rule in which statements contain it: adapted to anonymous callers, to users and to administrators. If
 * the callers of a role cannot share a statement, the rule as it is written stands for them.
 */
function asStatementsHaveIt(rule: Expression): readonly Expression[] {
  return [null, "user", "admin"].flatMap((role) => formsForRole(rule, role));
}

function messageOf(unserved: UnservedExists): string {
  const { table, alias } = unserved.exists;
  return `no index serves exists(${table} ${alias} …): it reads all of ${table} for each row; ${remedyOf(unserved)}`;
}

function remedyOf({ exists: { table }, columns }: UnservedExists): string {
  if (table === "$users") return "look the user up by id";
  return columns.length === 0
    ? "compare one of its columns with =, and index that"
    : `add indexes: [{ columns: [${columns.join(", ")}] }] to ${table}`;
}
