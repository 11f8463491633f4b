import { mentions } from "../../sqlite/sql-tokens.js";
import { declaredIndexes, type IndexShape, indexName, indexSignature } from "../physical/index-shape.js";
import type { PhysicalIndex } from "../physical/physical.js";
import type { TableComparison } from "./table-comparison.js";

/** What a plan does to the indexes of a table that stays in the schema, those of `unique` included. */
export interface IndexChange {
  /** Indexes made by CREATE INDEX that svc.schema.yaml no longer declares. */
  readonly dropped: readonly PhysicalIndex[];
  /** Indexes that svc.schema.yaml has never declared and that cover a column which is dropped. */
  readonly lost: readonly PhysicalIndex[];
  /** Indexes made by CREATE INDEX that stay as they are, names included. */
  readonly kept: readonly PhysicalIndex[];
  /** Indexes that are created again under another name, because their present name contains a name that is renamed. */
  readonly stale: readonly PhysicalIndex[];
  readonly created: readonly CreatedIndex[];
}

/** An index that the plan makes. */
export interface CreatedIndex {
  /** It contains the names that the table and columns will have after renames. */
  readonly name: string;
  readonly shape: IndexShape;
  /** False for an index that is only created again. */
  readonly isNew: boolean;
}

/**
 * Decides what happens to each index of a table. With `rebuild` the table is created anew without its UNIQUE
 * constraints, so a unique index is created for each of them that is still declared.
 */
export function indexChange(
  { target, named, physical, signatures, unwanted, dropped: droppedColumns }: TableComparison,
  rebuild: boolean,
): IndexChange {
  const oldShapes = declaredIndexes(target);
  const shapes = declaredIndexes(named);
  const created: CreatedIndex[] = [];
  const stale: PhysicalIndex[] = [];
  const seen = new Set<string>();
  for (const [at, oldShape] of oldShapes.entries()) {
    const signature = indexSignature(oldShape);
    if (seen.has(signature)) continue;
    seen.add(signature);
    const present = physical.indexes.filter(
      (index) => signatures.get(index) === signature && index.origin !== "primary_key",
    );
    const name = indexName(named.name, shapes[at]!);
    stale.push(...present.filter((index) => index.name === indexName(target.name, oldShape) && index.name !== name));
    const staying = present.filter((index) => !stale.includes(index) && !(rebuild && index.origin === "unique"));
    if (staying.length === 0) created.push({ name, shape: oldShape, isNew: present.length === 0 });
  }
  const dropped = unwanted.filter(({ origin }) => origin === "created");
  const others = physical.indexes.filter(
    (index) => index.origin === "created" && !dropped.includes(index) && !stale.includes(index),
  );
  const lost = others.filter(
    (index) =>
      !seen.has(signatures.get(index) ?? "") && droppedColumns.some(({ name }) => mentions(index.sql ?? "", name)),
  );
  return { dropped, lost, kept: others.filter((index) => !lost.includes(index)), stale, created };
}
