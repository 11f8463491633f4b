/**
 * The place in svc.toml of one character of a rule or condition. `runs` are those of its text, and `offset` is the
 * character's index in the text.
 */
export function placeInFile(runs: readonly TextRun[], offset: number) {
  const [at, line, column] = runs.findLast(([from]) => from <= offset)!;
  return { line, column: column + offset - at };
}

/**
 * Maps the path of each rule and named condition, such as `rules.messages.update`, to the runs of its text, which say
 * where in svc.toml it is written. It is plain data, so that a Worker can be given it and need not have svc.toml.
 */
export type RulePlaces = ReadonlyMap<string, readonly TextRun[]>;

/**
 * A run is a part of the text of a rule or condition that stands in one line of svc.toml character for character,
 * without escapes. It begins at the index `at` of the text and ends where the next run begins. `line` and `column` are
 * where it begins in the file, from 1; columns count UTF-16 code units.
 */
export type TextRun = readonly [at: number, line: number, column: number];
