import type { Problem } from "../problems/problem.js";
import type { ColumnReference, Expression, Operand, TableRules } from "../rules/ast.js";
import { literalText } from "../rules/literal-text.js";
import { existsIn } from "../rules/walk.js";
import type { TableName } from "../sqlite/names.js";
import type { Schema, Table } from "./model.js";
import { ruleProblems } from "./rule-problems.js";

/**
 * Warnings of update rules that hardly mean what they say (docs/reference/rules.md#update-rules). An update rule has to
 * be TRUE twice: with the row before the change as `row`, and with the row after it. So `row.deleted_at is null`
 * forbids setting `deleted_at`. An `exists` over the table itself finds the rows as they were before the change, both
 * times.
 */
export function updateWarnings(rules: ReadonlyMap<TableName, TableRules>, schema: Schema): Problem[] {
  return ruleProblems(rules, (rule, name, action) => {
    if (action !== "update") return [];
    const table = schema.tables.get(name)!;
    return [...statesKept(rule, table).map(cannotLeave), ...ownTable(rule, table)];
  });
}

function cannotLeave({ column, test }: TestedColumn): string {
  return `row.${column} ${test} has to hold after the change too, so that no update leaves that state: say old.${column} ${test} if it should`;
}

/** A column for which a rule asks for a certain value, and the test as the rule writes it, such as `= 'draft'`. */
interface TestedColumn {
  readonly column: string;
  readonly test: string;
}

/**
 * Finds comparisons of a column of the row with a fixed value or with NULL, such as `row.status = 'draft'` or
 * `row.deleted_at is null`. Columns of the primary key are left out, because no request can change them.
 */
function statesKept(rule: Expression, table: Table): readonly TestedColumn[] {
  switch (rule.kind) {
    case "compare": {
      if (rule.operator !== "=") return [];
      return [stateOf(rule.left, rule.right, table), stateOf(rule.right, rule.left, table)].flat();
    }
    case "is_null":
      return !rule.negated && isChangeable(rule.value, table) ? [{ column: rule.value.column, test: "is null" }] : [];
    case "and":
    case "or":
      return rule.terms.flatMap((term) => statesKept(term, table));
    case "exists":
      return statesKept(rule.where, table);
    default:
      // A comparison under `not` causes no warning: it mostly asks that a column does not have a certain value, and a
      // row can be changed in many ways without getting that one. Nor do double negation (`not (row.x != 'a')`) and
      // `in`.
      return [];
  }
}

function stateOf(operand: Operand, value: Operand, table: Table): readonly TestedColumn[] {
  if (value.kind !== "literal" || value.value === null || !isChangeable(operand, table)) return [];
  return [{ column: operand.column, test: `= ${literalText(value.value)}` }];
}

function isChangeable(operand: Operand, { primaryKey }: Table): operand is ColumnReference {
  return operand.kind === "column" && operand.source === "row" && !primaryKey.includes(operand.column);
}

function ownTable(rule: Expression, { name }: Table): readonly string[] {
  if (!existsIn(rule).some(({ table }) => table === name)) return [];
  return [`an exists looks into ${name} itself, whose rows it finds as they were before the change both times`];
}
