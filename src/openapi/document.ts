import { consoleEndpoints } from "../admin/console/endpoints.js";
import { documentedEndpoints } from "../admin/endpoints.js";
import { emailSchema } from "../auth/fields.js";
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
import { type JsonSchema, list, object, ref } from "../wire/schema.js";
import { someUser, tokens, tokenUser, user } from "../wire/users.js";
import { valueSchemas } from "./column-schema.js";
import { dataEndpoints, dataSchemas } from "./data-paths.js";
import { type DocumentedTable, documentedTables } from "./documented-table.js";
import { sharedExpandSchemas } from "./expand.js";
import { sharedPastSchemas } from "./history-paths.js";
import { nextPageSchema } from "./list-body.js";
import { namedOperationPaths } from "./named-operation-paths.js";
import { errorResponses, securitySchemes } from "./operation.js";
import { sharedParameters, tableParameters } from "./parameters.js";
import { documentedPaths } from "./paths.js";
import { syncPaths, syncSchemas } from "./sync-paths.js";
import { tablePaths, tableSchemas } from "./table-paths.js";
import { UniqueNames } from "./unique-names.js";
import { writesPaths, writesSchemas } from "./writes-paths.js";

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
 * Makes the OpenAPI 3.1 document of all endpoints (`docs/reference/http.md#openapi`). It yields after the part of each
 * table. The names of schemas that are the same for every project begin with `svc.`.
 */
export function* documentInTurns(project: DocumentedProject): Generator<void, JsonSchema> {
  const { schema, rules, operationRules, version, catalog, config, baseUrl } = project;
  const metered = isMetered(config);
  const { cookie, console, ...others } = securitySchemes;
  const { cookie_mode: cookies } = config.auth;
  const sharedBy = (tables: readonly DocumentedTable[]) => sharedSchemas(tables, metered, hasTokensInBody(config));
  const tables = servedTables(project);
  const unnamed = tables.map((table) => ({ ...table, model: "", filters: new Map<string, string>() }));
  const served = documentedTables(tables, Object.keys(sharedBy(unnamed)));
  const shared = sharedBy(served);
  const fixed = {
    ...syncPaths(served, cookies),
    ...writesPaths(served, cookies),
    ...documentedPaths("auth", authEndpoints, config),
    ...documentedPaths("admin", documentedEndpoints, config),
    ...(config.console.enabled && documentedPaths("console", consoleEndpoints, config)),
    ...documentedPaths("data", dataEndpoints, config),
  };
  const ids = new UniqueNames(operationsIn(fixed).map(({ operationId }) => operationId));
  const paths: Record<string, JsonSchema[string]> = {};
  const schemas: Record<string, JsonSchema[string]> = {};
  const parameters: Record<string, JsonSchema[string]> = {};
  for (const table of served) {
    const its = rules.get(table.name)!;
    Object.assign(paths, withUniqueIds(tablePaths(table, its, served, cookies), ids));
    Object.assign(schemas, tableSchemas(table, its, served, catalog?.tables.get(table.name), metered));
    Object.assign(parameters, tableParameters(table));
    yield;
  }
  const named = namedOperationPaths(schema.operations.values(), operationRules, { metered, cookies });
  return {
    openapi: "3.1.0",
    info: { title: "svc", version: String(version), description },
    servers: [{ url: baseUrl }],
    paths: Object.assign(paths, withUniqueIds(named, ids), fixed),
    components: {
      schemas: Object.assign(schemas, shared),
      parameters: Object.assign(parameters, sharedParameters()),
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

interface OperationWithId {
  readonly operationId: string;
}

function operationsIn(paths: JsonSchema): OperationWithId[] {
  return Object.values(paths).flatMap((path) => Object.values(path as object).filter(isOperation));
}

/** A path also has members that are no operation, such as its parameters. */
function isOperation(member: object): member is OperationWithId {
  return "operationId" in member;
}

/** The same paths. An operation whose id is taken gets another one. */
function withUniqueIds(paths: JsonSchema, ids: UniqueNames): JsonSchema {
  const withId = (member: object) =>
    isOperation(member) ? { ...member, operationId: ids.take(member.operationId) } : member;
  return mapValues(paths, (path) => mapValues(path as JsonSchema, (member) => withId(member as object)));
}

function mapValues(object: JsonSchema, change: (value: unknown) => unknown): JsonSchema {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

const description =
  "Filters of lists come in groups, too: filter[$or][0][<column>][<operator>], filter[$and][0][…] and filter[$not][…], up to 5 in one another.";

/** The schemas that are not those of one table. */
function sharedSchemas(tables: readonly DocumentedTable[], metered: boolean, tokensInBody: boolean): JsonSchema {
  return {
    "svc.email": emailSchema,
    "svc.user": user,
    "svc.someUser": someUser,
    "svc.tokenUser": tokenUser,
    "svc.tokens": tokens(tokensInBody),
    "svc.systemList": systemListMeta,
    "svc.list": object({ ...pageMembers, ...(metered && meteringMembers) }, "next_cursor", "truncated"),
    "svc.group": {
      type: "object",
      additionalProperties: { type: ["number", "string", "boolean", "null"] },
      description: "the grouped columns, and results: count, count_<column>, sum_<column>, …",
    },
    "svc.groups": object({ data: list(ref("svc.group")), meta: ref("svc.list") }),
    "svc.nextPage": nextPageSchema,
    ...(metered && { "svc.metering": object(meteringMembers) }),
    ...sharedExpandSchemas,
    ...sharedPastSchemas(metered),
    ...dataSchemas(metered),
    ...valueSchemas(),
    ...syncSchemas(tables, metered),
    ...writesSchemas(tables, metered),
  };
}
