import type { Expression } from "../rules/ast.js";
import { FALSE } from "../rules/fold.js";
import type { Conditions } from "../rules/named-condition.js";
import { type ParsedRule, parseParameterCheck, parseRule } from "../rules/parse-rule.js";
import type { RuleProblem } from "../rules/position.js";
import { scopeOfOperation } from "../rules/scope.js";
import type { NamedOperation, Schema } from "./model.js";
import { operationPath } from "./parse-operations.js";
import type { PlacedText } from "./placed-problems.js";
import { rowShapes } from "./rule-scope.js";

/** The rules of one operation. In them, the parameters are columns of the alias `params`. */
export interface OperationRules {
  /** The rule that says who may run the operation; `deny` if it has none. */
  readonly allow: Expression;
  /** The conditions of parameters, by the parameters' names. They can be decided without the database. */
  readonly checks: ReadonlyMap<string, Expression>;
}

/** Parses the rules of every operation. `report` gets each problem and the place of the rule in svc.schema.yaml. */
export function parseOperationRules(
  schema: Schema,
  conditions: Conditions,
  report: (text: PlacedText, problem: RuleProblem) => void,
): ReadonlyMap<string, OperationRules> {
  return new Map(
    [...schema.operations].map(([name, operation]) => [name, rulesOf(operation, { schema, conditions, report })]),
  );
}

interface OperationRulesContext {
  readonly schema: Schema;
  readonly conditions: Conditions;
  readonly report: (text: PlacedText, problem: RuleProblem) => void;
}

function rulesOf(operation: NamedOperation, { schema, conditions, report }: OperationRulesContext): OperationRules {
  const { name, params, allow, unreadParams = new Set<string>() } = operation;
  const shapes = rowShapes(schema);
  const reported = (path: string, text: string, { expression, problems }: ParsedRule): Expression => {
    for (const problem of problems) report({ path, kind: "rule", text }, problem);
    return expression;
  };
  const shape = { columns: params, unread: unreadParams };
  const ruleScope = scopeOfOperation(shape, shapes, "operation", conditions);
  const checkScope = scopeOfOperation(shape, shapes, "parameter", conditions);
  const names = [...params.keys(), ...unreadParams];
  return {
    allow: allow === null ? FALSE : reported(operationPath(name, "allow"), allow, parseRule(allow, ruleScope)),
    checks: new Map(
      [...params.values()].flatMap(({ name: param, check }) => {
        if (check === null) return [];
        const path = operationPath(name, "params", param, "check");
        return [[param, reported(path, check, parseParameterCheck(check, names, checkScope))] as const];
      }),
    ),
  };
}
