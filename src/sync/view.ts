import type { Actor } from "../auth/callers/principal.js";
import { authValues, isPastRules, principalOf } from "../auth/callers/principal.js";
import { unknownMember } from "../http/body.js";
import { badRequest, isRefusal, Refusal } from "../http/refusal.js";
import type { Table } from "../project/model.js";
import type { Expression } from "../rules/ast.js";
import { whenTrue } from "../rules/fold.js";
import { columnReferences, existsIn, leavesOf, operandsOf } from "../rules/walk.js";
import type { LiveProject } from "../schema/live-project.js";
import { sqlTableName, type TableName } from "../sqlite/names.js";
import type { Access } from "../tables/access/access.js";
import { asShown } from "../tables/access/as-shown.js";
import { ListedValues } from "../tables/request/filters.js";
import { incomparableIn, type ListRequest, parseListRequest } from "../tables/request/list-request.js";
import type { Followed } from "../tables/sql/delta.js";
import { loggedTable } from "../tables/sql/logged.js";
import type { SlotValues } from "../tables/sql-text/fragment.js";
import { notFollowable } from "./followable.js";

/** The rows of a table that a caller follows under a name, and the values that the caller's filters compare with. */
export interface Member extends Followed {
  /** As changes name it. Two members may be of the same table. */
  readonly name: string;
  readonly table: TableName;
  /** What the caller asks for under the name, as JSON. */
  readonly form: string;
  /**
   * Says which rows and columns the caller follows, and what the rule reads of the caller, as JSON. What changes for two
   * callers is the same where this text is.
   */
  readonly text: string;
  /** The table, and those that its rule looks into: all whose log entries matter to the member. */
  readonly logs: readonly TableName[];
  readonly access: Access;
  readonly values: SlotValues;
  /** The list of these rows, in the order of their keys. */
  readonly list: ListRequest;
}

/** The rows that a client keeps a copy of: its members, each with the rule and filters that its rows meet. */
export interface View {
  readonly members: readonly Member[];
  /** Why the caller does not get other members that were asked for, by their names. */
  readonly refused: Readonly<Record<string, Refusal>>;
  /** The tables whose log entries matter to a member. */
  readonly logs: readonly TableName[];
  /** The tables that `exists` in the rules look into. An entry of one may change the result for many rows. */
  readonly related: ReadonlySet<string>;
  /** The caller (`principalOf`); null for an anonymous one, who has no clients that push mutations. */
  readonly principal: string | null;
  /** The caller. A checkpoint holds its hash (`Checkpoint.who`). */
  readonly who: string;
  /** What rules can read of the caller, as JSON. A checkpoint holds its hash (`Checkpoint.caller`). */
  readonly caller: string;
}

/**
 * The view that the member `tables` of a request asks for. A member is refused whose table is unknown or may not be read
 * by the caller, whose rule cannot be followed by the log, or whose terms are not valid. The request is refused where all
 * its members are.
 */
export function viewOf(
  asked: unknown,
  caller: Actor,
  project: LiveProject,
  accessTo: (table: Table) => Access | Refusal,
): View | Refusal {
  if (typeof asked !== "object" || asked === null || Array.isArray(asked))
    return badRequest("tables: expected an object with a member for each list of rows");
  const entries = Object.entries(asked);
  if (entries.length === 0 || entries.length > membersMax)
    return badRequest(`tables: expected 1 to ${membersMax} members`);
  const members: Member[] = [];
  const refused: Record<string, Refusal> = {};
  const listed = new ListedValues();
  for (const [name, sent] of entries) {
    if (name.length > nameLengthMax) return badRequest(`tables: a name has more than ${nameLengthMax} characters`);
    const terms = termsOf(name, sent);
    const member = isRefusal(terms) ? terms : memberOf(name, terms, caller, project, accessTo, listed);
    if (listed.refusal !== null) return listed.refusal;
    if (isRefusal(member)) refused[name] = member;
    else members.push(member);
  }
  if (members.length === 0) return Object.values(refused)[0]!;
  return {
    members,
    refused,
    logs: [...new Set(members.flatMap(({ logs }) => logs))],
    related: new Set(members.flatMap(({ related }) => related.map((each) => each.table))),
    principal: caller.kind === "anonymous" ? null : principalOf(caller),
    who: principalOf(caller),
    caller: JSON.stringify(authValues(caller)),
  };
}

/** The same view with its members in the order of these names. */
export function inOrder(view: View, names: readonly { readonly name: string }[]): View {
  const members = names.map(({ name }) => view.members.find((member) => member.name === name)!);
  return { ...view, members };
}

/** What a request asks for under one name, of the members that lists have. */
interface Terms {
  readonly table: string;
  /** Without `table`. */
  readonly list: Readonly<Record<string, unknown>>;
}

function termsOf(name: string, sent: unknown): Terms | Refusal {
  if (typeof sent !== "object" || sent === null || Array.isArray(sent))
    return badRequest(`tables.${name}: expected an object`);
  const other = unknownMember(sent, ["table", "where", "filter", "select"]);
  if (other !== undefined)
    return badRequest(
      `tables.${name}: unknown member ${JSON.stringify(other)}; expected table, where, filter or select`,
    );
  const { table = name, ...list } = sent as Readonly<Record<string, unknown>>;
  return typeof table === "string" ? { table, list } : badRequest(`tables.${name}.table: expected the name of a table`);
}

function memberOf(
  name: string,
  terms: Terms,
  caller: Actor,
  { schema, catalog, rules }: LiveProject,
  accessTo: (table: Table) => Access | Refusal,
  listed: ListedValues,
): Member | Refusal {
  const table = schema.tables.get(terms.table);
  if (table === undefined || catalog.unsupported.reads.has(table.name))
    return new Refusal("not_found", `tables: no such table ${JSON.stringify(terms.table)}`);
  const access = accessTo(table);
  if (isRefusal(access)) return access;
  const rule = rules.get(table.name)!.read;
  // Callers whom no rule binds, such as API keys, which read by their scopes, may sync a table even if its rule cannot be
  // followed.
  const problem = notFollowable(table, isPastRules(caller) ? always : rule, schema, catalog);
  if (problem !== null) return badRequest(`${name} cannot be synced: ${problem}`);
  const asksFor = requestFor(name, terms, access, listed);
  if (isRefusal(asksFor)) return asksFor;
  const missing = table.primaryKey.find((column) => !access.readable.has(column));
  if (missing !== undefined) return new Refusal("forbidden", `${name} cannot be synced: its key is hidden from you`);
  const { list, output, values } = asksFor;
  const whole = whenTrue({ kind: "and", terms: [access.rule, ...asksFor.filters] });
  const related = [...new Set(existsIn(whole).map((node) => sqlTableName(node.table)))];
  return {
    name,
    table: table.name,
    access,
    list,
    rule: whole,
    output,
    logged: loggedTable(table, catalog.tables.get(table.name)!),
    related: related.map((other) =>
      namedBy(whole, loggedTable(schema.tables.get(other)!, catalog.tables.get(other as TableName)!)),
    ),
    values,
    form: formOf(terms),
    text: textOf([
      name,
      table.name,
      whole,
      output.map((each) => each.name),
      valuesIn(whole, values),
      whatRuleReads(rule, caller),
    ]),
    logs: [table.name, ...(related as TableName[])],
  };
}

const formOf = ({ table, list }: Terms) =>
  JSON.stringify([table, ...["where", "filter", "select"].map((name) => list[name] ?? null)]);

const textOf = (parts: readonly unknown[]) =>
  JSON.stringify(parts, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));

const membersMax = 40;
const nameLengthMax = 100;
const always: Expression = { kind: "literal", value: true };

/** A table into which a rule looks, with its key and the columns that the rule names alone. */
function namedBy(rule: Expression, table: Followed["logged"]): Followed["logged"] {
  const nodes = existsIn(rule).filter((node) => sqlTableName(node.table) === table.table);
  const aliases = new Set(nodes.map(({ alias }) => alias));
  const references = columnReferences(rule).filter(
    ({ source }) => typeof source === "object" && aliases.has(source.alias),
  );
  const named = new Set<string>(references.map(({ column }) => column));
  return { ...table, columns: table.columns.filter((column) => named.has(column.name) || table.key.includes(column)) };
}

/** The fields of the caller that a rule reads, such as `role` for `auth.role`, with their values. */
function whatRuleReads(rule: Expression, caller: Actor): readonly unknown[] {
  const values = authValues(caller);
  const fields = leavesOf(rule)
    .flatMap(operandsOf)
    .flatMap((operand) => (operand.kind === "auth" ? [operand.field] : []));
  return [...new Set(fields)].sort().map((field) => [field, values[field]]);
}

/** The values that the filters in a rule compare with, each with its name in the rule. */
function valuesIn(rule: Expression, values: SlotValues): readonly unknown[] {
  const names = leavesOf(rule)
    .flatMap(operandsOf)
    .flatMap((operand) => (operand.kind === "given" ? [operand.name] : []));
  return [...new Set(names)].map((name) => {
    const value = values.get(name);
    return [name, value instanceof Uint8Array ? [...value] : value];
  });
}

/** Reads what a request asks for of one table, with the same meaning as in a list request in JSON. */
function requestFor(name: string, { list: sent }: Terms, access: Access, listed: ListedValues) {
  const { readable } = access;
  const list = parseListRequest(sent, readable, incomparableIn(access), listed);
  if (isRefusal(list)) return list;
  // A row with a NULL in its key cannot be told apart from others.
  const haveKeys = access.table.primaryKey
    .filter((column) => !access.table.columns.get(column)!.notNull)
    .map(
      (column): Expression => ({ kind: "is_null", value: { kind: "column", source: "row", column }, negated: true }),
    );
  return {
    list: { ...list, filters: [...list.filters, ...haveKeys], counts: false, copiedAs: name },
    filters: list.filters.map((filter) => asShown(filter, access.table.name, access.catalog, list.filterValues)),
    values: list.filterValues,
    output: list.select ?? [...readable.values()],
  };
}
