import type { ParsedText } from "./parse.js";

/** The named conditions of a project, by name. */
export type Conditions = ReadonlyMap<string, NamedCondition>;

/** For a project that has none. */
export const noConditions: Conditions = new Map();

/** A condition of `[conditions]` in svc.toml (`docs/reference/rules.md#named-conditions`). */
export interface NamedCondition {
  /** The key in `[conditions]`, such as `member(room)`. */
  readonly key: string;
  readonly name: string;
  readonly parameters: readonly string[];
  /**
   * `"broken"` if the text has problems; `"under way"` while the conditions that it uses are being read. A condition
   * that is used while it is under way uses itself, directly or through others, which is refused.
   */
  readonly text: ParsedText | "broken" | "under way";
}
