import type { Column, Table } from "../../project/model.js";
import type { ColumnType } from "../../sqlite/column-type.js";
import { affinity, typeOfDeclaration } from "../../sqlite/column-type.js";
import { sameFragment } from "../../sqlite/fragment.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import { isLoose, type Physical, type PhysicalColumn, type PhysicalTable, sameName } from "../physical.js";
import { tableModel } from "../table-model.js";
import { misfit } from "./conversion.js";
import { defaultSql, type IndexShape, indexName, indexSignature } from "./ddl.js";
import { countRows } from "./images.js";
import { type Hazard, impossible, impossibleIfAny, type Step } from "./steps.js";
import { declaredIndexes, sameDefault, sameReference } from "./table-change.js";

/** Takes a table that is there and not in the schema in force as the file declares it, or says why it cannot. */
export function adoptStep(declared: Table, source: PhysicalTable, physical: Physical): Step {
  const unmodelled = tableModel(source, physical, typeDeclaredFor(declared, source))?.unmodelled ?? [];
  const beside =
    unmodelled.length === 0
      ? ""
      : `, beside what it does not say: ${unmodelled.map((u) => u.feature).join("; ")}`;
  return {
    kind: "adopt_table",
    description: `adopt table ${declared.name}, which is there as the file declares it${beside}`,
    statements: [],
    hazards: adoptHazards(declared, source, physical),
  };
}

function adoptHazards(declared: Table, source: PhysicalTable, physical: Physical): Hazard[] {
  const differences = adoptDifferences(declared, source, physical);
  if (differences.length > 0)
    return [impossible(`${declared.name} is there and differs from the file: ${differences.join("; ")}`)];
  return [...declared.columns.values()].flatMap((column) => {
    const stored = source.columns.find(({ name }) => name === column.name)!;
    // STRICT vouches for the types that are SQLite's own.
    const isVouchedFor = !isLoose(source, stored) && column.type !== "boolean" && column.type !== "json";
    return isVouchedFor ? [] : valueHazards(declared, column);
  });
}

function valueHazards(table: Table, column: Column): Hazard[] {
  const count = countRows(quoteName(table.name), misfit(quoteName(column.name), column.type));
  return [impossibleIfAny(`${table.name}.${column.name} holds values that are not ${column.type}`, count)];
}

/** What the file declares otherwise than the table is. */
export function adoptDifferences(declared: Table, source: PhysicalTable, physical: Physical): string[] {
  if (source.kind === "shadow") return ["it is a shadow table of a virtual table"];
  const model = tableModel(source, physical, typeDeclaredFor(declared, source));
  if (model === null) return ["it has no column whose name the file can say"];
  return differences(model.table, declared);
}

/** The type that the file declares, where the physical column can hold it. */
function typeDeclaredFor(declared: Table, source: PhysicalTable): (column: PhysicalColumn) => ColumnType {
  return (column) => {
    const wanted = declared.columns.get(column.name)?.type;
    const usual = typeOfDeclaration(column.declaredType);
    return wanted !== undefined && canHold(column, wanted, source) ? wanted : usual;
  };
}

function canHold(column: PhysicalColumn, type: ColumnType, source: PhysicalTable): boolean {
  if (isLoose(source, column)) return true;
  const storage = affinity(column.declaredType);
  switch (type) {
    case "integer":
    case "boolean":
      return storage === "integer";
    case "text":
    case "json":
      return storage === "text";
    default:
      return storage === type;
  }
}

/** How two tables of the same name differ, in words. */
export function differences(there: Table, declared: Table): string[] {
  const found: string[] = [];
  const say = (what: string, a: unknown, b: unknown) => {
    if (a !== b) found.push(`${what} is ${a} there and ${b} in the file`);
  };
  say("name", there.name, declared.name);
  say("virtual", there.virtual, declared.virtual);
  say("strict", there.strict, declared.strict);
  // Nothing else compares then.
  if (found.length > 0) return found;
  if (!there.virtual) say("primary key", listOf(there.primaryKey), listOf(declared.primaryKey));
  for (const column of there.columns.values()) {
    const other = declared.columns.get(column.name);
    if (other === undefined) found.push(`the file has no column ${column.name}`);
    else found.push(...columnDifferences(column, other));
  }
  for (const name of declared.columns.keys())
    if (!there.columns.has(name)) found.push(`there is no column ${name}`);
  return [...found, ...indexDifferences(there, declared)];
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? "none" : `(${names.join(", ")})`;
}

function columnDifferences(there: Column, declared: Column): string[] {
  const found: string[] = [];
  const say = (what: string, same: boolean, a: unknown, b: unknown) => {
    if (!same) found.push(`${what} of ${there.name} is ${a} there and ${b} in the file`);
  };
  say("type", there.type === declared.type, there.type, declared.type);
  say("not_null", there.notNull === declared.notNull, there.notNull, declared.notNull);
  say("default", sameDefault(there, declared), defaultOf(there), defaultOf(declared));
  say("check", sameFragment(there.check, declared.check), there.check ?? "none", declared.check ?? "none");
  const same = sameReference(there.references, declared.references);
  say("references", same, referenceOf(there), referenceOf(declared));
  return found;
}

function defaultOf({ default: value }: Column): string {
  return value === null ? "none" : defaultSql(value);
}

function referenceOf({ references }: Column): string {
  if (references === null) return "none";
  return `${references.table}.${references.column} on_delete ${references.onDelete}`;
}

function indexDifferences(there: Table, declared: Table): string[] {
  const missing = (from: Table, of: Table): IndexShape[] => {
    const has = new Set(declaredIndexes(from).map(indexSignature));
    return declaredIndexes(of).filter((shape) => !has.has(indexSignature(shape)));
  };
  return [
    ...missing(there, declared).map((shape) => `there is no index ${indexName(there.name, shape)}`),
    ...missing(declared, there).map((shape) => `the file has no index ${indexName(there.name, shape)}`),
  ];
}

/** The physical table or view that a new name would collide with. */
export function takenBy(name: string, physical: Physical): string | null {
  if (physical.views.some((view) => sameName(view.name, name))) return `view ${name}`;
  return physical.tables.has(name.toLowerCase()) ? `table ${name}` : null;
}
