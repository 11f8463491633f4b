import { meantOrKnown } from "../problems/did-you-mean.js";
import { dottedPath } from "../problems/dotted-path.js";
import { type Problem, shown } from "../problems/problem.js";
import { parseTriggerText, unprovedInTrigger } from "../sqlite/trigger-text.js";
import { schemaFile } from "./file-names.js";
import type { Schema, Table } from "./model.js";
import { mayHaveColumn, suggestedColumns } from "./unread.js";

/**
 * The problems of all triggers of svc.schema.yaml. `others` are the tables and views, in lower case, that are in the
 * database and not in the schema; triggers may not name them. Without a database at hand, it is empty.
 */
export function triggerProblems(schema: Schema, others: ReadonlySet<string> = new Set()): Problem[] {
  const tables = new Set([...schema.tables.keys()].map((name) => name.toLowerCase()));
  return [
    ...duplicates(schema),
    ...[...schema.tables.values()].flatMap((table) =>
      [...table.triggers].flatMap(([name, text]) =>
        problemsOf(text, table, schema, { tables, others }).map((message) => problem(table, name, message)),
      ),
    ),
  ];
}

function problem({ name: table }: Table, trigger: string, message: string): Problem {
  return { file: schemaFile, path: dottedPath([table, "triggers", trigger]), message };
}

/** A database cannot have two triggers of one name, in any case of letters, even on different tables. */
function duplicates({ tables }: Schema): Problem[] {
  const first = new Map<string, string>();
  return [...tables.values()].flatMap((table) =>
    [...table.triggers.keys()].flatMap((name) => {
      const other = first.get(name.toLowerCase());
      first.set(name.toLowerCase(), other ?? `${table.name}.triggers.${name}`);
      return other === undefined ? [] : [problem(table, name, `${other} has this name already: rename one`)];
    }),
  );
}

function problemsOf(
  text: string,
  table: Table,
  schema: Schema,
  scope: { readonly tables: ReadonlySet<string>; readonly others: ReadonlySet<string> },
): readonly string[] {
  if (table.virtual) return ["a virtual table has no triggers"];
  const trigger = parseTriggerText(text);
  if (typeof trigger === "string") return [trigger];
  const elsewhere =
    trigger.table.toLowerCase() === table.name.toLowerCase()
      ? []
      : [`it is on ${shown(trigger.table)}, and stands under ${table.name}: say on ${table.name}, or move it`];
  const unknown = trigger.of
    .filter((name) => !hasColumn(table, name) && !mayHaveColumn(schema, table.name, name))
    .map((name) => `unknown column ${shown(name)}${meantOrKnown(name, ...suggestedColumns(schema, table))}`);
  return [...elsewhere, ...unknown, ...unprovedInTrigger(trigger, scope)];
}

function hasColumn({ columns }: Table, name: string): boolean {
  return [...columns.keys()].some((column) => column.toLowerCase() === name.toLowerCase());
}
