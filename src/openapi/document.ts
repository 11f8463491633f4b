import { consoleEndpoints } from "../admin/console/endpoints.js";
import { documentedEndpoints } from "../admin/endpoints.js";
import { authEndpoints } from "../auth/routes/endpoints.js";
import type { Config } from "../project/config.js";
import { hasTokensInBody } from "../project/has-tokens-in-body.js";
import { isMetered } from "../project/is-metered.js";
import type { Table } from "../project/model.js";
import type { OperationRules } from "../project/parse-operation-rules.js";
import type { Catalog } from "../schema/catalog.js";
import { isReadOnly, type LiveProject } from "../schema/live-project.js";
import { meteringMembers } from "../wire/metering.js";
import { pageMembers, systemListMeta } from "../wire/pages.js";
import { type JsonSchema, object } from "../wire/schema.js";
import { someUser, tokens, tokenUser, user } from "../wire/users.js";
import { conditionSchemas, filterSchemas, integerSchema } from "./column-schema.js";
import { dataEndpoints, previewSchema } from "./data-paths.js";
import { expandedSchema } from "./expand.js";
import { pastMeta } from "./history-paths.js";
import { namedOperationPaths } from "./named-operation-paths.js";
import { errorResponses, securitySchemes } from "./operation.js";
import { documentedPaths } from "./paths.js";
import { syncPaths } from "./sync-paths.js";
import { tablePaths, tableSchemas } from "./table-paths.js";
import { writesPaths } from "./writes-paths.js";

/** The parts of a project that its OpenAPI document is made of. */
export interface DocumentedProject extends Pick<LiveProject, "schema" | "rules" | "version"> {
  readonly operationRules: ReadonlyMap<string, OperationRules>;
  /** Null if the document is made from the project's files alone. */
  readonly catalog: Catalog | null;
  readonly config: Config;
  /** Without a slash at the end. */
  readonly baseUrl: string;
}

/**
 * The OpenAPI 3.1 document of all endpoints (`docs/reference/http.md#openapi`). The names of schemas that are the same
 * for every project begin with `svc.`, as no schema of a table can.
 */
export function openApiDocument(project: DocumentedProject): JsonSchema {
  const turns = documentInTurns(project);
  for (;;) {
    const { done, value } = turns.next();
    if (done === true) return value;
  }
}

/** Makes the document of `openApiDocument`. It yields after the part of each table. */
export function* documentInTurns(project: DocumentedProject): Generator<void, JsonSchema> {
  const { schema, rules, operationRules, version, catalog, config, baseUrl } = project;
  const metered = isMetered(config);
  const served = servedTables(project);
  const { cookie, console, ...others } = securitySchemes;
  const { cookie_mode: cookies } = config.auth;
  const paths: Record<string, JsonSchema[string]> = {};
  const schemas: Record<string, JsonSchema[string]> = {};
  for (const table of served) {
    const its = rules.get(table.name)!;
    Object.assign(paths, tablePaths(table, its, served, { metered, cookies }));
    Object.assign(schemas, tableSchemas(table, its, served, catalog?.tables.get(table.name)));
    yield;
  }
  return {
    openapi: "3.1.0",
    info: { title: "svc", version: String(version) },
    servers: [{ url: baseUrl }],
    paths: Object.assign(
      paths,
      namedOperationPaths(schema.operations.values(), operationRules, { metered, cookies }),
      syncPaths(served, { metered, cookies }),
      writesPaths(served, { metered, cookies }),
      documentedPaths("auth", authEndpoints, config),
      documentedPaths("admin", documentedEndpoints, config),
      config.console.enabled && documentedPaths("console", consoleEndpoints, config),
      documentedPaths("data", dataEndpoints(metered), config),
    ),
    components: {
      schemas: Object.assign(
        schemas,
        sharedSchemas(metered, hasTokensInBody(config)),
        served.some(({ historyDays }) => historyDays !== null) && pastMeta(metered),
      ),
      responses: errorResponses(),
      securitySchemes: { ...others, ...(cookies && { cookie }), ...(config.console.enabled && { console }) },
    },
  };
}

/**
 * The tables whose rows can be read, or all without a catalog. One whose rows can be read but not written is marked as
 * virtual, because the document describes no writes for virtual tables.
 */
function servedTables({ schema, catalog }: DocumentedProject): readonly Table[] {
  const tables = [...schema.tables.values()];
  if (catalog === null) return tables;
  return tables
    .filter(({ name }) => !catalog.unsupported.reads.has(name))
    .map((table) => ({ ...table, virtual: isReadOnly({ catalog }, table) }));
}

function sharedSchemas(metered: boolean, tokensInBody: boolean): JsonSchema {
  return {
    "svc.user": user,
    "svc.someUser": someUser,
    "svc.tokenUser": tokenUser,
    "svc.tokens": tokens(tokensInBody),
    "svc.preview": previewSchema,
    "svc.systemList": systemListMeta,
    "svc.list": object({ ...pageMembers, ...(metered && meteringMembers) }, "next_cursor", "truncated"),
    "svc.group": {
      type: "object",
      additionalProperties: { type: ["number", "string", "boolean", "null"] },
      description: "the grouped columns, and results: count, count_<column>, sum_<column>, …",
    },
    "svc.expanded": expandedSchema,
    ...(metered && { "svc.metering": object(meteringMembers) }),
    "svc.integer": integerSchema(),
    ...filterSchemas(),
    ...conditionSchemas(),
  };
}
