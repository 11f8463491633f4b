/**
 * The place in svc.toml of one character of a rule or condition. `runs` are those of its text, and `offset` is the
 * character's index in the text.
 */
export function placeInFile(runs: readonly TextRun[], offset: number) {
  const [at, line, column] = runs.findLast(([from]) => from <= offset)!;
  return { line, column: column + offset - at };
}

/**
 * Where in svc.toml the texts of rules and named conditions are written, by their paths, such as
 * `rules.messages.update`. It is plain data, so that a Worker can be given it and need not have svc.toml.
 */
export type RulePlaces = ReadonlyMap<string, readonly TextRun[]>;

/**
 * A run is a part of the text of a rule or condition that stands in one line of svc.toml character for character,
 * without escapes. It begins at the index `at` of the text and ends where the next run begins. `line` and `column` are
 * where it begins in the file, from 1; columns count UTF-16 code units.
 */
export type TextRun = readonly [at: number, line: number, column: number];
