/**
 * The place in svc.toml of one character of a rule or condition, whose text has these `runs`. `offset` is its index.
 */
export function placeInFile(runs: readonly TextRun[], offset: number) {
  const [at, line, column] = runs.findLast(([from]) => from <= offset)!;
  return { line, column: column + offset - at };
}

/**
 * The runs of each rule and named condition, by its path, such as `rules.messages.update`. It is plain data, so that a
 * Worker can be given it and need not have svc.toml.
 */
export type RulePlaces = ReadonlyMap<string, readonly TextRun[]>;

/**
 * A part of a rule's or condition's text that stands in one line of svc.toml character for character, without escapes.
 * It begins at the index `at` of the text and ends where the next run begins. `line` and `column` are where it begins
 * in the file, from 1; columns count UTF-16 code units.
 */
export type TextRun = readonly [at: number, line: number, column: number];
