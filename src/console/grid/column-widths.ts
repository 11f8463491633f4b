import type { Column, ColumnType } from "../server/shapes.js";

/** Widths of columns in rem, by what is usual for their types. */
const widthOfType: Record<ColumnType, number> = {
  integer: 7,
  real: 7,
  boolean: 6,
  text: 14,
  json: 16,
  blob: 7,
};

const characterWidth = 0.52;
const around = 3.4;

/** How wide a column is at first, in rem: what its type needs, or its name. */
export function columnWidth({ name, type, references }: Column): number {
  const forName = name.length * characterWidth + around;
  return Math.min(24, Math.max(widthOfType[type] + (references === null ? 0 : 1.5), forName));
}

/** Where columns begin, in pixels, and where the last one ends. */
export function columnOffsets(widths: readonly number[]): readonly number[] {
  const offsets = [0];
  for (const width of widths) offsets.push(offsets.at(-1)! + width);
  return offsets;
}
