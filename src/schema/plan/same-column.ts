import type { Column, Reference } from "../../project/model.js";
import { canonicalFragment, sameFragment } from "../../sqlite/fragment.js";
import { defaultSql } from "./ddl.js";

/**
 * Whether two columns of the same name have the same definition in the database. `renamedFrom` is ignored. `managed`
 * matters only if one of the columns is the version of its rows and the other is not, because each row needs a version
 * then.
 */
export function sameColumn(a: Column, b: Column): boolean {
  return (
    a.type === b.type &&
    a.notNull === b.notNull &&
    sameDefault(a, b) &&
    (a.managed === "version") === (b.managed === "version") &&
    sameFragment(a.check, b.check) &&
    sameReference(a.references, b.references)
  );
}

/** The same value or expression, or none. */
export function sameDefault(a: Column, b: Column): boolean {
  return canonicalDefault(a) === canonicalDefault(b);
}

/** A column's default as a text for comparing. Null for none and for DEFAULT NULL, which has the same effect. */
function canonicalDefault({ default: value }: Column): string | null {
  const text = value === null ? "null" : canonicalFragment(defaultSql(value));
  return text === "null" ? null : text;
}

/** Whether two references lead to the same column with the same action, or there are none. */
export function sameReference(a: Reference | null, b: Reference | null): boolean {
  if (a === null || b === null) return a === b;
  return a.table === b.table && a.column === b.column && a.onDelete === b.onDelete;
}
