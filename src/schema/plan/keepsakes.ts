import { collationsOf, ddlOf, type PhysicalColumn, rowidAlias } from "../physical.js";
import type { Keepsakes } from "./ddl.js";
import type { TableComparison } from "./table-comparison.js";

/** What a rebuild of the table carries over. */
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

/** Null where the column is declared after the file. ANY holds what it is given in a STRICT table alone; elsewhere no type does. */
function keptDeclaration(
  { declaredType }: PhysicalColumn,
  wasStrict: boolean,
  isStrict: boolean,
): string | null {
  const isAny = wasStrict && declaredType.toUpperCase() === "ANY";
  if (isStrict) return isAny ? declaredType : null;
  return isAny ? "" : declaredType;
}
