import { LineCounter, type YAMLError } from "yaml";
import { pointAt } from "../problems/point-at.js";
import { type Problem, shown } from "../problems/problem.js";
import { parseWithUniqueKeys } from "./parse-with-unique-keys.js";

/** The value of a YAML file, null for an empty one; or the problems of its text. Integers are bigint. */
export type ReadYaml =
  | { readonly outcome: "read"; readonly value: unknown }
  | { readonly outcome: "invalid"; readonly problems: readonly Problem[] };

/** Parses one of the project's YAML files. It reports mistakes of syntax, and too many aliases. */
export function readYaml(text: string, file: string): ReadYaml {
  const lineCounter = new LineCounter();
  const document = parseWithUniqueKeys(text, {
    lineCounter,
    intAsBigInt: true,
    prettyErrors: false,
    // With "silent", of a file with several documents the parser would use the first one and report nothing.
    logLevel: "error",
  });
  if (document.errors.length > 0)
    return {
      outcome: "invalid",
      problems: distinct(document.errors).map((error) => syntaxProblem(text, file, error, lineCounter)),
    };
  try {
    return { outcome: "read", value: document.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    return { outcome: "invalid", problems: [{ file, path: "", message: shown((error as Error).message, messageMax) }] };
  }
}

/** The parser reports some errors twice. */
function distinct(errors: readonly YAMLError[]): readonly YAMLError[] {
  const seen = new Set<string>();
  return errors.filter(({ pos, code }) => {
    const isNew = !seen.has(`${pos[0]} ${code}`);
    seen.add(`${pos[0]} ${code}`);
    return isNew;
  });
}

function syntaxProblem(text: string, file: string, { code, message, pos }: YAMLError, lines: LineCounter): Problem {
  const { line, col: column } = lines.linePos(pos[0]);
  const what = ownWords.get(code) ?? shown(message, messageMax);
  const start = pos[0] - column + 1;
  const end = text.indexOf("\n", start);
  const place = pointAt(text.slice(start, end === -1 ? undefined : end), { line: 1, column });
  const said = `column ${column}: ${what}${remedies.get(code) ?? ""}`;
  return { file, line, path: "", message: `${said}\n${place}` };
}

/** How many characters are shown of a message by the YAML parser. Some quote a name, which may be long. */
const messageMax = 200;

/** What is said instead of the YAML parser's message, by its code of the mistake. */
const ownWords = new Map<YAMLError["code"], string>([
  ["MULTIPLE_DOCS", "a second document begins here, and the file has to be one: remove this ---, or the ... before it"],
  ["RESOURCE_EXHAUSTION", "the maps and lists are nested too deeply here"],
]);

/**
 * Advice that is appended to the YAML parser's message about a mistake of syntax, by the parser's code of the mistake.
 */
const remedies = new Map<YAMLError["code"], string>([
  ["DUPLICATE_KEY", ": rename one of both"],
  ["BAD_INDENT", ": a bracket is missing above, or the indentation is not that of its neighbours"],
  ["BLOCK_AS_IMPLICIT_KEY", ": a map in one line needs { }"],
  ["MULTILINE_IMPLICIT_KEY", ": a key ends with a colon"],
  ["BAD_SCALAR_START", ": put it in quotes"],
]);
