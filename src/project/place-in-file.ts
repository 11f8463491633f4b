/** Where the character at an offset of a text stands in svc.toml. */
export function placeInFile(runs: readonly TextRun[], offset: number) {
  const [at, line, column] = runs.findLast(([from]) => from <= offset)!;
  return { line, column: column + offset - at };
}

/**
 * Where in svc.toml the texts of rules and named conditions stand, by their paths, such as `rules.messages.update`. It is
 * plain data, so that a Worker is given it and needs no svc.toml.
 */
export type RulePlaces = ReadonlyMap<string, readonly TextRun[]>;

/**
 * A part of a text that stands in svc.toml character for character, in one line: from the offset `at` of the text on, up to
 * the next run. Line and column are those of the file, from 1; columns count UTF-16 code units.
 */
export type TextRun = readonly [at: number, line: number, column: number];
