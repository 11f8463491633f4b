import type { ParsedText } from "./parse.js";

/** The named conditions of a project, by name. */
export type Conditions = ReadonlyMap<string, NamedCondition>;

/** The named conditions of a project that has none: an empty map. */
export const noConditions: Conditions = new Map();

/** A condition of `[conditions]` in svc.toml (`docs/reference/rules.md#named-conditions`). */
export interface NamedCondition {
  /** The condition's key in `[conditions]`, such as `member(room)`. */
  readonly key: string;
  readonly name: string;
  readonly parameters: readonly string[];
  /**
   * The condition's text after parsing; `"broken"` where it has problems; `"under way"` while the conditions that it
   * uses are being read. If a condition is used that is under way, it uses itself, directly or through others, which is
   * refused.
   */
  readonly text: ParsedText | "broken" | "under way";
}
