import type { Column, Table } from "../../project/model.js";
import { sameFragment } from "../../sqlite/fragment.js";
import { declaredIndexes, type IndexShape, indexName, indexSignature } from "../physical/index-shape.js";
import { defaultSql } from "./ddl.js";
import { sameDefault, sameReference } from "./same-column.js";

/** How a table of the database (`there`) differs from the one of the same name in svc.schema.yaml, in messages. */
export function tableDifferences(there: Table, declared: Table): string[] {
  const found: string[] = [];
  const say = (what: string, a: unknown, b: unknown) => {
    if (a !== b) found.push(`${what} is ${a} there and ${b} in the file`);
  };
  say("name", there.name, declared.name);
  say("virtual", there.virtual, declared.virtual);
  say("strict", there.strict, declared.strict);
  // If the name differs in case, or only one of the two tables is virtual or STRICT, reporting further differences
  // would help nobody.
  if (found.length > 0) return found;
  if (!there.virtual) say("primary key", listOf(there.primaryKey), listOf(declared.primaryKey));
  for (const column of there.columns.values()) {
    const other = declared.columns.get(column.name);
    if (other === undefined) found.push(`the file has no column ${column.name}`);
    else found.push(...columnDifferences(column, other));
  }
  for (const name of declared.columns.keys()) if (!there.columns.has(name)) found.push(`there is no column ${name}`);
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
  // The default of a managed column is not compared. It is meant for rows that other programs insert, and these have
  // done without it so far.
  if (declared.managed === null) say("default", sameDefault(there, declared), defaultOf(there), defaultOf(declared));
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
