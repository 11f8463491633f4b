/** A mistake in the text of a schema. */
export interface TextProblem {
  /** From 1; null if the server's message names no line. */
  readonly line: number | null;
  readonly message: string;
}

/** The mistakes in the server's message, each with its file and line: `svc.schema.yaml:12: notes.id: unknown key`. */
export function textProblems(message: string): readonly TextProblem[] {
  // Any other line goes on with the mistake before it: the line of the schema, or the mark below it.
  return message.split(/\n(?=svc\.[\w.]+:)/).map((text) => {
    const [, line, rest] = /^[\w.]+:(\d+): (.*)$/s.exec(text) ?? [];
    return line === undefined
      ? { line: null, message: text.replace(/^svc\.schema\.yaml: /, "") }
      : { line: Number(line), message: rest! };
  });
}
