import type { ColumnTypeName } from "../../wire/columns.js";
import type { SchemaColumn } from "../../wire/schema-in-force.js";

/** In rem. */
const widthOfType: Record<ColumnTypeName, number> = {
  integer: 7,
  real: 7,
  boolean: 6,
  text: 14,
  json: 16,
  blob: 7,
};

/** Average widths of a character in a heading, in rem: of the name, and of the type in smaller letters. */
const characterWidth = { name: 0.53, type: 0.42 };
const around = 2.6;

/** The width of a column when the grid opens, in rem: what its type or its heading needs, up to 24. */
export function columnWidth({ name, type, references }: SchemaColumn): number {
  const forName = name.length * characterWidth.name + type.length * characterWidth.type + around;
  // A column that refers to another table holds keys, whose beginning is enough to recognise them.
  const forValue = references === null ? widthOfType[type] : 10;
  return Math.min(24, Math.max(forValue, forName));
}

/** The pixels at which columns of these widths begin, and where the last one ends. */
export function columnOffsets(widths: readonly number[]): readonly number[] {
  const offsets = [0];
  for (const width of widths) offsets.push(offsets.at(-1)! + width);
  return offsets;
}
