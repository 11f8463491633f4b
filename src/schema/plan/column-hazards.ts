import { pathOf } from "../../changes/image.js";
import type { Column, Reference, Table } from "../../project/model.js";
import { overCarried, sameFragment } from "../../sqlite/fragment.js";
import { carriedName } from "../../sqlite/names.js";
import { mentions, quoteName, quoteText } from "../../sqlite/sql-tokens.js";
import { isLoose, type Physical, sameName } from "../physical/physical.js";
import { type Conversion, conversion, misfit } from "./conversion.js";
import { countOrphans, countRows } from "./counts.js";
import { dependents } from "./dependents.js";
import { imageAfter } from "./image-after.js";
import { shownName } from "./renames.js";
import { sameReference } from "./same-column.js";
import { destructive, destructiveIfAny, type Hazard, impossible, impossibleIfAny } from "./steps.js";
import type { TableChange } from "./table-change.js";

/**
 * SQL to stand behind FROM for the rows that the table of a reference will have after the plan; null if it will have
 * none, because the plan creates the table. The column that is referred to has its `carriedName`.
 */
export type RowsOf = (reference: Reference) => string | null;

/** Constraints of an added column that present rows of the table would break. */
export function addedColumnHazards(column: Column, { current, target }: TableChange, rowsOf: RowsOf): Hazard[] {
  const image = imageAfter(current, target);
  const hazards: Hazard[] = [];
  // If the added column becomes the integer primary key, SQLite itself gives each row a number, so no value is missing.
  const numbered = target.primaryKey.join() === column.name && column.type === "integer";
  if (column.notNull && column.default === null && !numbered)
    hazards.push(
      impossibleIfAny(
        `${at(target, column)} may not be NULL and has no default for the rows that are there`,
        countRows(quoteName(current.name)),
      ),
    );
  if (column.check !== null) hazards.push(checkHazard(column, target, image));
  if (column.references !== null && column.default !== null)
    hazards.push(referenceHazard(column, column.references, target, image, rowsOf));
  return hazards;
}

/** The column's values are lost, in the log of changes too, and views and triggers that use it prevent the drop. */
export function droppedColumnHazards(column: Column, change: TableChange, physical: Physical): Hazard[] {
  const { current, target, keyChanged } = change;
  const count = countRows(quoteName(current.name), `${quoteName(column.name)} IS NOT NULL`);
  return [
    destructive(`${at(current, column)} is dropped with its values`, count),
    // A history that is dropped as a whole is counted by the step that drops it.
    ...(current.historyDays === null || target.historyDays === null || keyChanged
      ? []
      : [
          destructiveIfAny(
            `${at(current, column)} is dropped with its values in the history`,
            countLogged(current, column),
          ),
        ]),
    ...dependents(physical, current.name)
      .filter(({ sql }) => mentions(sql, column.name))
      .map(({ what }) => impossible(`${what} uses ${at(current, column)}: drop it first`)),
  ];
}

/** Counts the entries of the log of changes that have a value of the column other than NULL. */
function countLogged({ name }: Table, column: Column): string {
  return countRows("_changes", `tbl = ${quoteText(name)} AND json_type(old, ${pathOf(column.name)}) <> 'null'`);
}

/** Values that cannot be converted, and constraints that present rows would break. */
export function alteredColumnHazards(before: Column, after: Column, change: TableChange, rowsOf: RowsOf): Hazard[] {
  const { current, target } = change;
  const image = imageAfter(current, target);
  const hazards = before.type === after.type ? [] : typeHazards(before, after, change);
  if (after.notNull && !before.notNull)
    hazards.push(
      impossibleIfAny(
        `${at(target, after)} would be NULL in rows that are there`,
        countRows(image, `${quoteName(carriedName(after.name))} IS NULL`),
      ),
    );
  if (after.check !== null && !sameFragment(before.check, after.check)) hazards.push(checkHazard(after, target, image));
  const sameParent =
    after.references !== null &&
    before.references !== null &&
    sameReference(before.references, { ...after.references, onDelete: before.references.onDelete });
  if (after.references !== null && (!sameParent || before.type !== after.type))
    hazards.push(referenceHazard(after, after.references, target, image, rowsOf));
  return hazards;
}

function typeHazards(before: Column, after: Column, { current, physical }: TableChange): Hazard[] {
  const name = at(current, before);
  const stored = physical.columns.find((column) => sameName(column.name, before.name));
  const how = conversion(quoteName(before.name), before.type, after.type);
  if (how === null)
    return [impossible(`${name} cannot become ${after.type} from ${before.type}: add a column and drop this one`)];
  const hazards = conversionHazards(before, after, current, how);
  if (stored === undefined || !isLoose(physical, stored)) return hazards;
  return [
    ...misfitHazards(before, current),
    ...(physical.strict ? [reshaped(before, after, current, how)] : []),
    ...hazards,
  ];
}

/**
 * A column that may hold values of any type may have some that are not of its type, which the conversion does not
 * provide for.
 */
function misfitHazards(column: Column, table: Table): Hazard[] {
  const count = countRows(quoteName(table.name), misfit(quoteName(column.name), column.type));
  return [destructiveIfAny(`${at(table, column)} holds values that are not ${column.type}`, count)];
}

/**
 * The hazard of giving another type to a column that is declared ANY, which may hold any value: the values are counted
 * whose storage class the conversion changes.
 */
function reshaped(before: Column, after: Column, table: Table, { value }: Conversion): Hazard {
  const count = countRows(quoteName(table.name), `typeof(${value}) <> typeof(${quoteName(before.name)})`);
  return destructiveIfAny(`${at(table, before)} is ANY and would hold nothing but ${after.type}`, count);
}

function conversionHazards(before: Column, after: Column, current: Table, how: Conversion): Hazard[] {
  const name = at(current, before);
  const reason = `${name} narrows from ${before.type} to ${after.type}`;
  if (how.keeps === null) return how.narrowing ? [destructive(reason)] : [];
  const count = countRows(
    quoteName(current.name),
    `${quoteName(before.name)} IS NOT NULL AND CASE WHEN ${how.keeps} THEN 0 ELSE 1 END`,
  );
  if (how.otherwise === "rounded") return [destructiveIfAny(`${name} has values that ${after.type} rounds`, count)];
  if (!after.notNull) return [destructive(`${reason}; values that do not convert become NULL`, count)];
  return [
    destructive(reason),
    impossibleIfAny(`${name} has values that do not convert to ${after.type} and may not be NULL`, count),
  ];
}

function checkHazard(column: Column, table: Table, image: string): Hazard {
  return impossibleIfAny(
    `rows break the check of ${at(table, column)}: ${column.check}`,
    countRows(image, `NOT (${overCarried(column.check!, table.columns.keys())})`),
  );
}

function referenceHazard(column: Column, reference: Reference, table: Table, image: string, rowsOf: RowsOf): Hazard {
  return impossibleIfAny(
    `rows of ${at(table, column)} refer to no row of ${shownName(reference.table)}`,
    countOrphans(image, column.name, rowsOf(reference), reference.column),
  );
}

function at(table: Table, column: Column): string {
  return `${table.name}.${shownName(column.name)}`;
}
