import type { Problem } from "../../problems/problem.js";
import { byLine, located } from "./located.js";
import { tomlPlaces } from "./toml-places.js";
import { yamlPlaces } from "./yaml-places.js";

/**
 * Adds line numbers to problems and sorts them: files in the order of their first problem, problems of a file by line
 * (`located`). `texts` holds the texts of files by name; problems of other files get no line numbers.
 */
export function withLines(problems: readonly Problem[], texts: ReadonlyMap<string, string>): readonly Problem[] {
  const files = new Set(problems.map(({ file }) => file));
  return [...files].flatMap((file) => {
    const ofFile = problems.filter((problem) => problem.file === file);
    const text = texts.get(file);
    if (text === undefined) return byLine(ofFile);
    return located(ofFile, text, file.endsWith(".toml") ? tomlPlaces : yamlPlaces);
  });
}
