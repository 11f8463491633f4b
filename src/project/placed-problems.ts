import { formatRuleProblem, positionInWords, type RuleProblem } from "../rules/position.js";
import { conditionPath } from "../rules/write-out.js";

/** A message and the path that it is about, in svc.toml or svc.schema.yaml. */
export interface PlacedProblem {
  readonly path: string;
  readonly message: string;
}

/** The text of a rule or a named condition, and its path in the file. */
export interface PlacedText {
  readonly path: string;
  readonly kind: "rule" | "condition";
  readonly text: string;
}

/**
 * The messages for one problem of a rule or named condition. If the problem is in a named condition that the text uses,
 * a second message is about that condition, and says who uses it. `conditions` holds the named conditions by their
 * keys.
 */
export function placedProblems(
  { path, kind, text }: PlacedText,
  { at, message }: RuleProblem,
  conditions: ReadonlyMap<string, string | null>,
): readonly PlacedProblem[] {
  const { written } = at;
  if (written === undefined) return [{ path, message: formatRuleProblem(text, { at, message }, kind) }];
  const place = conditionPath(written.key);
  const used = `${message} (${positionInWords(written.at, place)})`;
  const inCondition = { at: written.at, message: `${message} (used by ${path})` };
  return [
    { path, message: formatRuleProblem(text, { at, message: used }, kind) },
    { path: place, message: formatRuleProblem(conditions.get(written.key) ?? "", inCondition, "condition") },
  ];
}
