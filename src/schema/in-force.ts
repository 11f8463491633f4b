import { type Database, NotSetUpError, type Statement } from "../platform/database.js";
import { Memo } from "../platform/memo.js";
import { ProblemsError } from "../problems/problem.js";
import type { Schema } from "../project/model.js";
import { type ParsedSchema, parseSchema } from "../project/parse-schema.js";
import { type Catalog, catalogOf } from "./catalog.js";
import { type LoadedPhysical, loadPhysicalAfter } from "./physical/load-physical.js";

/** The schema that was last applied to the database (docs/reference/schema.md#changing-the-schema). */
export interface AppliedSchema {
  readonly version: number;
  /** SHA-256 of the schema's text, in hex. */
  readonly hash: string;
  readonly text: string;
  readonly schema: Schema;
}

/** What requests need to know of the tables in the database. */
export interface SchemaInForce extends AppliedSchema {
  readonly catalog: Catalog;
}

/** Null if no schema was ever applied. Throws ProblemsError if this release cannot parse the schema's text. */
export async function loadSchemaInForce(database: Database): Promise<SchemaInForce | null> {
  const { inForce, ...loaded } = await loadState(database);
  return inForce && { ...inForce, catalog: await catalogOf(loaded, inForce.schema, database) };
}

/** The schema that was last applied, null if none ever was, and the tables as the database itself reports them. */
export interface SchemaState extends LoadedPhysical {
  readonly inForce: AppliedSchema | null;
}

const newestVersion: Statement = {
  sql: "SELECT version, hash, text FROM _schema ORDER BY version DESC LIMIT 1",
  params: [],
};

/**
 * The version of the schema is read before the tables. If another process applies a schema in between, the version is
 * lower than the database's, so a later comparison of the two shows that what was loaded is outdated.
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
 * `parseSchema`, with the results for the last two texts remembered. When the server starts, it needs the result for
 * the same text several times: for the project's file, for the schema that was last applied, and for the first request.
 */
export function parseOnce(text: string): ParsedSchema {
  return parsedTexts.get(text, () => parseSchema(text));
}

/** Keeps what `parseSchema` makes of a text, where that was found out elsewhere. */
export function rememberParsed(text: string, schema: Schema): void {
  parsedTexts.get(text, () => ({ schema, problems: [] }));
}

const parsedTexts = new Memo<ParsedSchema>(2, { weigh: () => 1, keyLengthMax: Number.POSITIVE_INFINITY });

/**
 * Throws ProblemsError if the text is not valid, which happens only if another release of the server has applied it.
 */
function parsed(text: string): Schema {
  const { schema, problems } = parseOnce(text);
  if (schema === null) throw new ProblemsError(problems);
  return schema;
}
