import type { Table } from "../project/model.js";
import type { JsonSchema } from "./column-schema.js";
import {
  flag,
  jsonContent,
  list,
  meteringMembers,
  nullOr,
  object,
  openObject,
  operation,
  ref,
  text,
} from "./operation.js";

/** The paths that keep a client's copy of rows up to date (docs/sync.md). None where no table keeps history. */
export function syncPaths(
  tables: readonly Table[],
  { metered, cookies }: { readonly metered: boolean; readonly cookies: boolean },
): JsonSchema {
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
  const change = object(
    {
      table: { enum: followed.map(({ name }) => name) },
      op: { enum: ["insert", "update", "remove"] },
      key: openObject({}),
      row: { anyOf: followed.map(({ name }) => ref(`${name}.part`)) },
    },
    "row",
  );
  const answer = object({
    checkpoint: text,
    more: flag,
    reset: nullOr({ enum: ["retention", "restore", "rules", "identity", "budget"] }),
    changes: list(change),
  });
  const pull = operation(
    {
      id: "pull",
      tag: "sync",
      summary: "Tells what has changed since a checkpoint",
      callers: ["accessToken", "cookie", "apiKey", "anybody"],
      body: jsonContent(
        object(
          {
            tables: object(Object.fromEntries(terms), ...followed.map(({ name }) => name)),
            checkpoint: nullOr(text),
            limit: { type: "integer", minimum: 1, maximum: 1000, default: 500 },
          },
          "checkpoint",
          "limit",
        ),
      ),
      answers: { 200: object({ data: answer, meta: object(metered ? meteringMembers : {}) }) },
      errors: [400, 401, 403, 404, 413, 415, 500, 503],
    },
    cookies,
  );
  return { "/api/_svc/pull": { post: pull } };
}
