import {
  collationsOf,
  ddlOf,
  type PhysicalColumn,
  type PhysicalForeignKey,
  type PhysicalTable,
  rowidAlias,
  sameName,
} from "../physical/physical.js";
import { actionSql, type Keepsakes } from "./ddl.js";
import type { TableComparison } from "./table-comparison.js";

/** What stays of a table in the database when it is rebuilt, although svc.schema.yaml does not express it. */
export function keepsakes({ current, target, physical, keyChanged }: TableComparison): Keepsakes {
  const same = physical.columns.filter(
    ({ name }) =>
      target.columns.get(name) !== undefined && target.columns.get(name)?.type === current.columns.get(name)?.type,
  );
  return {
    declaredTypes: new Map(
      same.flatMap((column): [string, string][] => {
        const kept = keptDeclaration(column, physical.strict, target.strict);
        return kept === null ? [] : [[column.name, kept]];
      }),
    ),
    collations: new Map([...collationsOf(physical)].filter(([name]) => same.some((column) => column.name === name))),
    withoutRowid: !physical.hasRowid && target.primaryKey.length > 0,
    foreignKeyClauses: new Map(physical.foreignKeys.flatMap((key) => clausesOf(key, physical))),
    autoincrement: !keyChanged && rowidAlias(physical) !== null && (ddlOf(physical)?.autoincrement ?? false),
  };
}

/** The clauses of a foreign key of one column, with the column's name; none without such clauses. */
function clausesOf({ columns, onUpdate }: PhysicalForeignKey, table: PhysicalTable): [string, string][] {
  const [{ from }, ...more] = columns as [PhysicalForeignKey["columns"][number]];
  const name = table.columns.find((column) => sameName(column.name, from))?.name ?? from;
  const deferrable = ddlOf(table)?.columns.get(from.toLowerCase())?.deferrable ?? null;
  const clauses = [
    ...(onUpdate === "no_action" ? [] : [`ON UPDATE ${actionSql(onUpdate)}`]),
    ...(deferrable === null ? [] : [deferrable]),
  ];
  return more.length > 0 || clauses.length === 0 ? [] : [[name, clauses.join(" ")]];
}

/**
 * The SQL type that a column keeps when its table is rebuilt; null if it gets the usual one for its type in
 * svc.schema.yaml. If the rebuilt table is STRICT, only ANY is kept, for which SQLite converts no values. If it is not
 * STRICT, every declared type is kept, except ANY of a table that was STRICT. That becomes the empty text, because
 * without STRICT, SQLite would convert the values of a column declared ANY, but not those of a column without a
 * declared type.
 */
function keptDeclaration({ declaredType }: PhysicalColumn, wasStrict: boolean, isStrict: boolean): string | null {
  const isAny = wasStrict && declaredType.toUpperCase() === "ANY";
  if (isStrict) return isAny ? declaredType : null;
  return isAny ? "" : declaredType;
}
