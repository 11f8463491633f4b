import { authValues, type Caller, permits } from "../auth/principal.js";
import { Refusal } from "../http/refusal.js";
import type { Column, Table } from "../project/model.js";
import { admitsAnonymous } from "../project/rules/admits-anonymous.js";
import type { ColumnRules, Expression, RuleAction, TableRules } from "../project/rules/ast.js";
import { mentions } from "../project/rules/columns-of.js";
import { alwaysTrue, neverTrue } from "../project/rules/never-true.js";
import { specialise } from "../project/rules/specialise.js";

/** What one caller may do with one table: rules that are left to be decided by the rows, and columns. */
export interface Access {
  /** Specialised for the caller. */
  readonly rule: Expression;
  /** Whether the rule as it is written names `new`; what is left of it for the caller may not. */
  readonly namesNew: boolean;
  /** What decides whether the caller may see a row that they wrote. */
  readonly readRule: Expression;
  readonly readable: ReadonlyMap<string, Column>;
  readonly mayWrite: (column: Column) => boolean;
  /** A key without the read scope: it is shown the primary key and the columns that it sent. */
  readonly writeOnlyKey: boolean;
}

/**
 * Judges the caller before any row is looked at (specification 5.2 and 5.7; interface, sections 4 and 5).
 * `nowSeconds` is unix time.
 */
export function accessOf(
  caller: Caller,
  table: Table,
  rules: TableRules,
  action: RuleAction,
  nowSeconds: number,
): Access | Refusal {
  if (caller.kind === "key") return keyAccess(caller.scopes, table, action);
  const auth = authValues(caller);
  const rule = specialise(rules[action], auth, nowSeconds);
  if (caller.kind === "anonymous" && !admitsAnonymous(rules[action]))
    return new Refusal("unauthorized", "sign in to do this");
  if (neverTrue(rule)) return denied;
  const allows = (column: Column, right: keyof ColumnRules) => {
    const columnRules = rules.columns.get(column.name);
    return columnRules === undefined || alwaysTrue(specialise(columnRules[right], auth, nowSeconds));
  };
  return {
    rule,
    namesNew: mentions(rules[action], "new"),
    readRule: specialise(rules.read, auth, nowSeconds),
    readable: new Map([...table.columns].filter(([, column]) => allows(column, "read"))),
    mayWrite: (column) => allows(column, "write"),
    writeOnlyKey: false,
  };
}

/** A rule said no. */
export const denied = new Refusal("forbidden", "the rules of this table do not allow it");

function keyAccess(scopes: readonly string[], table: Table, action: RuleAction): Access | Refusal {
  const needed = action === "read" ? "read" : "write";
  if (!permits(scopes, table.name, needed))
    return new Refusal("forbidden", `the key lacks the scope resource:${table.name}:${needed}`);
  const mayRead = permits(scopes, table.name, "read");
  return {
    rule: always,
    namesNew: false,
    readRule: mayRead ? always : never,
    readable: table.columns,
    mayWrite: () => true,
    writeOnlyKey: !mayRead,
  };
}

const always: Expression = { kind: "literal", value: true };
const never: Expression = { kind: "literal", value: false };
