import { configFile } from "../project/config-file.js";
import { dottedPath } from "../project/dotted-path.js";
import type { TableName } from "../project/names.js";
import type { Problem } from "../project/problem.js";
import type { Exists, Expression, TableRules } from "../project/rules/ast.js";
import { conjuncts } from "../project/rules/conjuncts.js";
import { existsIn } from "../project/rules/leaves.js";
import { specialiseForRole } from "../project/rules/specialise.js";
import { isTrue } from "../project/rules/truth.js";
import { whenTrue } from "../project/rules/when-true.js";
import type { Catalog } from "../schema/catalog.js";
import { equalColumn, existsPath, type Outside, type Sides, sidesOf } from "./exists-path.js";

/** What works and costs: an `exists` that no index serves walks its whole table for each row (interface, section 5). */
export function unservedExists(rules: ReadonlyMap<TableName, TableRules>, catalog: Catalog): Problem[] {
  return [...rules].flatMap(([table, { read, create, update, delete: remove }]) => {
    const collations = catalog.tables.get(table)?.collations ?? new Map();
    const outside: Outside = { collations, isSaid: ({ source }) => source === "new" };
    return Object.entries({ read, create, update, delete: remove }).flatMap(([action, rule]) => {
      const unserved = asStatementsHaveIt(rule)
        .flatMap(existsIn)
        .filter((exists) => isKnown(exists, catalog) && !isTrue(exists.where))
        .filter((exists) => existsPath(exists, catalog, outside).kind === "all");
      const messages = unserved.map((exists) => messageOf(exists, sidesOf(exists, catalog, outside)));
      return [...new Set(messages)].map((message) => ({
        file: configFile,
        path: dottedPath(["rules", table, action]),
        message,
      }));
    });
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
