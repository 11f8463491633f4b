import type { Database } from "../../platform/database.js";
import { ProblemsError } from "../../problems/problem.js";
import { parseSchema } from "../../project/parse-schema.js";
import { introspect, type PullNotes } from "./introspect.js";
import { schemaYaml } from "./schema-yaml.js";

/** A svc.schema.yaml that was made from an existing database, and notes on it. */
export interface Pulled {
  /** With the notes as comments. */
  readonly text: string;
  readonly notes: PullNotes;
}

/**
 * Makes svc.schema.yaml for a database that already has tables (docs/guides/existing-database.md). The database stays
 * as it is. Throws ProblemsError if the text would not be valid.
 */
export async function pullSchema(database: Database): Promise<Pulled> {
  const { schema, notes } = await introspect(database);
  const text = schemaYaml(schema, headline(notes));
  const { problems } = parseSchema(text);
  if (problems.length > 0) throw new ProblemsError(problems);
  return { text, notes };
}

/** Notes of one kind, under the heading with which they are shown. */
interface NoteSection {
  readonly heading: string;
  readonly lines: readonly string[];
}

/** The notes by kind, without kinds that have none, in the order in which they are shown. */
export function noteSections({ leftOut, kept, choices, narrowed, limited }: PullNotes): NoteSection[] {
  return [
    { heading: "left out", lines: leftOut },
    { heading: "kept in the database alone", lines: kept },
    { heading: "chosen", lines: choices },
    { heading: "not every value is taken", lines: narrowed },
    { heading: "limited", lines: limited },
  ].filter(({ lines }) => lines.length > 0);
}

function headline(notes: PullNotes): string[] {
  return [
    "Pulled from an existing database. Types come from the declarations and from the values that are there.",
    ...noteSections(notes).flatMap(({ heading, lines }) => [
      "",
      `${heading[0]!.toUpperCase()}${heading.slice(1)}:`,
      ...lines.map((line) => `  ${line}`),
    ]),
  ];
}
