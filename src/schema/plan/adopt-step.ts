import { versionColumn } from "../../project/managed.js";
import type { Column, Table } from "../../project/model.js";
import { affinity, type ColumnType, typeOfDeclaration } from "../../sqlite/column-type.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import { isLoose, type Physical, type PhysicalColumn, type PhysicalTable } from "../physical/physical.js";
import { type TableModel, type TypeOf, tableModel } from "../physical/table-model.js";
import { misfit } from "./conversion.js";
import { countRows } from "./counts.js";
import { storageTypes } from "./ddl.js";
import { type Hazard, impossible, impossibleIfAny, type Step } from "./steps.js";
import { tableDifferences } from "./table-differences.js";

/**
 * The step that takes a table into the schema as it is, without any SQL: the table exists in the database but not in
 * the schema in force, and svc.schema.yaml now declares it. If it differs from its declaration, the step is impossible.
 */
export function adoptStep(declared: Table, source: PhysicalTable, physical: Physical): Step {
  const model = tableModel(source, physical, typeDeclaredFor(declared, source));
  const unmodelled = model?.unmodelled ?? [];
  const unsaid =
    unmodelled.length === 0 ? "" : `, beside what it does not say: ${unmodelled.map((u) => u.feature).join("; ")}`;
  return {
    kind: "adopt_table",
    description: `adopt table ${declared.name}, which is there as the file declares it${unsaid}`,
    statements: [],
    hazards: adoptHazards(declared, source, model),
  };
}

function adoptHazards(declared: Table, source: PhysicalTable, model: TableModel | null): Hazard[] {
  const differences = adoptDifferences(declared, source, model);
  if (differences.length > 0)
    return [impossible(`${declared.name} is there and differs from the file: ${differences.join("; ")}`)];
  const version = versionColumn(declared);
  const unversioned = version === undefined ? [] : [versionHazard(declared, version)];
  return [
    ...unversioned,
    ...[...declared.columns.values()].flatMap((column) => {
      const stored = source.columns.find(({ name }) => name === column.name)!;
      // In a STRICT table SQLite has checked the values of a column, unless it is declared ANY. Values of the types
      // boolean and json, which SQLite does not know, have to be checked by a query in any case.
      const isVouchedFor = !isLoose(source, stored) && column.type !== "boolean" && column.type !== "json";
      return isVouchedFor ? [] : valueHazards(declared, column);
    }),
  ];
}

/** Each row needs a version, and a plan does not change rows of a table that it takes over as it is. */
function versionHazard({ name: table }: Table, { name }: Column): Hazard {
  return impossibleIfAny(
    `rows of ${table} have no version: give ${name} a number where it is NULL`,
    countRows(quoteName(table), `${quoteName(name)} IS NULL`),
  );
}

function valueHazards(table: Table, column: Column): Hazard[] {
  const count = countRows(quoteName(table.name), misfit(quoteName(column.name), column.type));
  return [impossibleIfAny(`${table.name}.${column.name} holds values that are not ${column.type}`, count)];
}

/** How a table in the database differs from its declaration in svc.schema.yaml. */
function adoptDifferences(declared: Table, source: PhysicalTable, model: TableModel | null): string[] {
  if (source.kind === "shadow") return ["it is a shadow table of a virtual table"];
  if (model === null) return ["it has no column whose name the file can say"];
  return tableDifferences(model.table, declared);
}

/**
 * The type that svc.schema.yaml declares, if the column can hold such values, or else the usual one for the column's
 * SQL type.
 */
function typeDeclaredFor(declared: Table, source: PhysicalTable): TypeOf {
  return (column) => {
    const wanted = declared.columns.get(column.name)?.type;
    const usual = typeOfDeclaration(column.declaredType);
    return wanted !== undefined && canHold(column, wanted, source) ? wanted : usual;
  };
}

function canHold(column: PhysicalColumn, type: ColumnType, source: PhysicalTable): boolean {
  return isLoose(source, column) || affinity(column.declaredType) === affinity(storageTypes[type]);
}
