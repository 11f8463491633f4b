import { schemaVersion } from "../auth/store/checks.js";
import { isRefusal, type Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import { ask } from "../platform/query.js";
import type { LiveOperation } from "../schema/live-project.js";
import { type ListedOperation, listedOperation } from "../wire/named-operations.js";
import { data, list } from "../wire/schema.js";
import { type AdminEndpoint, plainErrors, withConsole } from "./endpoint.js";
import type { AdminRequest } from "./services.js";

/**
 * GET /admin/api/operations: lists the operations (statements of SQL that callers run by a name) of the schema in force
 * (docs/reference/operations.md).
 */
export const getOperationsEndpoint: AdminEndpoint = {
  method: "GET",
  path: "/admin/api/operations",
  summary: "The operations of the schema in force",
  callers: withConsole,
  answers: { 200: data(list(listedOperation)) },
  errors: plainErrors,
  needs: "session",
  handle: getOperations,
};

async function getOperations({ services }: AdminRequest): Promise<Response | Refusal> {
  const { platform, projects } = services;
  const project = await projects.current(await ask(platform.database, schemaVersion()));
  if (isRefusal(project)) return project;
  return json({ data: [...project.operations.values()].map(shown) });
}

function shown({ operation, proof }: LiveOperation): ListedOperation {
  const { name, params, allow, steps } = operation;
  const returning = steps.find(({ returns }) => returns !== null);
  return {
    name,
    params: [...params.values()].map(({ name: param, type, nullable, check, default: value }) => ({
      name: param,
      type,
      nullable,
      required: value === undefined,
      check,
    })),
    allow,
    reads_only: steps.every(({ statement }) => statement.kind === "select"),
    returns: returning?.returns ?? "none",
    columns: (returning?.columns ?? []).map(({ name: column, type }) => ({ name: column, type })),
    steps: steps.map(({ statement }) => statement.sql),
    problems: proof.problems.map(({ message }) => message),
  };
}
