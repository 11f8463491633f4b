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

/** Of the name, and of the type in smaller letters beside it. */
const characterWidth = { name: 0.53, type: 0.42 };
const around = 2.6;

/** How wide a column is at first, in rem: what its type needs, or its name. */
export function columnWidth({ name, type, references }: Column): number {
  const forName = name.length * characterWidth.name + type.length * characterWidth.type + around;
  // Of a key that leads elsewhere the beginning is enough.
  const forValue = references === null ? widthOfType[type] : 10;
  return Math.min(24, Math.max(forValue, forName));
}

/** Where columns begin, in pixels, and where the last one ends. */
export function columnOffsets(widths: readonly number[]): readonly number[] {
  const offsets = [0];
  for (const width of widths) offsets.push(offsets.at(-1)! + width);
  return offsets;
}
