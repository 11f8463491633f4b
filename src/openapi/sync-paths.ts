import type { Table } from "../project/model.js";
import { meteringMembers } from "../wire/metering.js";
import { flag, type JsonSchema, list, nullOr, object, openObject, ref, text } from "../wire/schema.js";
import { jsonContent, type OperationSource, operation } from "./operation.js";

/** The OpenAPI paths of docs/sync.md. None if no table keeps history. */
export function syncPaths(
  tables: readonly Table[],
  { metered, cookies }: { readonly metered: boolean; readonly cookies: boolean },
): JsonSchema {
  const callers = ["accessToken", "cookie", "apiKey", "anybody"] as const;
  const followed = tables.filter(({ historyDays }) => historyDays !== null);
  if (followed.length === 0) return {};
  const terms = followed.map(({ name }): [string, JsonSchema] => [
    name,
    object(
      { where: { type: "object" }, filter: ref(`${name}.filter`), select: list(text) },
      "where",
      "filter",
      "select",
    ),
  ]);
  const asked = (more: Readonly<Record<string, JsonSchema>>, ...optional: string[]) =>
    object(
      {
        tables: object(Object.fromEntries(terms), ...followed.map(({ name }) => name)),
        checkpoint: nullOr(text),
        limit: { type: "integer", minimum: 1, maximum: 1000, default: 500 },
        ...more,
      },
      "checkpoint",
      "limit",
      ...optional,
    );
  const change = object(
    {
      table: { enum: followed.map(({ name }) => name) },
      op: { enum: ["insert", "update", "remove"] },
      key: openObject({}),
      row: { anyOf: followed.map(({ name }) => ref(`${name}.part`)) },
    },
    "row",
  );
  const answer = object(
    {
      checkpoint: text,
      more: flag,
      reset: nullOr({ enum: ["retention", "restore", "rules", "identity", "budget"] }),
      changes: list(change),
      clients: { type: "object", additionalProperties: { type: "integer" } },
    },
    "clients",
  );
  const pull = operation(
    {
      id: "pull",
      tag: "sync",
      summary: "Tells what has changed since a checkpoint",
      callers,
      body: jsonContent(asked({ wait_ms: { type: "integer", minimum: 0, maximum: 25_000, default: 0 } }, "wait_ms")),
      answers: { 200: object({ data: answer, meta: object(metered ? meteringMembers : {}) }) },
      errors: [400, 401, 403, 404, 413, 415, 429, 500, 503],
    },
    cookies,
  );
  const lastId = { name: "Last-Event-ID", in: "header", schema: text };
  const stream = (verb: string, more: Pick<OperationSource, "parameters"> & Partial<Pick<OperationSource, "body">>) =>
    operation(
      {
        id: `${verb}_live`,
        tag: "sync",
        summary: "Tells what changes, as server-sent events",
        callers,
        ...more,
        answers: { 200: "text/event-stream" },
        errors: [400, 401, 403, 404, 413, 415, 429, 500, 503],
      },
      cookies,
    );
  const live = asked({ from: nullOr({ const: "now" }) }, "from");
  const query = { name: "q", in: "query", required: true, content: jsonContent(live) };
  return {
    "/api/_svc/pull": { post: pull },
    "/api/_svc/live": {
      get: stream("get", { parameters: [query, lastId] }),
      post: stream("post", { parameters: [lastId], body: jsonContent(live) }),
    },
  };
}
