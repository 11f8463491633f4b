/** A mistake that the server has found in the text of a schema. */
export interface TextProblem {
  /** The line of the text, from 1; null where the server's message names no line. */
  readonly line: number | null;
  readonly message: string;
}

/**
 * The mistakes in the message with which the server refuses a schema. Each begins with file and line:
 * `svc.schema.yaml:12: notes.columns.id: unknown key`.
 */
export function problemsOf(message: string): readonly TextProblem[] {
  // A line that does not begin with the file's name goes on with the mistake before it. It is, for example, the line of
  // the schema, or the mark below it.
  return message.split(/\n(?=svc\.[\w.]+:)/).map((text) => {
    const [, line, rest] = /^[\w.]+:(\d+): (.*)$/s.exec(text) ?? [];
    return line === undefined
      ? { line: null, message: text.replace(/^svc\.schema\.yaml: /, "") }
      : { line: Number(line), message: rest! };
  });
}
