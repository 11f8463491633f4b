/** A mistake in the text of a schema. */
export interface TextProblem {
  /** From 1; null where the message names no line. */
  readonly line: number | null;
  readonly message: string;
}

/** The mistakes that a refused plan names, one a line: `svc.schema.yaml:12: notes.columns.id: unknown key`. */
export function problemsOf(message: string): readonly TextProblem[] {
  // What does not begin with the file's name belongs to the problem before, such as the line with a mark under it.
  return message.split(/\n(?=svc\.[\w.]+:)/).map((text) => {
    const [, line, rest] = /^[\w.]+:(\d+): (.*)$/s.exec(text) ?? [];
    return line === undefined
      ? { line: null, message: text.replace(/^svc\.schema\.yaml: /, "") }
      : { line: Number(line), message: rest! };
  });
}
