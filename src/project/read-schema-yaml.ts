import { LineCounter, type YAMLError } from "yaml";
import { pointAt } from "../problems/point-at.js";
import { type Problem, shown } from "../problems/problem.js";
import { schemaFile } from "./file-names.js";
import { parseWithUniqueKeys } from "./parse-with-unique-keys.js";
import { isPlainObject } from "./valibot-problems.js";

/**
 * The entries of svc.schema.yaml that begin with `$`, and the tables, with unchecked values; or the problems of the
 * text.
 */
export type SchemaDocument =
  | {
      readonly outcome: "read";
      readonly settings: Record<string, unknown>;
      readonly tables: readonly (readonly [name: string, value: unknown])[];
    }
  | { readonly outcome: "invalid"; readonly problems: readonly Problem[] };

/** Parses svc.schema.yaml as YAML. It reports mistakes of syntax, too many aliases, and a text that is no map. */
export function readSchemaYaml(text: string): SchemaDocument {
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
      problems: distinct(document.errors).map((error) => syntaxProblem(text, error, lineCounter)),
    };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    return {
      outcome: "invalid",
      problems: [{ file: schemaFile, path: "", message: shown((error as Error).message, messageMax) }],
    };
  }
  if (!isPlainObject(value))
    return {
      outcome: "invalid",
      problems: [{ file: schemaFile, path: "", message: "expected a map of tables" }],
    };
  const entries = Object.entries(value);
  return {
    outcome: "read",
    settings: Object.fromEntries(entries.filter(([key]) => key.startsWith("$"))),
    tables: entries.filter(([key]) => !key.startsWith("$")),
  };
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

function syntaxProblem(text: string, { code, message, pos }: YAMLError, lines: LineCounter): Problem {
  const { line, col: column } = lines.linePos(pos[0]);
  const what = ownWords.get(code) ?? shown(message, messageMax);
  const start = pos[0] - column + 1;
  const end = text.indexOf("\n", start);
  const place = pointAt(text.slice(start, end === -1 ? undefined : end), { line: 1, column });
  const said = `column ${column}: ${what}${remedies.get(code) ?? ""}`;
  return { file: schemaFile, line, path: "", message: `${said}\n${place}` };
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
