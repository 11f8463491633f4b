import { param, Slot, type SlotValues } from "../sql-text/fragment.js";

/** The placeholders for the numbers that differ between two pages of the same list. */
export const page = { skip: param(new Slot("page.skip")), limit: param(new Slot("page.limit")) };

/** The values for the placeholders of a page of `limit` rows, which leaves out `skip` rows before them (the offset). */
export function pageValues(limit: number, skip: number): SlotValues {
  return new Map([
    ["page.skip", BigInt(skip)],
    ["page.limit", BigInt(limit)],
  ]);
}
