import { authValues, type Caller, permits } from "../auth/principal.js";
import { Refusal } from "../http/refusal.js";
import type { Memo } from "../platform/memo.js";
import type { Column, Table } from "../project/model.js";
import type { Expression, RuleAction, TableRules } from "../rules/ast.js";
import { alwaysTrue, neverTrue } from "../rules/fold.js";
import { admitsAnonymous, specialise, specialiseForRole } from "../rules/specialise.js";
import type { Catalog } from "../schema/catalog.js";

import { asShown } from "./as-shown.js";
import { readsAsNumber } from "./numeric-text.js";

/** What one caller may do with one table: rules that are left to be decided by the rows, and columns. */
export interface Access {
  /** Those of one key say the same. Null: it holds for this caller at this moment alone. */
  readonly key: string | null;
  readonly table: Table;
  readonly catalog: Catalog;
  /** Specialised for the caller; what is given later may be left in it. */
  readonly rule: Expression;
  /** What decides whether the caller may see a row that they wrote. */
  readonly readRule: Expression;
  readonly readable: ReadonlyMap<string, Column>;
  readonly mayWrite: (column: string) => boolean;
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
  catalog: Catalog,
  known: Memo<Access | Refusal | null>,
  nowSeconds: number,
): Access | Refusal {
  if (caller.kind === "key") return keyAccess(caller.scopes, table, action, catalog);
  const role = caller.kind === "user" ? caller.role : null;
  const key = `${table.name} ${action}${role === null ? "" : ` as ${role}`}`;
  const auth = authValues(caller);
  const judgeBy = (name: string | null, special: Special) =>
    judge(caller, table, rules, action, name, special, catalog);
  // An id that SQLite could take for a number decides how it is compared.
  const isTakenForNumber = catalog.hasMixedTexts && auth.id !== null && readsAsNumber(auth.id);
  const shared = isTakenForNumber
    ? null
    : known.get(key, () => judgeBy(key, (rule) => specialiseForRole(rule, role)));
  return shared ?? judgeBy(null, (rule) => specialise(rule, auth, nowSeconds)) ?? denied;
}

type Special = (rule: Expression) => Expression | null;

/** Null where a rule cannot be specialised. */
function judge(
  caller: Caller,
  table: Table,
  rules: TableRules,
  action: RuleAction,
  key: string | null,
  special: Special,
  catalog: Catalog,
): Access | Refusal | null {
  // Whoever signs in is no better off.
  const nobody = neverTrue(rules[action]) ? `the rules of this table let nobody ${action} rows` : null;
  if (caller.kind === "anonymous" && !admitsAnonymous(rules[action]))
    return new Refusal("unauthorized", nobody ?? "sign in to do this");
  if (nobody !== null) return new Refusal("forbidden", nobody);
  const leftOf = (given: Expression) => {
    const left = special(given);
    return left && asShown(left, table.name, catalog);
  };
  const rule = leftOf(rules[action]);
  const readRule = leftOf(rules.read);
  const rowid = catalog.tables.get(table.name)?.rowid ?? null;
  const columns = [...table.columns.values()].map((column) => ({
    column,
    read: leftOf(rules.columns.get(column.name)?.read ?? always),
    // Rows are numbered by the database, and not by users unless a rule says so (docs/reference/rules.md).
    write: leftOf(rules.columns.get(column.name)?.write ?? (column.name === rowid ? never : always)),
  }));
  if (rule === null || readRule === null) return null;
  if (columns.some(({ read, write }) => read === null || write === null)) return null;
  if (neverTrue(rule)) return denied;
  const readable = columns.filter(({ read }) => alwaysTrue(read!));
  const writable = new Set<string>(
    columns.filter(({ write }) => alwaysTrue(write!)).map(({ column }) => column.name),
  );
  return {
    key,
    table,
    catalog,
    rule,
    readRule,
    readable: new Map(readable.map(({ column }) => [column.name, column])),
    mayWrite: (column) => writable.has(column),
    writeOnlyKey: false,
  };
}

/** A rule said no. */
export const denied = new Refusal("forbidden", "the rules of this table do not allow it");

function keyAccess(
  scopes: readonly string[],
  table: Table,
  action: RuleAction,
  catalog: Catalog,
): Access | Refusal {
  const needed = action === "read" ? "read" : "write";
  if (!permits(scopes, table.name, needed))
    return new Refusal("forbidden", `the key lacks the scope resource:${table.name}:${needed}`);
  const mayRead = permits(scopes, table.name, "read");
  return {
    key: `${table.name} ${action} by ${mayRead ? "a key" : "a key that may not read"}`,
    table,
    catalog,
    rule: always,
    readRule: mayRead ? always : never,
    readable: table.columns,
    mayWrite: () => true,
    writeOnlyKey: !mayRead,
  };
}

const always: Expression = { kind: "literal", value: true };
const never: Expression = { kind: "literal", value: false };
