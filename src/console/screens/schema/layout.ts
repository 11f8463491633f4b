import type { SchemaTable } from "../../../wire/schema-in-force.js";

/** Where a table's box lies, in pixels of the drawing. */
export interface Box {
  readonly table: SchemaTable;
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

/** A foreign key, drawn as a curve. `path` is an SVG path. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly column: string;
  readonly path: string;
}

/** A box for each table, a curve for each foreign key, and the size of the whole. */
export interface Drawing {
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
  readonly width: number;
  readonly height: number;
}

/** The width of a table's box in pixels of the drawing. */
export const boxWidth = 208;
/** The height of the part of a box for the table's name. */
export const headHeight = 34;
/** The height of a column's line in a box. */
export const lineHeight = 22;
const gap = { x: 84, y: 28 };
const margin = 16;

/**
 * Arranges tables in columns: a table stands to the right of the tables that it refers to, and within a column in the
 * order of those. A column that would become too high is split.
 */
export function drawingOf(tables: readonly SchemaTable[]): Drawing {
  const depths = depthsOf(tables);
  const layers: SchemaTable[][] = [];
  for (const table of tables) {
    layers[depths.get(table.name)!] ??= [];
    layers[depths.get(table.name)!]!.push(table);
  }
  const boxes: Box[] = [];
  let x = margin;
  for (const layer of layers.flatMap((each) => columnsOf(sorted(each ?? [], boxes)))) {
    let y = margin;
    for (const table of layer) {
      const height = heightOf(table);
      boxes.push({ table, x, y, height });
      y += height + gap.y;
    }
    x += boxWidth + gap.x;
  }
  const height = Math.max(0, ...boxes.map((box) => box.y + box.height)) + margin;
  return { boxes, arrows: arrowsOf(boxes), width: Math.max(margin * 2, x - gap.x + margin), height };
}

const heightOf = ({ columns }: SchemaTable) => headHeight + columns.length * lineHeight + 8;

const referredBy = ({ columns, name }: SchemaTable) =>
  columns.flatMap(({ references }) => (references && references.table !== name ? [references.table] : []));

/**
 * For each table the length of the longest chain of references that begins at it. A cycle is followed until it comes
 * back to a table of the chain.
 */
function depthsOf(tables: readonly SchemaTable[]): ReadonlyMap<string, number> {
  const byName = new Map(tables.map((table) => [table.name, table]));
  const depths = new Map<string, number>();
  const depthOf = (table: SchemaTable, above: readonly string[]): number => {
    const known = depths.get(table.name);
    if (known !== undefined) return known;
    const targets = referredBy(table).flatMap((name) => (above.includes(name) ? [] : (byName.get(name) ?? [])));
    const depth = Math.max(-1, ...targets.map((target) => depthOf(target, [...above, table.name]))) + 1;
    depths.set(table.name, depth);
    return depth;
  };
  for (const table of tables) depthOf(table, []);
  return depths;
}

const columnHeightMax = 900;

function columnsOf(layer: readonly SchemaTable[]): readonly (readonly SchemaTable[])[] {
  const columns: SchemaTable[][] = [];
  let height = Number.POSITIVE_INFINITY;
  for (const table of layer) {
    if (height + heightOf(table) > columnHeightMax) {
      columns.push([]);
      height = 0;
    }
    columns.at(-1)!.push(table);
    height += heightOf(table) + gap.y;
  }
  return columns;
}

function sorted(layer: readonly SchemaTable[], placed: readonly Box[]): readonly SchemaTable[] {
  const middle = (table: SchemaTable) => {
    const ys = referredBy(table).flatMap((name) => placed.filter((box) => box.table.name === name).map(({ y }) => y));
    return ys.length === 0 ? 0 : ys.reduce((a, b) => a + b, 0) / ys.length;
  };
  return layer.toSorted((a, b) => middle(a) - middle(b));
}

function arrowsOf(boxes: readonly Box[]): readonly Arrow[] {
  const byName = new Map(boxes.map((box) => [box.table.name, box]));
  return boxes.flatMap((from) =>
    from.table.columns.flatMap(({ name, references }, i) => {
      const to = references === null ? undefined : byName.get(references.table);
      if (to === undefined) return [];
      const row = to.table.columns.findIndex((column) => column.name === references!.column);
      const lineOf = (box: Box, index: number) => box.y + headHeight + (Math.max(0, index) + 0.5) * lineHeight;
      const [y, endY] = [lineOf(from, i), lineOf(to, row)];
      const isLeft = to.x < from.x;
      const x = isLeft ? from.x : from.x + boxWidth;
      const endX = to.x + boxWidth;
      const bend = isLeft ? Math.max(40, (x - endX) / 2) : 56;
      const path = `M${x} ${y}C${isLeft ? x - bend : x + bend} ${y} ${endX + bend} ${endY} ${endX} ${endY}`;
      return [{ from: from.table.name, to: to.table.name, column: name, path }];
    }),
  );
}
