import type { Table } from "../../project/model.js";
import type { ColumnType } from "../../sqlite/column-type.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import type { Physical } from "../physical/physical.js";
import { tableModel } from "../physical/table-model.js";
import { misfit } from "./conversion.js";
import { countDuplicates, countRows } from "./counts.js";
import { imageAfter } from "./image-after.js";
import { destructive, destructiveIfAny, type Hazard, impossibleIfAny } from "./steps.js";
import type { TableChange } from "./table-change.js";

/**
 * What a rebuild may lose or break: because the primary key changes, because the table becomes STRICT, or because it
 * has features that svc.schema.yaml does not express.
 */
export function rebuildHazards(change: TableChange, physical: Physical): Hazard[] {
  const { current, target } = change;
  return [
    ...(change.keyChanged ? keyHazards(change) : []),
    ...(change.strictChanged && target.strict ? strictHazards(change) : []),
    ...lostFeatures(change, physical).map(({ feature, column }) =>
      destructive(
        `rebuilding ${current.name} loses what the file does not say: ${feature}`,
        column === null ? null : countRows(quoteName(current.name), `${quoteName(column)} IS NOT NULL`),
      ),
    ),
  ];
}

function keyHazards({ current, target }: TableChange): Hazard[] {
  const image = imageAfter(current, target);
  const key = (table: Table) => (table.primaryKey.length === 0 ? "none" : `(${table.primaryKey.join(", ")})`);
  const reason = `the primary key of ${target.name} changes from ${key(current)} to ${key(target)}`;
  if (target.primaryKey.length === 0) return [destructive(reason)];
  return [
    destructive(reason),
    impossibleIfAny(
      `rows of ${target.name} share a primary key ${key(target)}`,
      countDuplicates(image, target.primaryKey, null),
    ),
  ];
}

function strictHazards({ current, target }: TableChange): Hazard[] {
  return [...target.columns.values()].flatMap((column) => {
    const before = current.columns.get(column.name);
    if (before === undefined || before.type !== column.type) return [];
    const stored = quoteName(column.name);
    const count = (condition: string) => countRows(quoteName(current.name), condition);
    const hazards = [
      impossibleIfAny(
        `${current.name}.${column.name} holds values that are not ${column.type}`,
        count(misfit(stored, column.type)),
      ),
    ];
    if (column.type === "text")
      hazards.push(
        destructiveIfAny(
          `${current.name}.${column.name} holds numbers, which become texts`,
          count(`typeof(${stored}) IN ('integer', 'real')`),
        ),
      );
    return hazards;
  });
}

function lostFeatures({ physical: source, current }: TableChange, physical: Physical) {
  const typeOf = (column: { name: string }): ColumnType => current.columns.get(column.name)?.type ?? "text";
  const model = tableModel(source, physical, typeOf);
  return model?.unmodelled.filter(({ survivesRebuild }) => !survivesRebuild) ?? [];
}
