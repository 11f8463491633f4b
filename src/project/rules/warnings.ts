import { configFile } from "../config-file.js";
import type { Schema, Table } from "../model.js";
import type { Problem } from "../problem.js";
import type { Exists, Expression, TableRules } from "./ast.js";
import { conjuncts } from "./conjuncts.js";
import { existsIn } from "./leaves.js";

/** What works and costs: an `exists` that no index serves walks its whole table for each row (interface, section 5). */
export function ruleWarnings(rules: ReadonlyMap<string, TableRules>, schema: Schema): Problem[] {
  return [...rules].flatMap(([table, { read, create, update, delete: remove }]) =>
    Object.entries({ read, create, update, delete: remove }).flatMap(([action, rule]) =>
      existsIn(rule)
        .filter((exists) => !isServed(exists, schema))
        .map((exists) => ({
          file: configFile,
          path: `rules.${table}.${action}`,
          message: `no index serves exists(${exists.table} ${exists.alias} …): it reads all of ${exists.table} for each row; ${remedyOf(exists)}`,
        })),
    ),
  );
}

function remedyOf({ table, alias, where }: Exists): string {
  if (table === "$users") return "look the user up by id";
  const equal = [...new Set(equalColumns(where, alias))];
  return equal.length === 0
    ? "compare one of its columns with =, and index that"
    : `add indexes: [{ columns: [${equal.join(", ")}] }] to ${table}`;
}

/** Whether some index begins with a column that the condition holds equal to something. */
function isServed({ table, alias, where }: Exists, schema: Schema): boolean {
  const equal = new Set(equalColumns(where, alias));
  if (table === "$users") return equal.has("id");
  const target = schema.tables.get(table);
  return target !== undefined && leadingColumns(target).some((column) => equal.has(column));
}

/** Columns that the condition holds equal to something. */
function equalColumns(where: Expression, alias: string): readonly string[] {
  return conjuncts(where).flatMap((term) => equalIn(term, alias));
}

function equalIn(term: Expression, alias: string): readonly string[] {
  if (term.kind !== "compare" || term.operator !== "=") return [];
  return [term.left, term.right].flatMap((operand) =>
    operand.kind === "column" && typeof operand.source === "object" && operand.source.alias === alias
      ? [operand.column]
      : [],
  );
}

function leadingColumns({ primaryKey, unique, indexes }: Table): readonly string[] {
  const lists = [primaryKey, ...unique, ...indexes.filter(({ where }) => where === null).map(columnNames)];
  return lists.flatMap((columns) => columns.slice(0, 1));
}

function columnNames({ columns }: Table["indexes"][number]): readonly string[] {
  return columns.map(({ name }) => name);
}
