import { collationsOf, ddlOf, type PhysicalColumn, rowidAlias } from "../physical.js";
import type { Keepsakes } from "./ddl.js";
import type { TableComparison } from "./table-comparison.js";

/**
 * The properties of a table in the database that stay when it is rebuilt, though the schema's model does not have them.
 */
export function keepsakes({ current, target, physical, keyChanged }: TableComparison): Keepsakes {
  const same = physical.columns.filter(
    ({ name }) =>
      target.columns.get(name) !== undefined &&
      target.columns.get(name)?.type === current.columns.get(name)?.type,
  );
  return {
    declaredTypes: new Map(
      same.flatMap((column): [string, string][] => {
        const kept = keptDeclaration(column, physical.strict, target.strict);
        return kept === null ? [] : [[column.name, kept]];
      }),
    ),
    collations: new Map(
      [...collationsOf(physical)].filter(([name]) => same.some((column) => column.name === name)),
    ),
    withoutRowid: !physical.hasRowid && target.primaryKey.length > 0,
    autoincrement: !keyChanged && rowidAlias(physical) !== null && (ddlOf(physical)?.autoincrement ?? false),
  };
}

/**
 * The declared type that a column keeps when its table is rebuilt; null where it gets the declared type of its type in
 * the file. In a STRICT table only ANY is kept. In other tables ANY would convert values; a column without a declared
 * type does not, so there ANY becomes empty.
 */
function keptDeclaration(
  { declaredType }: PhysicalColumn,
  wasStrict: boolean,
  isStrict: boolean,
): string | null {
  const isAny = wasStrict && declaredType.toUpperCase() === "ANY";
  if (isStrict) return isAny ? declaredType : null;
  return isAny ? "" : declaredType;
}
