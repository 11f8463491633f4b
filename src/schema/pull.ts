import type { Database } from "../platform/database.js";
import { schemaText } from "../project/migration/schema-text.js";
import { ProblemsError } from "../project/problem.js";
import { parseSchema } from "../project/schema.js";
import { introspect, type PullNotes } from "./introspect.js";

export interface Pulled {
  /** Of svc.schema.yaml, with the notes as comments. */
  readonly text: string;
  readonly notes: PullNotes;
}

/** What `svc schema pull` writes for a database that already has tables (interface, section 3). Changes nothing. */
export async function pullSchema(database: Database): Promise<Pulled> {
  const { schema, notes } = await introspect(database);
  const text = schemaText(schema, headline(notes));
  const { problems } = parseSchema(text);
  if (problems.length > 0) throw new ProblemsError(problems);
  return { text, notes };
}

function headline({ leftOut, kept, choices, narrowed, limited }: PullNotes): string[] {
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];
  return [
    "Pulled from an existing database. Types come from the declarations and from the values that are there.",
    ...section("Left out:", leftOut),
    ...section("Kept in the database and not in this file:", kept),
    ...section("Chosen:", choices),
    ...section("Not every value is taken:", narrowed),
    ...section("Limited, as functions or collations of another program are not here:", limited),
  ];
}
