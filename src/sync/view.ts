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

/** The rows of a table that a caller follows, and the values that the caller's filters compare with. */
export interface FollowedTable extends Followed {
  readonly name: TableName;
  readonly access: Access;
  readonly values: SlotValues;
  /** The list of these rows, in the order of their keys. */
  readonly list: ListRequest;
}

/** The rows that a client keeps a copy of: some tables, each with the rule and filters that its rows meet. */
export interface View {
  readonly tables: readonly FollowedTable[];
  /** The followed tables, and those that their rules look into: all whose log entries matter to the client. */
  readonly logs: readonly TableName[];
  /** The tables that `exists` in the rules look into. An entry of one may change the result for many rows. */
  readonly related: readonly string[];
  /** The caller (`principalOf`); null for an anonymous one, who has no clients that push mutations. */
  readonly principal: string | null;
  /** Says which rows and columns the client follows. A checkpoint holds its hash (`Checkpoint.view`). */
  readonly text: string;
  /** The caller and what the rules read of the caller. A checkpoint holds its hash (`Checkpoint.who`). */
  readonly who: string;
  /**
   * The fields of the caller that the read rules use, with their values, as JSON. Which rows the caller gets depends on
   * nothing else about the caller.
   */
  readonly readOfCaller: string;
}

/**
 * The view that the member `tables` of a request asks for. Refuses a table that is unknown, that the caller may not
 * read, or whose rule cannot be followed by the log, and a filter that is not valid.
 */
export function viewOf(
  asked: unknown,
  caller: Actor,
  project: LiveProject,
  accessTo: (table: Table) => Access | Refusal,
): View | Refusal {
  const { schema, catalog, rules } = project;
  if (typeof asked !== "object" || asked === null || Array.isArray(asked))
    return badRequest("tables: expected an object with a member for each table");
  const entries = Object.entries(asked);
  if (entries.length === 0 || entries.length > tablesMax)
    return badRequest(`tables: expected 1 to ${tablesMax} tables`);
  const tables: FollowedTable[] = [];
  const read: Expression[] = [];
  const listed = new ListedValues();
  for (const [name, terms] of entries) {
    const table = schema.tables.get(name);
    if (table === undefined || catalog.unsupported.reads.has(table.name))
      return new Refusal("not_found", `tables: no such table ${JSON.stringify(name)}`);
    const access = accessTo(table);
    if (isRefusal(access)) return access;
    const rule = rules.get(table.name)!.read;
    // Callers whom no rule binds, such as API keys, which read by their scopes, may sync a table even if its rule
    // cannot be followed.
    const problem = notFollowable(table, isPastRules(caller) ? always : rule, schema, catalog);
    if (problem !== null) return badRequest(`${name} cannot be synced: ${problem}`);
    const asksFor = requestFor(name, terms, access, listed);
    if (isRefusal(asksFor)) return asksFor;
    const missing = table.primaryKey.find((column) => !access.readable.has(column));
    if (missing !== undefined) return new Refusal("forbidden", `${name} cannot be synced: its key is hidden from you`);
    read.push(rule);
    const whole = whenTrue({ kind: "and", terms: [access.rule, ...asksFor.filters] });
    const related = new Set(existsIn(whole).map((node) => sqlTableName(node.table)));
    tables.push({
      name: table.name,
      access,
      list: asksFor.list,
      rule: whole,
      output: asksFor.output,
      logged: loggedTable(table, catalog.tables.get(table.name)!),
      related: [...related].map((other) =>
        namedBy(whole, loggedTable(schema.tables.get(other)!, catalog.tables.get(other as TableName)!)),
      ),
      values: asksFor.values,
    });
  }
  const readOfCaller = JSON.stringify(whatRulesRead(read, caller));
  return {
    tables,
    logs: [...new Set(tables.flatMap(({ name, related }) => [name, ...related.map((each) => each.table)]))],
    related: [...new Set(tables.flatMap(({ related }) => related.map((each) => each.table)))],
    text: JSON.stringify(
      tables.map(({ name, rule, output, values }) => [
        name,
        rule,
        output.map((each) => each.name),
        valuesIn(rule, values),
      ]),
      (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value),
    ),
    principal: caller.kind === "anonymous" ? null : principalOf(caller),
    who: JSON.stringify([principalOf(caller), readOfCaller]),
    readOfCaller,
  };
}

const tablesMax = 20;
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

/** The fields of the caller that the rules read, such as `role` for `auth.role`, with their values. */
function whatRulesRead(rules: readonly Expression[], caller: Actor): readonly unknown[] {
  const values = authValues(caller);
  const fields = rules
    .flatMap(leavesOf)
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

/**
 * Reads what a request asks for of one table: `{ where?, filter?, select? }`, with the same meaning as in a list
 * request in JSON. Returns a refusal where that is not valid.
 */
function requestFor(name: string, terms: unknown, access: Access, listed: ListedValues) {
  if (typeof terms !== "object" || terms === null || Array.isArray(terms))
    return badRequest(`tables.${name}: expected an object`);
  const other = unknownMember(terms, ["where", "filter", "select"]);
  if (other !== undefined)
    return badRequest(`tables.${name}: unknown member ${JSON.stringify(other)}; expected where, filter or select`);
  const { readable } = access;
  const sent = terms as Readonly<Record<string, unknown>>;
  const list = parseListRequest(sent, readable, incomparableIn(access), listed);
  if (isRefusal(list)) return list;
  // A row with a NULL in its key cannot be told apart from others.
  const haveKeys = access.table.primaryKey
    .filter((column) => !access.table.columns.get(column)!.notNull)
    .map(
      (column): Expression => ({ kind: "is_null", value: { kind: "column", source: "row", column }, negated: true }),
    );
  return {
    list: { ...list, filters: [...list.filters, ...haveKeys], counts: false, copies: true },
    filters: list.filters.map((filter) => asShown(filter, access.table.name, access.catalog, list.filterValues)),
    values: list.filterValues,
    output: list.select ?? [...readable.values()],
  };
}
