import type { Problem } from "../problems/problem.js";
import { ruleProblems } from "../project/rule-problems.js";
import type { Exists, Expression, TableRules } from "../rules/ast.js";
import { isTrue, whenTrue } from "../rules/fold.js";
import { specialiseForRole } from "../rules/specialise.js";
import { conjuncts, existsIn } from "../rules/walk.js";
import type { Catalog } from "../schema/catalog.js";
import type { TableName } from "../sqlite/names.js";
import { equalColumn, existsPath, type Outside, type Sides, sidesOf } from "./exists-path.js";

/** What works and costs: an `exists` that no index serves walks its whole table for each row (interface, section 5). */
export function unservedExists(rules: ReadonlyMap<TableName, TableRules>, catalog: Catalog): Problem[] {
  return ruleProblems(rules, (rule, table) => {
    const collations = catalog.tables.get(table)?.collations ?? new Map();
    const outside: Outside = { collations, isSaid: ({ source }) => source === "new" };
    return asStatementsHaveIt(rule)
      .flatMap(existsIn)
      .filter((exists) => isKnown(exists, catalog) && !isTrue(exists.where))
      .filter((exists) => existsPath(exists, catalog, outside).kind === "all")
      .map((exists) => messageOf(exists, sidesOf(exists, catalog, outside)));
  });
}

/** What cannot be looked at is not judged. */
function isKnown({ table }: Exists, { tables }: Catalog): boolean {
  return table === "$users" || tables.has(table);
}

/** What is left of a rule for callers of each role; where it is another one for each of them, it is judged as it is written. */
function asStatementsHaveIt(rule: Expression): readonly Expression[] {
  return [null, "user", "admin"].map((role) => specialiseForRole(rule, role) ?? whenTrue(rule));
}

function messageOf(exists: Exists, sides: Sides): string {
  const { table, alias } = exists;
  return `no index serves exists(${table} ${alias} …): it reads all of ${table} for each row; ${remedyOf(exists, sides)}`;
}

function remedyOf({ table, where }: Exists, sides: Sides): string {
  if (table === "$users") return "look the user up by id";
  const equal = new Set(conjuncts(where).flatMap((term) => equalColumn(term, sides) ?? []));
  return equal.size === 0
    ? "compare one of its columns with =, and index that"
    : `add indexes: [{ columns: [${[...equal].join(", ")}] }] to ${table}`;
}
