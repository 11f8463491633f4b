import { meantOrKnown } from "../problems/did-you-mean.js";
import type { AuthReference, CompareOperator, Expression, Operand } from "./ast.js";
import { FALSE, TRUE } from "./fold.js";
import { literalText } from "./literal-text.js";
import { comparisonProblem, type OperandType, typeOfLiteral } from "./operand-type.js";
import type { RulePosition, RuleProblem } from "./position.js";
import { aliasProblem, isRowName, type RowShape, type Scope, tableShape, withAlias } from "./scope.js";
import type {
  CallSyntax,
  CompareSyntax,
  ExistsSyntax,
  InSyntax,
  LiteralSyntax,
  ReferenceSyntax,
  ShorthandSyntax,
  Syntax,
} from "./syntax.js";

/**
 * Resolves the names of a parsed rule and checks its types (`docs/reference/rules.md#types`). A boolean column that
 * stands alone as a condition becomes a comparison with `true`. Reports all problems.
 */
export function check(syntax: Syntax, scope: Scope): Checked {
  const problems: RuleProblem[] = [];
  const report: ReportProblem = (at, message) => {
    problems.push({ at, message });
  };
  return { expression: condition(syntax, scope, report), problems };
}

/** If there are problems, the expression must not be used. */
export interface Checked {
  readonly expression: Expression;
  readonly problems: readonly RuleProblem[];
}

type ReportProblem = (at: RulePosition, message: string) => void;

interface TypedOperand {
  readonly operand: Operand;
  readonly type: OperandType;
  /** As the rule writes it, for messages. */
  readonly text: string;
}

function condition(syntax: Syntax, scope: Scope, report: ReportProblem): Expression {
  switch (syntax.kind) {
    case "literal":
    case "reference":
    case "parameter":
    case "now":
      return operandAsCondition(syntax, scope, report);
    case "shorthand":
      return shorthand(syntax);
    case "compare":
      return comparison(syntax, scope, report);
    case "in":
      return membership(syntax, scope, report);
    case "is_null": {
      const value = operand(syntax.value, scope, report);
      return value === null ? FALSE : { kind: "is_null", value: value.operand, negated: syntax.negated };
    }
    case "and":
    case "or":
      return { kind: syntax.kind, terms: syntax.terms.map((term) => condition(term, scope, report)) };
    case "not":
      return { kind: "not", term: condition(syntax.term, scope, report) };
    case "exists":
      return exists(syntax, scope, report);
    case "call":
      return call(syntax, scope, report);
  }
}

/**
 * Checks the use of a named condition, whose `body` has the arguments in the place of its parameters. If an argument
 * has a problem, only that is reported.
 */
function call({ arguments: values, body }: CallSyntax, scope: Scope, report: ReportProblem): Expression {
  const isSound = values.map((value) => operand(value, scope, report)).every((typed) => typed !== null);
  return isSound && body !== undefined ? condition(body, scope, report) : FALSE;
}

function shorthand({ name }: ShorthandSyntax): Expression {
  switch (name) {
    case "public":
      return TRUE;
    case "deny":
      return FALSE;
    case "authenticated":
      return { kind: "is_null", value: { kind: "auth", field: "id" }, negated: true };
  }
}

function operandAsCondition(syntax: Syntax, scope: Scope, report: ReportProblem): Expression {
  const typed = operand(syntax, scope, report);
  if (typed === null) return FALSE;
  if (typed.type !== "boolean" && typed.type !== "null") {
    report(syntax.at, `expected a condition, ${typed.text} is ${typed.type}: ${howToTest(typed)}`);
    return FALSE;
  }
  return typed.operand.kind === "literal"
    ? typed.operand
    : { kind: "compare", operator: "=", left: typed.operand, right: TRUE };
}

function howToTest({ type }: TypedOperand): string {
  return type === "json" || type === "blob" ? "test it with is not null" : "compare it with something";
}

function comparison(syntax: CompareSyntax, scope: Scope, report: ReportProblem): Expression {
  const left = comparable(syntax.left, scope, report);
  const right = comparable(syntax.right, scope, report);
  if (left === null || right === null) return FALSE;
  reportMismatch(syntax.at, left, syntax.operator, right, report);
  return { kind: "compare", operator: syntax.operator, left: left.operand, right: right.operand };
}

function membership(syntax: InSyntax, scope: Scope, report: ReportProblem): Expression {
  const value = comparable(syntax.value, scope, report);
  const list = syntax.list.flatMap((item) => {
    const typed = comparable(item, scope, report);
    if (value !== null && typed !== null) reportMismatch(item.at, value, "=", typed, report);
    return typed === null ? [] : [typed.operand];
  });
  return value === null ? FALSE : { kind: "in", value: value.operand, list };
}

function reportMismatch(
  at: RulePosition,
  left: TypedOperand,
  operator: CompareOperator,
  right: TypedOperand,
  report: ReportProblem,
): void {
  const problem = comparisonProblem(left, operator, right);
  if (problem !== null) report(at, problem);
}

function comparable(syntax: Syntax, scope: Scope, report: ReportProblem): TypedOperand | null {
  const typed = operand(syntax, scope, report);
  if (typed === null || (typed.type !== "json" && typed.type !== "blob")) return typed;
  report(syntax.at, `${typed.text} is ${typed.type}, which only is null and is not null can test`);
  return null;
}

function operand(syntax: Syntax, scope: Scope, report: ReportProblem): TypedOperand | null {
  switch (syntax.kind) {
    case "literal":
      return literal(syntax);
    case "now":
      return { operand: { kind: "now" }, type: "integer", text: "now()" };
    case "parameter":
      // The type of a condition's parameter is known only at a use. While the condition is checked by itself, the
      // parameter counts as NULL, which fits everywhere.
      return { operand: { kind: "literal", value: null }, type: "null", text: syntax.name };
    case "reference":
      return syntax.source === "auth" ? authField(syntax, report) : column(syntax, scope, report);
    case "call":
      if (syntax.body === undefined) return null;
      return refuseCondition(syntax, report);
    default:
      return refuseCondition(syntax, report);
  }
}

function refuseCondition({ at }: Syntax, report: ReportProblem): null {
  report(at, "expected a value, found a condition");
  return null;
}

function literal({ value }: LiteralSyntax): TypedOperand {
  return { operand: { kind: "literal", value }, type: typeOfLiteral(value), text: literalText(value) };
}

function authField({ at, name }: ReferenceSyntax, report: ReportProblem): TypedOperand | null {
  if (isAuthField(name)) return { operand: { kind: "auth", field: name }, type: authTypes[name], text: `auth.${name}` };
  report(at, `unknown field auth.${name}: there are auth.id, auth.email, auth.email_verified and auth.role`);
  return null;
}

function isAuthField(name: string): name is AuthReference["field"] {
  return Object.hasOwn(authTypes, name);
}

const authTypes: Readonly<Record<AuthReference["field"], OperandType>> = {
  id: "text",
  email: "text",
  email_verified: "boolean",
  role: "text",
};

function column({ at, source, name }: ReferenceSyntax, scope: Scope, report: ReportProblem): TypedOperand | null {
  const shape = scope.rows.get(source);
  const found = shape?.columns.get(name);
  if (shape === undefined) report(at, unknownSource(source, scope));
  else if (found === undefined && shape.unread !== "all" && !shape.unread.has(name))
    report(at, unknownColumn(source, name, shape));
  if (found === undefined) return null;
  const reference = isRowName(source) ? source : { alias: source };
  return {
    operand: { kind: "column", source: reference, column: found.name },
    type: found.type,
    text: `${source}.${name}`,
  };
}

function unknownSource(source: string, { kind, rows }: Scope): string {
  if (!isRowName(source)) return `unknown name ${source}${meantOrKnown(source, rows.keys(), ["auth"])}`;
  if (kind === "condition") return `a condition has no ${source}: what it asks of a row is a parameter`;
  if (kind === "column") return `a column rule knows auth alone, not ${source}`;
  if (kind === "operation") return `there is no ${source} in the rule of an operation: params has its parameters`;
  if (kind === "parameter") return `a parameter's check knows the parameters alone, not ${source}`;
  return kind === "create"
    ? `there is no ${source} in a create rule: new is the row as it would be`
    : `there is no ${source} in a ${kind} rule: row is the stored row`;
}

function unknownColumn(source: string, name: string, { table, columns, unread }: RowShape): string {
  if (table === "params") return `unknown parameter ${source}.${name}${meantOrKnown(name, columns.keys())}`;
  return table === "$users"
    ? `unknown column ${source}.${name}: $users offers id and role`
    : `unknown column ${source}.${name} of table ${table}${meantOrKnown(name, columns.keys(), unread)}`;
}

function exists({ at, table, alias, where }: ExistsSyntax, scope: Scope, report: ReportProblem): Expression {
  const shape = tableShape(scope, table.text);
  const aliasIssue = aliasProblem(scope, alias.text);
  if (scope.kind === "column") report(at, "a column rule knows auth alone, not exists");
  else if (scope.kind === "parameter") report(at, "a parameter's check knows the parameters alone, not exists");
  else if (shape === null)
    report(table.at, `unknown table ${table.text}${meantOrKnown(table.text, scope.tables.names(), ["$users"])}`);
  else if (aliasIssue !== null) report(alias.at, aliasIssue);
  // If the `exists` itself has a mistake, such as an unknown table, its condition is not checked: every column of the
  // alias would be reported as a further problem.
  if (scope.kind === "column" || scope.kind === "parameter") return FALSE;
  if (shape === null || shape.table === "params" || aliasIssue !== null) return FALSE;
  const inner = condition(where, withAlias(scope, alias.text, shape), report);
  return { kind: "exists", table: shape.table, alias: alias.text, where: inner };
}
