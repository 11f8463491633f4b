import type { ParsedText } from "./parse.js";

/** The named conditions of a project, by name. */
export type Conditions = ReadonlyMap<string, NamedCondition>;

/** Where a project has no named conditions. */
export const noConditions: Conditions = new Map();

/** A condition of `[conditions]` in svc.toml (`docs/reference/rules.md#named-conditions`). */
export interface NamedCondition {
  /** Its key in `[conditions]`, such as `member(room)`. */
  readonly key: string;
  readonly name: string;
  readonly parameters: readonly string[];
  /**
   * Its text, `"broken"` where that has problems, and `"under way"` while the conditions that it uses are being read:
   * whoever uses it then uses itself by way of it.
   */
  readonly text: ParsedText | "broken" | "under way";
}
