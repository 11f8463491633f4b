/** A mistake in the text of a schema. */
export interface TextProblem {
  /** From 1; null where the message names no line. */
  readonly line: number | null;
  readonly message: string;
}

/** The mistakes that a refused plan names, one a line: `svc.schema.yaml:12: notes.columns.id: unknown key`. */
export function problemsOf(message: string): readonly TextProblem[] {
  return message
    .split("\n")
    .filter((text) => text.trim() !== "")
    .map((text) => {
      const [, line, rest] = /^[\w.]+:(\d+): (.*)$/s.exec(text) ?? [];
      return line === undefined
        ? { line: null, message: text.replace(/^svc\.schema\.yaml: /, "") }
        : { line: Number(line), message: rest! };
    });
}
