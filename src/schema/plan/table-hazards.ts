import type { Column, Reference, Table } from "../../project/model.js";
import type { ColumnType } from "../../sqlite/column-type.js";
import { sameFragment } from "../../sqlite/fragment.js";
import { mentions, quoteName } from "../../sqlite/sql-tokens.js";
import { isLoose, type Physical, sameName } from "../physical.js";
import { tableModel } from "../table-model.js";
import { type Conversion, conversion, misfit } from "./conversion.js";
import { countDuplicates, countOrphans, countRows, imageAfter } from "./images.js";
import { destructive, destructiveIfAny, type Hazard, impossible, impossibleIfAny } from "./steps.js";
import { type declaredIndexes, sameReference, type TableChange } from "./table-change.js";

/** Where the rows of a table come from once the plan is carried out; null for a table that will be new. */
export type RowsOf = (reference: Reference) => string | null;

/** What an added column may break. */
export function addedColumnHazards(
  column: Column,
  { current, target }: TableChange,
  rowsOf: RowsOf,
): Hazard[] {
  const image = imageAfter(current, target);
  const hazards: Hazard[] = [];
  // An added integer key numbers the rows by itself.
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

/** What goes with a dropped column. */
export function droppedColumnHazards(column: Column, { current }: TableChange, physical: Physical): Hazard[] {
  const count = countRows(quoteName(current.name), `${quoteName(column.name)} IS NOT NULL`);
  return [
    destructive(`${at(current, column)} is dropped with its values`, count),
    ...dependents(physical, current.name)
      .filter(({ sql }) => mentions(sql, column.name))
      .map(({ what }) => impossible(`${what} uses ${at(current, column)}: drop it first`)),
  ];
}

/** What a changed column may lose or break. */
export function alteredColumnHazards(
  before: Column,
  after: Column,
  change: TableChange,
  rowsOf: RowsOf,
): Hazard[] {
  const { current, target } = change;
  const image = imageAfter(current, target);
  const hazards = before.type === after.type ? [] : typeHazards(before, after, change);
  if (after.notNull && !before.notNull)
    hazards.push(
      impossibleIfAny(
        `${at(target, after)} would be NULL in rows that are there`,
        countRows(image, `${quoteName(after.name)} IS NULL`),
      ),
    );
  if (after.check !== null && !sameFragment(before.check, after.check))
    hazards.push(checkHazard(after, target, image));
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
    return [
      impossible(`${name} cannot become ${after.type} from ${before.type}: add a column and drop this one`),
    ];
  const hazards = conversionHazards(before, after, current, how);
  if (stored === undefined || !isLoose(physical, stored)) return hazards;
  return [
    ...misfitHazards(before, current),
    ...(physical.strict ? [reshaped(before, after, current, how)] : []),
    ...hazards,
  ];
}

/** No conversion of the column's type thinks of other values, which it may hold. */
function misfitHazards(column: Column, table: Table): Hazard[] {
  const count = countRows(quoteName(table.name), misfit(quoteName(column.name), column.type));
  return [destructiveIfAny(`${at(table, column)} holds values that are not ${column.type}`, count)];
}

/** An ANY column is taken for another type without need: its values could stay as they are. */
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
    `${quoteName(before.name)} IS NOT NULL AND (${how.keeps}) IS NOT TRUE`,
  );
  if (how.otherwise === "rounded")
    return [destructiveIfAny(`${name} has values that ${after.type} rounds`, count)];
  if (!after.notNull) return [destructive(`${reason}; values that do not convert become NULL`, count)];
  return [
    destructive(reason),
    impossibleIfAny(`${name} has values that do not convert to ${after.type} and may not be NULL`, count),
  ];
}

function checkHazard(column: Column, table: Table, image: string): Hazard {
  return impossibleIfAny(
    `rows break the check of ${at(table, column)}: ${column.check}`,
    countRows(image, `NOT (${column.check})`),
  );
}

function referenceHazard(
  column: Column,
  reference: Reference,
  table: Table,
  image: string,
  rowsOf: RowsOf,
): Hazard {
  return impossibleIfAny(
    `rows of ${at(table, column)} refer to no row of ${reference.table}`,
    countOrphans(image, column.name, rowsOf(reference), reference.column),
  );
}

/** What a change of the key, of `strict` or of features that the model does not know may lose or break. */
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
        `${at(current, column)} holds values that are not ${column.type}`,
        count(misfit(stored, column.type)),
      ),
    ];
    if (column.type === "text")
      hazards.push(
        destructiveIfAny(
          `${at(current, column)} holds numbers, which become texts`,
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

/** A unique index that is new must hold for the rows that are there. */
export function newIndexHazards(
  shape: ReturnType<typeof declaredIndexes>[number],
  { current, target }: TableChange,
): Hazard[] {
  if (!shape.unique) return [];
  const columns = shape.columns.map(({ name }) => name);
  return [
    impossibleIfAny(
      `rows of ${target.name} are not unique in (${columns.join(", ")})`,
      countDuplicates(imageAfter(current, target), columns, shape.where),
    ),
  ];
}

export interface Dependent {
  /** For a person. */
  readonly what: string;
  readonly sql: string;
  /** The table whose trigger it is. */
  readonly of: string | null;
}

/** Triggers and views that speak of a table. */
export function dependents(physical: Physical, table: string): Dependent[] {
  const triggers = physical.triggers
    .filter(({ on, sql }) => sameName(on, table) || mentions(sql, table))
    .map(({ name, on, sql }) => ({ what: `trigger ${name}`, sql, of: on }));
  const views = physical.views
    .filter(({ sql }) => mentions(sql, table))
    .map(({ name, sql }) => ({ what: `view ${name}`, sql, of: null }));
  return [...triggers, ...views];
}

function at(table: Table, column: Column): string {
  return `${table.name}.${column.name}`;
}
