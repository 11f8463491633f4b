import type { Problem } from "../../problems/problem.js";
import type { Config } from "../../project/config.js";
import { configFile } from "../../project/file-names.js";
import type { Schema, Table } from "../../project/model.js";
import { parseRules } from "../../project/parse-rules.js";
import type { TableRules } from "../../rules/ast.js";
import { type Catalog, plainCatalogTable } from "../../schema/catalog.js";
import { nothingUnsupported } from "../../schema/physical/unsupported.js";
import type { TableName } from "../../sqlite/names.js";
import { waysOfRules } from "./ways-of-rules.js";

/**
 * Under `api.require_ways`, a problem for each table whose lists have no way to the rows that a user may read
 * (docs/security.md#what-scans-tell); else none.
 */
export function withoutWays(
  { api }: Pick<Config, "api">,
  rules: ReadonlyMap<TableName, TableRules>,
  schema: Schema,
  catalog: Catalog,
): Problem[] {
  if (!api.require_ways) return [];
  const scanned = waysOfRules(rules, schema, catalog).filter(({ by }) => by === "table");
  return scanned.map(({ table, missing }) => {
    const help =
      missing.length === 0
        ? "no index would change that: let each term that joins `or` compare a column with the caller or look it up by exists"
        : `an index on ${missing.join(" and on ")} would`;
    return {
      file: configFile,
      path: `rules.${table}.read`,
      message: `api.require_ways: lists of ${table} have no way to the rows that a user may read; ${help}`,
    };
  });
}

/**
 * The problems of svc.toml with a schema that is to be applied: of the rules, and of tables without ways. Which indexes
 * there will be is told by the schema itself.
 */
export function problemsWith(config: Config, schema: Schema): Problem[] {
  const { rules, problems } = parseRules(config, schema);
  return problems.length > 0 ? [...problems] : withoutWays(config, rules, schema, declaredCatalog(schema));
}

/** What a database will know of a schema's tables, as far as the schema says it. */
function declaredCatalog({ tables }: Schema): Catalog {
  return {
    tables: new Map([...tables.values()].map((table) => [table.name, declaredTable(table)])),
    hasMixedTexts: false,
    answerBytesMax: Number.POSITIVE_INFINITY,
    pageBytesMax: Number.POSITIVE_INFINITY,
    imageBytesMax: null,
    statementsMax: null,
    unsupported: nothingUnsupported,
  };
}

function declaredTable(table: Table) {
  const ascending = (columns: Table["primaryKey"]) => columns.map((name) => ({ name, descending: false }));
  const keys = [table.primaryKey, ...table.unique].filter((columns) => columns.length > 0);
  const whole = table.indexes.filter(({ where }) => where === null);
  return {
    ...plainCatalogTable(table),
    exactColumns: new Set(table.columns.keys()),
    indexes: [
      ...keys.map((columns) => ({ name: columns.join(), columns: ascending(columns), unique: true, isTable: false })),
      ...whole.map(({ columns, unique }) => ({ name: JSON.stringify(columns), columns, unique, isTable: false })),
    ],
  };
}
