import { type Actor, authValues, permits } from "../../auth/callers/principal.js";
import { Refusal } from "../../http/refusal.js";
import type { Memo } from "../../platform/memo.js";
import { callerReference } from "../../project/managed.js";
import type { Column, Table } from "../../project/model.js";
import type { Expression, RuleAction, TableRules } from "../../rules/ast.js";
import { alwaysTrue, neverTrue } from "../../rules/fold.js";
import { admitsAnonymous, specialise, specialiseForRole } from "../../rules/specialise.js";
import type { Catalog } from "../../schema/catalog.js";
import { asShown } from "./as-shown.js";
import { readsAsNumber } from "./numeric-text.js";

/**
 * What one caller may do with one table in one kind of action: the rule that rows still have to pass, and the columns
 * that the caller may read and write.
 */
export interface Access {
  /**
   * A key by which requests share SQL statements: a statement that was made for one of them serves all whose access has
   * the same key. Null for an access that holds only for this caller at this moment.
   */
  readonly key: string | null;
  readonly table: Table;
  readonly catalog: Catalog;
  /**
   * The rule of the action, simplified by what is known of the caller. It may name values that are given only when the
   * statement is sent, such as the caller's id.
   */
  readonly rule: Expression;
  /** The rule for reading, simplified. After a write it decides whether the caller is shown the row. */
  readonly readRule: Expression;
  readonly readable: ReadonlyMap<string, Column>;
  readonly mayWrite: (column: string) => boolean;
  /** The columns that the server sets by itself, such as versions. No caller may write them. */
  readonly managed: readonly Column[];
  /**
   * The managed columns that are NULL where their reference would not hold: past the rules, those with the id of the
   * caller that refer to a table of the project, in which an administrator may have no row.
   */
  readonly callerOrNull: ReadonlySet<Column>;
  /** Whether the caller is a key without the read scope: a write shows it the primary key and what it sent. */
  readonly writeOnlyKey: boolean;
  /** Longer values are answered by their beginning (docs/reference/http.md#previews); null for none. */
  readonly preview: number | null;
}

/**
 * Returns `access`, changed for a request whose answer shows only the beginning of each value of more than `preview`
 * bytes. `preview` is null where values are shown whole; `access` is then returned unchanged.
 */
export function previewed(access: Access, preview: number | null): Access {
  return preview === null ? access : { ...access, preview, key: access.key && `${access.key}, of ${preview} bytes` };
}

/** What is to be decided: whether a caller may do an action with a table, by which rules and when. */
export interface AccessRequest {
  readonly caller: Actor;
  readonly table: Table;
  readonly rules: TableRules;
  readonly action: RuleAction;
  readonly catalog: Catalog;
  /** Keeps earlier decisions, so that callers of one role share them. */
  readonly known: Memo<Access | Refusal | null>;
  /** Unix time. */
  readonly nowSeconds: number;
}

/**
 * Decides what a caller may do with a table before any row is looked at: a refusal with 401 or 403 where no row could
 * be admitted (`docs/reference/errors.md#401-403-or-404`), or else the rules that rows have to pass.
 */
export function accessOf(request: AccessRequest): Access | Refusal {
  const { caller, table, action, catalog, known, nowSeconds } = request;
  if (caller.kind === "admin") return accessPastRules(table, action, catalog);
  if (caller.kind === "key") return keyAccess(caller.scopes, table, action, catalog);
  const role = caller.kind === "user" ? caller.role : null;
  const key = `${table.name} ${action}${role === null ? "" : ` as ${role}`}`;
  const auth = authValues(caller);
  const judgeBy = (name: string | null, special: Special) => judge(request, name, special);
  // Where texts may be stored as numbers, a user id that reads as a number has to be compared in another way than the
  // ids of other users. So a caller with such an id cannot share the access that is kept for the role.
  const isTakenForNumber = catalog.hasMixedTexts && auth.id !== null && readsAsNumber(auth.id);
  const sharedBy = (name: string, special: Special) =>
    isTakenForNumber ? null : known.get(name, () => judgeBy(name, special));
  const verified = auth.email_verified;
  const shared =
    sharedBy(key, (rule) => specialiseForRole(rule, role)) ??
    (verified === null
      ? null
      : sharedBy(`${key}, ${verified ? "" : "not "}verified`, (rule) => specialiseForRole(rule, role, verified)));
  return shared ?? judgeBy(null, (rule) => specialise(rule, auth, nowSeconds)) ?? deniedBy(table, action);
}

type Special = (rule: Expression) => Expression | null;

/**
 * Decides what a caller whom rules bind (a user or an anonymous caller) may do with a table. `special` simplifies a
 * rule by what is known of the caller, or returns null where that is too little to decide; then the result is null.
 * `key` becomes the key of the access.
 */
function judge(
  { caller, table, rules, action, catalog }: AccessRequest,
  key: string | null,
  special: Special,
): Access | Refusal | null {
  // If the rule admits no caller at all, the message says so and does not ask an anonymous caller to sign in.
  const nobody = neverTrue(rules[action]) ? `the rules of this table let nobody ${verbs[action]}` : null;
  if (caller.kind === "anonymous" && !admitsAnonymous(rules[action]))
    return new Refusal("unauthorized", nobody ?? "sign in to do this", byRule(table, action));
  if (nobody !== null) return new Refusal("forbidden", nobody, byRule(table, action));
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
    // The rowid is a number that the database gives to each row. Users may set it only if a rule lets them
    // (docs/reference/rules.md#column-rules).
    write: leftOf(rules.columns.get(column.name)?.write ?? (column.name === rowid ? never : always)),
  }));
  if (rule === null || readRule === null) return null;
  if (columns.some(({ read, write }) => read === null || write === null)) return null;
  if (neverTrue(rule)) return deniedBy(table, action);
  const readable = columns.filter(({ read }) => alwaysTrue(read!));
  const writable = new Set<string>(
    columns.filter(({ column, write }) => alwaysTrue(write!) && !isManaged(column)).map(({ column }) => column.name),
  );
  return {
    key,
    table,
    catalog,
    rule,
    readRule,
    readable: new Map(readable.map(({ column }) => [column.name, column])),
    mayWrite: (column) => writable.has(column),
    managed: managedIn(table),
    callerOrNull: new Set(),
    writeOnlyKey: false,
    preview: null,
  };
}

/** Makes the 403 for an action whose rule is not TRUE, for this caller or for this row. */
export function deniedBy(table: Table, action: RuleAction): Refusal {
  return new Refusal("forbidden", "the rules of this table do not allow it", byRule(table, action));
}

/** What the request log says of a refusal: the key of the rule in svc.toml, such as `rules.posts.update`. */
function byRule({ name }: Table, action: RuleAction) {
  return { facts: { rule: `rules.${name}.${action}` } };
}

function keyAccess(scopes: readonly string[], table: Table, action: RuleAction, catalog: Catalog): Access | Refusal {
  const needed = action === "read" || action === "history" ? "read" : "write";
  if (!permits(scopes, table.name, needed)) {
    const scope = `resource:${table.name}:${needed}`;
    return new Refusal("forbidden", `the key lacks the scope ${scope}`, { facts: { rule: scope } });
  }
  return accessPastRules(table, action, catalog, permits(scopes, table.name, "read"));
}

/** Makes the access of callers whom no rule binds, such as API keys with a scope for the table. */
function accessPastRules(table: Table, action: RuleAction, catalog: Catalog, mayRead = true): Access {
  return {
    key: `${table.name} ${action} past the rules${mayRead ? "" : " by a key that may not read"}`,
    table,
    catalog,
    rule: always,
    readRule: mayRead ? always : never,
    readable: table.columns,
    mayWrite: (column) => !isManaged(table.columns.get(column)),
    managed: managedIn(table),
    callerOrNull: new Set(managedIn(table).filter(refersCallerToProject)),
    writeOnlyKey: !mayRead,
    preview: null,
  };
}

const isManaged = (column: Column | undefined) => column !== undefined && column.managed !== null;
const managedIn = ({ columns }: Table) => [...columns.values()].filter(isManaged);
const refersCallerToProject = (column: Column) => callerReference(column) !== null;

/** The words for an action in a message such as "the rules of this table let nobody …". */
const verbs: Record<RuleAction, string> = {
  read: "read rows",
  create: "create rows",
  update: "update rows",
  delete: "delete rows",
  history: "read its history",
};

const always: Expression = { kind: "literal", value: true };
const never: Expression = { kind: "literal", value: false };
