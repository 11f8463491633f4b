import { columnType } from "./columns.js";
import { count, flag, list, nullOr, object, oneOf, recordOf, type Static, text, type WireSchema } from "./schema.js";

const written = { text, line: nullOr(count), column: nullOr(count) };
const ruleText = object(written);
/** The text of a rule in svc.toml, and the line and column where it begins, null if unknown. */
export type RuleText = Static<typeof ruleText>;
const rule = nullOr(ruleText);

const columnDefault: WireSchema<{ readonly sql: string } | { readonly value: unknown } | null> = {
  anyOf: [object({ sql: text }), object({ value: {} }), { type: "null" }],
};
type ManagedAs = "created_at" | "updated_at" | "created_by" | "updated_by" | "version";

const column = object({
  name: text,
  type: columnType,
  not_null: flag,
  primary_key: flag,
  default: columnDefault,
  check: nullOr(text),
  managed: nullOr(text as WireSchema<ManagedAs>),
  references: nullOr(object({ table: text, column: text, on_delete: text })),
  generated: flag,
});
/** A column of a table of the schema in force. */
export type SchemaColumn = Static<typeof column>;

const table = object({
  name: text,
  kind: oneOf("table", "virtual"),
  primary_key: list(text),
  columns: list(column),
  unique: list(list(text)),
  indexes: list(object({ columns: list(text), unique: flag, where: nullOr(text) })),
  search: list(text),
  history: text,
  triggers: list(object({ name: text, sql: text })),
  rows_readable: flag,
  rows_writable: flag,
  rules: object({ read: rule, create: rule, update: rule, delete: rule, history: rule }),
  column_rules: recordOf(object({ read: rule, write: rule })),
});
/** A table of the schema in force, with its rules. */
export type SchemaTable = Static<typeof table>;
/** The kinds of actions on a table, each of which has a rule of its own. */
export type TableAction = keyof SchemaTable["rules"];

/** The schema of the schema in force and its rules. */
export const servedSchema = object({
  hash: text,
  version: count,
  text,
  file_text: nullOr(text),
  tables: list(table),
  conditions: list(object({ name: text, ...written })),
});
/** The schema in force and its rules. `file_text` is the text of the schema file; null if it cannot be read. */
export type ServedSchema = Static<typeof servedSchema>;
