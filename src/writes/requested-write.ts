import { isObject, unknownMember } from "../http/body.js";
import { quoted } from "../http/query-string.js";
import { badRequest, isRefusal, Refusal } from "../http/refusal.js";
import type { SqlValue } from "../platform/database.js";
import type { Column, Table } from "../project/model.js";
import type { RuleAction } from "../rules/ast.js";
import { isReadOnly, type LiveProject } from "../schema/live-project.js";
import type { ColumnType } from "../sqlite/column-type.js";
import type { Access } from "../tables/access/access.js";
import { fromJson } from "../tables/access/values.js";
import type { WriteExecution } from "../tables/execution/execution.js";
import { createValues, keyInBody, patchValues } from "../tables/request/row-request.js";
import { type ApiRequest, accessTo } from "../tables/routes/api-request.js";
import { rememberedOf } from "../tables/routes/remembered.js";
import { deleteOf, type Expected, insertOf, type Referred, type RowWrite, updateOf } from "../tables/row/row-write.js";
import { unknownReference } from "../tables/together/step.js";

/** One of several writes of a request, read from `{op, table, …}` (docs/reference/http.md#batch). */
export interface RequestedWrite {
  readonly write: RowWrite;
  /** The references in this write, such as `{"$ref": "0.id"}`: columns of rows that earlier writes answer. */
  readonly references: readonly ResultReference[];
}

/** A reference such as `{"$ref": "0.id"}`: the value of a column in the row with which an earlier write is answered. */
export interface ResultReference {
  /** The index of the earlier write, from 0. */
  readonly at: number;
  readonly column: Column;
  readonly isKey: boolean;
}

/** Names the value of a reference, which is put aside for the writes of the transaction that refer to it. */
export function referenceName({ at, column }: ResultReference): string {
  return `ref.${at}.${column.name}`;
}

/**
 * Finds the table that a write names. Refuses with 404 a table that does not exist or that the database engine cannot
 * read (`Unsupported`), and with 400 anything but a name. It does not look at the caller's rights.
 */
export function namedTable(sent: unknown, { schema, catalog }: LiveProject): Table | Refusal {
  const name = isObject(sent) ? sent.table : undefined;
  if (typeof name !== "string") return badRequest("table: expected the name of a table");
  const table = schema.tables.get(name);
  return table === undefined || catalog.unsupported.reads.has(table.name) ? noSuchTable : table;
}

const noSuchTable = new Refusal("not_found", "no such table");
const onlyRead = new Refusal("method_not_allowed", "this table can only be read");

const members = {
  create: ["op", "table", "values"],
  update: ["op", "table", "key", "set", "base"],
  delete: ["op", "table", "key", "base"],
} as const satisfies Partial<Record<RuleAction, readonly string[]>>;

/** What is needed to read one of several writes of a request. */
export interface WriteRequest {
  readonly asked: ApiRequest;
  readonly execution: WriteExecution;
  /** The writes before this one in the request: this one may refer to their answers. */
  readonly earlier: readonly RequestedWrite[];
}

/** Reads one of several writes. Refuses what is malformed, or not allowed whatever the table holds. */
export function parseWrite(sent: unknown, asking: WriteRequest): RequestedWrite | Refusal {
  const { asked, execution } = asking;
  if (!isObject(sent)) return badRequest("expected a JSON object");
  const op = sent.op as keyof typeof members;
  if (typeof op !== "string" || !Object.hasOwn(members, op)) return badRequest("op: expected create, update or delete");
  const other = unknownMember(sent, members[op]);
  if (other !== undefined) return badRequest(`unknown member ${quoted(other)}`);
  const table = namedTable(sent, asked.project);
  if (isRefusal(table)) return table;
  if (isReadOnly(asked.project, table)) return onlyRead;
  const access = accessTo(asked, table, op, execution.nowMs);
  if (isRefusal(access)) return access;
  const { writes } = rememberedOf(asked.project, asked.services.platform);
  const target = { access, writes };
  const resolved = new Resolved(access, asking.earlier);
  const written = ((): RowWrite | Refusal => {
    if (op === "create") {
      const body = resolved.body(sent.values, "values");
      const values = isRefusal(body) ? body : createValues(access, body);
      return isRefusal(values) ? values : insertOf(target, values, execution, resolved.referred);
    }
    const sentKey = resolved.body(sent.key, "key");
    const key = isRefusal(sentKey) ? sentKey : keyInBody(access, sentKey);
    if (isRefusal(key)) return key;
    const expected = sent.base === undefined ? null : expectedValues(sent.base, access);
    if (isRefusal(expected)) return expected;
    if (op === "delete") return deleteOf(target, key, expected, resolved.referred);
    const body = resolved.body(sent.set, "set");
    const patch = isRefusal(body) ? body : patchValues(access, body);
    return isRefusal(patch) ? patch : updateOf(target, key, patch, execution, expected, resolved.referred);
  })();
  return isRefusal(written) ? written : { write: written, references: resolved.references };
}

/** Reads `base`, what the client believes the stored row to be. Refuses columns that the caller may not read. */
function expectedValues(sent: unknown, access: Access): Expected | Refusal {
  if (!isObject(sent)) return badRequest("base: expected an object of columns");
  const values = new Map<string, SqlValue>();
  for (const [name, value] of Object.entries(sent)) {
    const column = access.writeOnlyKey ? undefined : access.readable.get(name);
    if (column === undefined) return badRequest(`base: unknown column ${quoted(name)}`);
    const parsed = fromJson(column, value);
    if (!parsed.ok) return badRequest(`base: ${name}: expected ${parsed.expected}`, [name]);
    values.set(name, parsed.value);
  }
  return values.size === 0 ? badRequest("base: expected at least one column") : { kind: "values", values };
}

/** Reads columns whose values may be references such as `{"$ref": "0.id"}`, and collects these. */
class Resolved {
  readonly references: ResultReference[] = [];
  readonly #names = new Map<string, string>();

  constructor(
    private readonly access: Access,
    private readonly earlier: readonly RequestedWrite[],
  ) {}

  get referred(): Referred {
    return this.#names;
  }

  /**
   * Returns the columns of a member such as `values`. A value of the column's type that passes the checks stands in for
   * each reference: its true value is known only when the statements run. A JSON column takes no reference: there
   * `{"$ref": …}` is itself the value.
   */
  body(sent: unknown, member: string): Readonly<Record<string, unknown>> | Refusal {
    if (!isObject(sent)) return badRequest(`${member}: expected an object of columns`);
    const values: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(sent)) {
      const column = this.access.table.columns.get(name);
      const path = column === undefined || column.type === "json" ? null : pathOf(value);
      if (path === null) {
        values[name] = value;
        continue;
      }
      const reference = this.#find(path);
      if (reference === null) return unknownReference.of(name);
      if (reference.column.type !== column!.type)
        return badRequest(`${name}: the $ref leads to ${reference.column.type}, not to ${column!.type}`, [name]);
      this.references.push(reference);
      this.#names.set(name, referenceName(reference));
      values[name] = standIns[column!.type];
    }
    return values;
  }

  #find(path: string): ResultReference | null {
    const [, index, name] = /^(0|[1-9]\d{0,3})\.(\w+)$/.exec(path) ?? [];
    const to = index === undefined ? undefined : this.earlier[Number(index)];
    if (to === undefined) return null;
    const { kind, access, sent } = to.write;
    const { table, readable, writeOnlyKey } = access;
    const isKey = (table.primaryKey as readonly string[]).includes(name!);
    const isShown = isKey || (kind !== "delete" && (writeOnlyKey ? sent.has(name!) : readable.has(name!)));
    const column = isShown ? table.columns.get(name!) : undefined;
    return column === undefined || to.write.statement.answer === null
      ? null
      : { at: Number(index), column, isKey: isKey || writeOnlyKey };
  }
}

/** The path in a reference, `0.id` of `{"$ref": "0.id"}`; null for any other value. */
function pathOf(value: unknown): string | null {
  if (!isObject(value)) return null;
  const [member, ...others] = Object.keys(value);
  return member === "$ref" && others.length === 0 && typeof value.$ref === "string" ? value.$ref : null;
}

const standIns: Readonly<Record<ColumnType, unknown>> = {
  integer: 0,
  real: 0.5,
  text: "",
  boolean: false,
  json: null,
  blob: "",
};
