import { flag, type JsonSchema, jsonText, list, nullOr, object, recordOf, ref, text } from "../wire/schema.js";
import { type DocumentedTable, refTo } from "./documented-table.js";
import { errorObject, jsonContent, type OperationSource, operation } from "./operation.js";
import { sharedParameter } from "./parameters.js";

const isFollowed = ({ historyDays }: DocumentedTable): boolean => historyDays !== null;

/** The schemas of docs/sync.md. */
export function syncSchemas(tables: readonly DocumentedTable[], metered: boolean): JsonSchema {
  const followed = tables.filter(isFollowed);
  if (followed.length === 0) return {};
  const asked = (more: Readonly<Record<string, JsonSchema>>, ...optional: string[]) =>
    object(
      {
        tables: ref("svc.followed"),
        checkpoint: nullOr(text),
        limit: { type: "integer", minimum: 1, maximum: 1000, default: 500 },
        ...more,
      },
      "checkpoint",
      "limit",
      ...optional,
    );
  const changes = object(
    {
      checkpoint: text,
      more: flag,
      reset: nullOr({ enum: ["retention", "restore", "rules", "identity", "budget"] }),
      changes: list(ref("svc.change")),
      fresh: list(text),
      refused: recordOf(errorObject),
      clients: recordOf({ type: "integer" }),
    },
    "fresh",
    "refused",
    "clients",
  );
  return {
    "svc.followed": { ...recordOf(ref("svc.member")), minProperties: 1, maxProperties: 40 },
    "svc.member": { anyOf: followed.map((table) => refTo(table, ".follow")) },
    "svc.pull": asked({ wait_ms: { type: "integer", minimum: 0, maximum: 25_000, default: 0 } }, "wait_ms"),
    "svc.live": asked({ from: nullOr({ const: "now" }) }, "from"),
    "svc.change": object(
      {
        table: text,
        op: { enum: ["insert", "update", "remove"] },
        key: ref("svc.row"),
        row: { anyOf: followed.map((table) => refTo(table, ".part")) },
      },
      "row",
    ),
    "svc.changes": changes,
    "svc.pulled": object({ data: ref("svc.changes"), meta: metered ? ref("svc.metering") : object({}) }),
  };
}

/** The OpenAPI paths of docs/sync.md. None if no table keeps history. */
export function syncPaths(tables: readonly DocumentedTable[], cookies: boolean): JsonSchema {
  const callers = ["accessToken", "cookie", "apiKey", "anybody"] as const;
  if (!tables.some(isFollowed)) return {};
  const pull = operation(
    {
      id: "pull",
      tag: "sync",
      summary: "Tells what has changed since a checkpoint",
      callers,
      body: jsonContent(ref("svc.pull")),
      answers: { 200: ref("svc.pulled") },
      errors: [400, 401, 403, 404, 413, 415, 429, 500, 503],
    },
    cookies,
  );
  const lastId = sharedParameter("lastEventId");
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
  const live = ref("svc.live");
  const query = { name: "q", in: "query", required: true, schema: jsonText(live) };
  return {
    "/api/_svc/pull": { post: pull },
    "/api/_svc/live": {
      get: stream("get", { parameters: [query, lastId] }),
      post: stream("post", { parameters: [lastId], body: jsonContent(live) }),
    },
  };
}
