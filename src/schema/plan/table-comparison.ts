import type { Column, Table } from "../../project/model.js";
import { declaredIndexes, indexSignature, indexSignatures } from "../physical/index-shape.js";
import type { PhysicalIndex, PhysicalTable } from "../physical/physical.js";
import { sameColumn } from "./same-column.js";

/**
 * How a table of the schema in force (`current`) differs from the proposed one (`target`). All names in it, those in
 * `target` too, are the names in force, because renames are carried out last. Only `named` has the new names.
 */
export interface TableComparison {
  readonly current: Table;
  readonly target: Table;
  /** `target` under the names that it and its columns will have. */
  readonly named: Table;
  readonly physical: PhysicalTable;
  /** From `indexSignatures`. */
  readonly signatures: ReadonlyMap<PhysicalIndex, string>;
  readonly added: readonly Column[];
  readonly dropped: readonly Column[];
  readonly altered: readonly { readonly before: Column; readonly after: Column }[];
  readonly keyChanged: boolean;
  readonly strictChanged: boolean;
  /** Indexes and unique constraints in the database that svc.schema.yaml declared before and no longer does. */
  readonly unwanted: readonly PhysicalIndex[];
}

/** `target` and `named` are the proposed table, under its names in force and under its new names. */
export function compareTables(current: Table, target: Table, named: Table, physical: PhysicalTable): TableComparison {
  const signatures = indexSignatures(physical);
  return {
    current,
    target,
    named,
    physical,
    signatures,
    added: [...target.columns.values()].filter(({ name }) => !current.columns.has(name)),
    dropped: [...current.columns.values()].filter(({ name }) => !target.columns.has(name)),
    altered: [...current.columns.values()].flatMap((before) => {
      const after = target.columns.get(before.name);
      return after === undefined || sameColumn(before, after) ? [] : [{ before, after }];
    }),
    keyChanged: current.primaryKey.join() !== target.primaryKey.join(),
    strictChanged: current.strict !== target.strict,
    unwanted: unwantedIndexes(current, target, physical, signatures),
  };
}

/** The indexes and unique constraints in the database that `current` declares and `target` does not. */
function unwantedIndexes(
  current: Table,
  target: Table,
  physical: PhysicalTable,
  signatures: TableComparison["signatures"],
): PhysicalIndex[] {
  const wanted = new Set(declaredIndexes(target).map(indexSignature));
  const unwanted = new Set(
    declaredIndexes(current)
      .map(indexSignature)
      .filter((signature) => !wanted.has(signature)),
  );
  return physical.indexes.filter((index) => {
    const signature = signatures.get(index);
    return index.origin !== "primary_key" && signature !== undefined && unwanted.has(signature);
  });
}
