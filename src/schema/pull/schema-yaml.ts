import type { Column, ColumnDefault, Index, Reference, Schema, Table } from "../../project/model.js";

/**
 * The text of svc.schema.yaml, laid out as a person would write it. `comments` stand at its top, as comments of YAML.
 */
export function schemaYaml(schema: Schema, comments: readonly string[] = []): string {
  const head = comments.flatMap((comment) => comment.split(/\r\n|[\r\n\u0085\u2028\u2029]/)).map(commentLine);
  const tables = [...schema.tables.values()].map((table) => tableText(table, schema));
  return [...(head.length > 0 ? [`${head.join("\n")}\n`] : []), ...tables].join("\n");
}

/** YAML does not allow control characters: they become question marks. */
function commentLine(comment: string): string {
  return `# ${comment}`.trimEnd().replaceAll(/[\p{Cc}\ufeff\ufffe\uffff]/gu, "?");
}

function tableText(table: Table, schema: Schema): string {
  const unique = table.unique.filter(({ length }) => length > 1);
  const keys: [string, string | null][] = [
    ["virtual", table.virtual ? "true" : null],
    ["strict", table.strict ? null : "false"],
    ["primary_key", table.primaryKey.length > 1 ? list(table.primaryKey.map(scalar)) : null],
    ["columns", `\n${columnsText(table, schema)}`],
    ["unique", unique.length > 0 ? list(unique.map((columns) => list(columns.map(scalar)))) : null],
    [
      "indexes",
      table.indexes.length > 0 ? `\n${table.indexes.map((index) => `    - ${indexText(index)}`).join("\n")}` : null,
    ],
    ["search", searchText(table)],
    ["triggers", triggersText(table)],
    ["history", historyText(table.historyDays)],
    ["renamed_from", table.renamedFrom],
  ];
  const lines = keys.flatMap(([key, value]) =>
    value === null ? [] : [`  ${key}:${value.startsWith("\n") ? "" : " "}${value}`],
  );
  return `${scalar(table.name)}:\n${lines.join("\n")}\n`;
}

function searchText({ search, searchTokenizer }: Table): string | null {
  if (search.length === 0) return null;
  const columns = list(search.map(scalar));
  return searchTokenizer === "unicode61" ? columns : `{ columns: ${columns}, tokenize: ${searchTokenizer} }`;
}

function triggersText({ triggers }: Table): string | null {
  const lines = [...triggers].map(([name, text]) => `    ${scalar(name)}: ${scalar(text)}`);
  return lines.length === 0 ? null : `\n${lines.join("\n")}`;
}

/** As `history:` in svc.schema.yaml takes it, such as `30d` or `forever`. */
export function historyText(days: number | null): string | null {
  if (days === null) return null;
  return days === Number.POSITIVE_INFINITY ? "forever" : `${days}d`;
}

function columnsText(table: Table, schema: Schema): string {
  const names = [...table.columns.keys()].map((name) => `${scalar(name)}:`);
  const width = Math.max(...names.map(({ length }) => length));
  const columns = [...table.columns.values()].map((column) => columnText(column, table, schema));
  return columns.map((text, at) => `    ${names[at]!.padEnd(width)} ${text}`).join("\n");
}

function columnText(column: Column, table: Table, schema: Schema): string {
  const key = table.primaryKey.includes(column.name);
  const unique = table.unique.some((columns) => columns.length === 1 && columns[0] === column.name);
  return map([
    ["type", column.type],
    ["primary_key", key && table.primaryKey.length === 1 ? "true" : null],
    ["not_null", column.notNull && !(key && table.strict) ? "true" : null],
    ["unique", unique ? "true" : null],
    ["default", column.default === null || column.managed !== null ? null : defaultText(column.default)],
    ["check", column.check === null ? null : scalar(column.check)],
    ["references", column.references === null ? null : referenceText(column.references, schema)],
    ["managed", column.managed],
    ["renamed_from", column.renamedFrom],
  ]);
}

function defaultText(value: ColumnDefault): string {
  if (value.kind === "sql") return map([["sql", scalar(value.sql)]]);
  return typeof value.value === "string" ? scalar(value.value) : String(value.value);
}

/** The parent's column is left out if it is the parent's primary key. */
function referenceText({ table, column, onDelete }: Reference, schema: Schema): string {
  const usual = table === "$users" ? "id" : schema.tables.get(table)?.primaryKey.join();
  return map([
    ["table", table === "$users" ? table : scalar(table)],
    ["column", column === usual ? null : scalar(column)],
    ["on_delete", onDelete === "no_action" ? null : onDelete],
  ]);
}

function indexText({ columns, unique, where }: Index): string {
  return map([
    ["columns", list(columns.map(({ name, descending }) => (descending ? `-${name}` : scalar(name))))],
    ["unique", unique ? "true" : null],
    ["where", where === null ? null : scalar(where)],
  ]);
}

function map(entries: readonly (readonly [string, string | null])[]): string {
  const given = entries.flatMap(([key, value]) => (value === null ? [] : [`${key}: ${value}`]));
  return `{ ${given.join(", ")} }`;
}

function list(items: readonly string[]): string {
  return `[${items.join(", ")}]`;
}

/**
 * A YAML scalar: plain if YAML reads it back as the same text, else in double quotes, whose escapes are those of JSON.
 */
function scalar(text: string): string {
  const plain = /^[A-Za-z][A-Za-z0-9_]*$/.test(text) && !/^(null|true|false)$/i.test(text);
  return plain ? text : JSON.stringify(text).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
