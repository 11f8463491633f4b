/** Where a character of a rule's or condition's text stands in svc.toml: `offset` is its index in the text. */
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
 * A run: a part of the text of a rule or condition that stands in one line of svc.toml, character for character. It
 * begins at the offset `at` of the text and ends where the next run begins. Line and column are those of the file, from
 * 1; columns count UTF-16 code units.
 */
export type TextRun = readonly [at: number, line: number, column: number];
