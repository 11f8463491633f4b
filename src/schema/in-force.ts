import { type Database, NotSetUpError, type Statement } from "../platform/database.js";
import { Memo } from "../platform/memo.js";
import { ProblemsError } from "../problems/problem.js";
import type { Schema } from "../project/model.js";
import { type ParsedSchema, parseSchema } from "../project/parse-schema.js";
import { type Catalog, catalogOf } from "./catalog.js";
import { type LoadedPhysical, loadPhysicalAfter } from "./load-physical.js";

/** The schema that was last applied to the database (docs/reference/schema.md#changing-the-schema). */
export interface AppliedSchema {
  readonly version: number;
  /** SHA-256 of the schema's text, in hex. */
  readonly hash: string;
  readonly text: string;
  readonly schema: Schema;
}

/** The schema in force together with the catalog that requests need. */
export interface SchemaInForce extends AppliedSchema {
  readonly catalog: Catalog;
}

/**
 * Loads the schema in force; null where none was ever applied. Throws ProblemsError where this release cannot parse
 * it.
 */
export async function loadSchemaInForce(database: Database): Promise<SchemaInForce | null> {
  const { inForce, ...loaded } = await loadState(database);
  return inForce && { ...inForce, catalog: await catalogOf(loaded, inForce.schema, database) };
}

/** The schema in force, null where none was ever applied, and the tables as the database itself reports them. */
export interface SchemaState extends LoadedPhysical {
  readonly inForce: AppliedSchema | null;
}

const newestVersion: Statement = {
  sql: "SELECT version, hash, text FROM _schema ORDER BY version DESC LIMIT 1",
  params: [],
};

/**
 * Loads the schema in force, and the tables as the database itself reports them. The version of the schema is read
 * first: if another process applies a schema between the two reads, the version is the older one, and comparing it with
 * the database's shows that it is outdated.
 */
export async function loadState(database: Database): Promise<SchemaState> {
  const loaded = await loadPhysicalAfter(database, [newestVersion]).catch((error: unknown) => {
    if (error instanceof NotSetUpError) return null;
    throw error;
  });
  if (loaded === null) return { inForce: null, ...(await loadPhysicalAfter(database, [])) };
  const { results, physical, ownTriggers } = loaded;
  const [row] = results[0]!.rows;
  if (row === undefined) return { inForce: null, physical, ownTriggers };
  const [version, hash, text] = row as [number, string, string];
  return { inForce: { version, hash, text, schema: parsed(text) }, physical, ownTriggers };
}

/**
 * Parses the text of a schema file, as `parseSchema` does, and remembers the results of the last two texts. A start
 * needs the same text several times: as the file of the project, as the schema that was applied last, and again for
 * the first request.
 */
export function parseOnce(text: string): ParsedSchema {
  return parsedTexts.get(text, () => parseSchema(text));
}

const parsedTexts = new Memo<ParsedSchema>(2, { weigh: () => 1, keyLengthMax: Number.POSITIVE_INFINITY });

/** Parses the text of a schema that was applied. It has problems only if another release of the server applied it. */
function parsed(text: string): Schema {
  const { schema, problems } = parseOnce(text);
  if (schema === null) throw new ProblemsError(problems);
  return schema;
}
